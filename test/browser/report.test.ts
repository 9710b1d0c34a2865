// The report as a person opens it: in Chromium, with every outside request refused and counted.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { runCross } from '../support/crossRun.ts';

/** Debian's package; .ci/run installs it. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const isCi = process.env.CI === 'true';

it.runIf(CHROMIUM !== undefined || isCi)(
  'the report draws its charts, asks nothing of the network, and runs no script of a strategy',
  async () => {
    expect(CHROMIUM, 'no Chromium: apt-get install chromium').toBeDefined();
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-report-'));
    const file = join(folder, 'report.html');
    const run = await runCross();
    await writeFile(file, run.artifact({ name: 'report', format: 'html' }));
    const browser = await chromium.launch({
      executablePath: CHROMIUM!,
      args: [...FLAGS, '--disable-component-update', '--disable-sync'],
    });
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('request', (request) => request.url().startsWith('file:') || faults.push(request.url()));
      await page.goto(pathToFileURL(file).href);
      await page.waitForSelector('body[data-ready=yes]', { timeout: 20_000 });
      expect(faults).toEqual([]);
      expect(await page.locator('body[data-broken]').count()).toBe(0);
      expect(await page.locator('#price canvas').count()).toBeGreaterThan(0);
      expect(await page.locator('#months td').count()).toBeGreaterThan(12);
      const { totalPositions } = run.outcome.summaryJson as { totalPositions: number };
      expect(await page.locator('#headline').textContent()).toContain(`${totalPositions} positions`);
    } finally {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
