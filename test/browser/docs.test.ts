// The page /docs/api as a person on another machine opens it: plain http, by a name that is not localhost.
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { createApiApp } from '../support/apiApp.ts';
import { canBrowse, CHROMIUM, FLAGS } from '../support/chromium.ts';

it.runIf(canBrowse)('shows every operation and real examples on /docs/api to another machine', async () => {
  expect(CHROMIUM, 'no Chromium: apt-get install chromium').toBeDefined();
  await using api = await createApiApp();
  await api.app.listen({ host: '0.0.0.0', port: 0 });
  const { port } = api.app.server.address() as AddressInfo;
  const browser = await chromium.launch({
    executablePath: CHROMIUM!,
    args: [...FLAGS, '--host-resolver-rules=MAP candlepool.example 127.0.0.1'],
  });
  try {
    const page = await browser.newPage();
    const outside: string[] = [];
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol !== 'data:' && host !== `candlepool.example:${port}`) outside.push(request.url());
      if (protocol === 'https:') outside.push(request.url());
    });
    const missing: string[] = [];
    page.on('response', (response) => response.status() >= 400 && missing.push(response.url()));
    const refused: string[] = [];
    page.on('console', (message) => message.text().includes('Content Security Policy') && refused.push(message.text()));
    await page.goto(`http://candlepool.example:${port}/docs/api/`);
    await page.waitForSelector('.opblock', { timeout: 120_000 });
    const { paths } = api.app.swagger() as { paths: Record<string, object> };
    const operations = Object.values(paths).reduce((count, methods) => count + Object.keys(methods).length, 0);
    expect(await page.locator('.opblock').count()).toBe(operations);
    expect(await page.title()).toBe('API reference · Candlepool');
    expect(
      await page.getByRole('link', { name: 'Guides', exact: true }).getAttribute('href', { timeout: 9_000 }),
    ).toMatch(/\/docs$/);
    const run = page.locator('#operations-Backtests-run_backtest');
    await run.locator('.opblock-summary').click();
    const example = await run.locator('.opblock-section-request-body pre').first().textContent();
    expect(JSON.parse(example!)).toMatchObject({
      config: { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, range: { start: '2009-01-01' } },
    });
    await page.goto(`http://candlepool.example:${port}/docs`, { waitUntil: 'networkidle' });
    expect(missing).toEqual([]);
    expect(outside).toEqual([]);
    expect(refused).toEqual([]);
  } finally {
    await browser.close();
  }
});

it.runIf(canBrowse)('is worked by keyboard: the first Tab skips the links to the other guides', async () => {
  await using api = await createApiApp();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.app.server.address() as AddressInfo;
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`http://127.0.0.1:${port}/docs/problems.md`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().top')).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    // A table that is wider than the screen takes the focus, so that the arrows scroll it.
    const focused = await page.evaluate(`[document.activeElement.tagName, !!document.activeElement.closest('main')]`);
    expect(focused).toEqual(['TABLE', true]);
  } finally {
    await browser.close();
  }
});
