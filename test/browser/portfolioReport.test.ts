// The report of a portfolio as a person opens it: plots, the choice of an instrument, and trades of each.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildArtifact } from '../../src/engine/artifacts.ts';
import { createUniverse } from '../../src/engine/bars/market.ts';
import { pageAssets } from '../../src/engine/pool/pageAssets.ts';
import type { BacktestTask } from '../../src/engine/task.ts';
import { randomSnapshot } from '../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../support/builders.ts';
import { canBrowse, CHROMIUM, FLAGS, openPage, SCREENS, type Screen } from '../support/chromium.ts';

const SYMBOLS = ['AAA', 'BBB', 'CCC', 'DDD'];
const UNIVERSE = createUniverse(
  SYMBOLS.map((symbol, seed) => randomSnapshot({ symbol, seed: seed + 1, count: 900 - 100 * seed })),
  SYMBOLS,
  '1h',
);
const TASK: BacktestTask = {
  id: 'portfolio',
  strategyAst: astOf({
    entry: entry(compare(market(), 'gt', sma(20)), {
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 30 } },
    }),
    exits: [exit(compare(market(), 'lt', sma(20)))],
  }),
  settings: {},
  strategyHash: '',
  config: {
    timeframe: '1h',
    instruments: SYMBOLS.map((symbol) => ({ symbol })),
    portfolio: { slots: 2 },
    initialBalance: 10_000,
  },
};

describe.runIf(canBrowse)('the report of a portfolio', () => {
  let folder: string;
  let browser: Browser;
  beforeAll(async () => {
    expect(CHROMIUM, 'Chromium is not installed. Run apt-get install chromium.').toBeDefined();
    folder = await mkdtemp(join(tmpdir(), 'candlepool-portfolio-'));
    const pieces: Uint8Array[] = [];
    const sources = { pageAssets, storedResult: null };
    const request = { name: 'report', format: 'html' } as const;
    const made = buildArtifact(TASK, UNIVERSE, null, request, sources, (piece) => pieces.push(piece));
    if (!made.ok) throw new Error(made.error.message);
    await writeFile(join(folder, 'report.html'), Buffer.concat(pieces));
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(Object.keys(SCREENS) as Screen[])('fits %s, with every plot drawn and no request made', async (screen) => {
    const { page, faults } = await openPage(browser, screen, join(folder, 'report.html'));
    const { width } = SCREENS[screen].viewport;
    expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([width, width]);
    for (const id of ['weights', 'exposure', 'turnover']) {
      const plot = page.locator(`#${id} svg.plot`).first();
      expect((await plot.boundingBox())!.width).toBeGreaterThan(250);
      expect(await plot.getAttribute('aria-label')).not.toBe('');
    }
    expect(await page.locator('#contribution li').count()).toBe(4);
    expect(await page.locator('#instruments tbody tr').count()).toBe(4);
    expect(await page.locator('#ranked-out tbody tr').count()).toBeGreaterThan(0);
    // A large contribution must not jut out of its card, nor move the bars of the others, nor tear a symbol apart.
    const contributions = await page.evaluate(`(() => {
      const [first] = document.querySelectorAll('#contribution b');
      const [name] = document.querySelectorAll('#contribution span');
      const line = name.getBoundingClientRect().height;
      name.textContent = 'SYN-CONSUMER-FUND';
      first.textContent = '+131,317.18\u00a0%';
      const card = document.querySelector('#contribution');
      const inner = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight);
      const rights = [...card.querySelectorAll('li > *')].map((each) => each.getBoundingClientRect().right);
      const numbers = [...card.querySelectorAll('b')];
      const isCut = numbers.some((each) => each.scrollWidth > each.clientWidth + 1);
      const lefts = new Set(numbers.map((each) => each.getBoundingClientRect().left)).size;
      const lines = Math.round(name.getBoundingClientRect().height / line);
      return { isOver: Math.max(...rights) > inner, isCut, lines, lefts };
    })()`);
    expect(contributions).toEqual({
      isOver: false,
      isCut: false,
      lines: expect.toSatisfy((count: number) => count <= 2),
      lefts: 1,
    });
    const cards = await page.evaluate(`[...document.querySelectorAll('.card')]
      .filter((card) => card.scrollWidth > card.clientWidth).map(({ id, textContent }) => id || textContent)`);
    expect(cards).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('shows the prices of the chosen instrument, and those of the trade that is clicked', async () => {
    const { page, faults } = await openPage(browser, 'a desktop', join(folder, 'report.html'));
    const closeOf = async (): Promise<string> =>
      (await page.locator('#legend span', { hasText: /Close|no bar/ }).textContent())!;
    const first = await closeOf();
    await page.locator('#instrument').selectOption({ label: 'BBB' });
    expect(await closeOf()).not.toBe(first);
    expect(await closeOf()).toContain('no bar');
    const row = page.locator('tr[data-trade]', { has: page.locator('td', { hasText: /^CCC$/ }) }).first();
    await row.click();
    expect(await page.locator('#instrument').inputValue()).toBe('2');
    expect(await row.getAttribute('class')).toBe('chosen');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
