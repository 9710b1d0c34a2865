// The report of a sweep as a person opens it: in Chromium, on a desktop and a phone, light and dark, with every outside
// request counted.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../src/engine/config.ts';
import { robustnessReport, sweepPageAssets } from '../../src/engine/pool/pageAssets.ts';
import { sweepPage } from '../../src/engine/sweep/page/sweepPage.ts';
import { rankingRows } from '../../src/engine/sweep/rankingRows.ts';
import type { SweepResult } from '../../src/engine/sweep/sweepResult.ts';
import { canBrowse, CHROMIUM, FLAGS, openPage, SCREENS, type Screen } from '../support/chromium.ts';
import { checked, robustnessContext } from '../support/robustness.ts';
import { portfolioContext, ROTATION, SYMBOLS } from '../support/portfolioSweeps.ts';
import { compiled, CONFIG, CROSSING, finished, marketOf, rowsOf, sweepContextFor } from '../support/sweeps.ts';

const MAX_BARS = '/strategyAst/strategy/risk/timeStop/maxBars';

describe.runIf(canBrowse)('the report of a sweep', () => {
  let folder: string;
  let browser: Browser;
  let result: SweepResult;
  beforeAll(async () => {
    expect(CHROMIUM, 'Chromium is not installed. Run apt-get install chromium.').toBeDefined();
    folder = await mkdtemp(join(tmpdir(), 'candlepool-sweep-report-'));
    const given = {
      space: {
        fast: { min: 2, max: 12, step: 2 },
        slow: { min: 20, max: 60, step: 10 },
        [MAX_BARS]: { values: [30, 60] },
      },
      method: 'grid',
      walkForward: { kind: 'rolling', folds: 3 },
    };
    const context = sweepContextFor(
      compiled(CROSSING),
      given,
      marketOf(700, 5, (row, noise) => 0.004 * Math.sin(row / 9) + 0.006 * noise),
    );
    const rows = rowsOf(context);
    result = finished(context, rows);
    // A title that would be markup if it were not written as text.
    const page = sweepPage(
      context,
      rankingRows(context, rows),
      result,
      '<img src=x onerror=alert(1)>',
      sweepPageAssets(),
    );
    await writeFile(join(folder, 'report.html'), page);
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (screen: Screen): ReturnType<typeof openPage> => openPage(browser, screen, join(folder, 'report.html'));

  it.each(Object.keys(SCREENS) as Screen[])(
    'begins with the verdict, draws everything and fits the width of %s, without network requests',
    async (screen) => {
      const { page, faults } = await open(screen);
      expect(await page.locator('#verdict p').first().textContent()).toBe(result.verdict.text);
      const tops = (await page.evaluate(
        `['verdict', 'walkForward', 'top', 'heatmap', 'marginals', 'cloud', 'fan', 'overfitting']
          .map((id) => document.getElementById(id).getBoundingClientRect().top)`,
      )) as number[];
      expect(tops).toEqual(tops.toSorted((a, b) => a - b));
      expect(await page.locator('#top tr').count()).toBe(1 + result.top.length);
      expect(await page.locator('#heatmap svg').last().locator('rect').count()).toBeGreaterThanOrEqual(10);
      expect(await page.locator('#heatmap p').textContent()).toMatch(
        /^Mean Sharpe ratio by color, from worst to best\. Solid frame: the best variant\./,
      );
      expect(await page.locator('#heatmap .outline.best').count()).toBe(1);
      expect(await page.locator('.facts dt').allTextContents()).toEqual([
        'Market', 'Period', 'Costs', 'Fills', 'Capital',
      ]); // prettier-ignore
      const [heads, cells] = await Promise.all(
        ['#top th', '#top tr:nth-child(2) td'].map((cell) => page.locator(cell).allTextContents()),
      );
      expect(heads).toEqual(expect.arrayContaining(['Rank', 'fast', '…/timeStop/maxBars']));
      for (const key of ['Total return', 'Won'])
        expect([key, cells[heads.indexOf(key)]]).toEqual([key, expect.stringMatching(/^−?\d+\.\d\d\u00a0%$/)]);
      expect(cells[heads.indexOf('Deepest drawdown')]).toMatch(/^−\d+\.\d\d\u00a0%$/);
      expect(await page.locator('#marginals svg').count()).toBe(3);
      expect(await page.locator('#cloud circle').count()).toBe(60);
      expect(await page.locator('#fan polyline').count()).toBe(1 + result.curves.length);
      expect(await page.locator('#walkForward tr').count()).toBe(4);
      expect(await page.locator('#walk polyline').count()).toBe(1);
      expect(await page.locator('#walk .fold').count()).toBe(3);
      const { width } = SCREENS[screen].viewport;
      expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([width, width]);
      // As large on a phone as on a desktop: a drawing that is scaled down would have letters of a few pixels.
      const letters = (await page.evaluate(
        `[...document.querySelectorAll('svg text')].map((text) => text.getBoundingClientRect().height)`,
      )) as number[];
      expect(letters.length).toBeGreaterThan(20);
      expect(Math.min(...letters)).toBeGreaterThan(9);
      const inside = (await page.evaluate(
        `[...document.querySelectorAll('#heatmap text, #cloud text, #fan text, #walk text')].map((text) => {
          const [own, card] = [text, text.closest('section')].map((node) => node.getBoundingClientRect());
          return own.left >= card.left - 1 && own.right <= card.right + 1;
        })`,
      )) as boolean[];
      expect(inside.every(Boolean)).toBe(true);
      expect(faults).toEqual([]);
    },
  );

  it.each(['a desktop', 'a phone'] as const)(
    'names universes beside its axes by their places on %s',
    async (screen) => {
      const values = [SYMBOLS.slice(0, 3), SYMBOLS, SYMBOLS.slice(1, 5)];
      const space = { top: { values: [1, 2, 3] }, instruments: { values } };
      const context = portfolioContext(ROTATION, { space, method: 'grid' });
      const rows = rowsOf(context);
      const made = sweepPage(context, rankingRows(context, rows), finished(context, rows), 'A', sweepPageAssets());
      await writeFile(join(folder, 'universes.html'), made);
      const { page, faults } = await openPage(browser, screen, join(folder, 'universes.html'));
      expect(await page.locator('#heatmap text', { hasText: /^[123]$/ }).count()).toBe(6);
      expect(await page.locator('#fan p').textContent()).toMatch(/Gray: equal money in each\.$/);
      const ends = await page.locator('#marginals svg').last().locator('text').allTextContents();
      expect(ends.slice(-2)).toEqual(['1', '3']);
      expect(faults).toEqual([]);
    },
  );

  it.each(['a desktop', 'a phone in the dark'] as const)('shows what robustness analyses did on %s', async (screen) => {
    const market = marketOf(500, 5, (row, noise) => 0.004 * Math.sin(row / 9) + 0.006 * noise);
    const check = checked(robustnessContext(compiled(CROSSING).strategyAst, market, { spec: { samples: 10 } }));
    const heading = { title: '<b>', version: null, backtestId: null, config: resolveConfig(CONFIG) };
    await writeFile(join(folder, 'robustness.html'), robustnessReport(check, heading));
    const { page, faults } = await openPage(browser, screen, join(folder, 'robustness.html'));
    expect(await page.locator('#distributions svg.plot').count()).toBe(3);
    const { width } = SCREENS[screen].viewport;
    expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([width, width]);
    const cut = await page.evaluate(`[...document.querySelectorAll('svg.plot text')]
      .filter((text) => {
        const [own, card] = [text, text.closest('section')].map((node) => node.getBoundingClientRect());
        return own.left < card.left || own.right > card.right || own.height < 9;
      }).map((text) => text.textContent)`);
    expect(cut).toEqual([]);
    await page.locator('#runs th', { hasText: 'Return' }).click();
    const returns = (await page.locator('#runs tbody td:nth-child(3)').allTextContents()).map((text) =>
      text.trim() === '–' ? -Infinity : Number(text.trim().replace('−', '-')),
    );
    expect(returns).toEqual(returns.toSorted((a, b) => b - a));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('opens a variant by a click or a key, with the settings that its row has', async () => {
    const { page, faults } = await open('a desktop');
    const row = page.locator('#top tbody tr').nth(2);
    const { params, variant } = result.top[2];
    const settings = { params: { fast: params.fast, slow: params.slow }, overrides: { [MAX_BARS]: params[MAX_BARS] } };
    await row.click();
    expect(await page.locator('#variant-title').textContent()).toBe(`Variant ${variant}`);
    expect(JSON.parse((await page.locator('#variant-settings').textContent())!)).toEqual(settings);
    await page.keyboard.press('Escape');
    await page.locator('#top tbody tr').first().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    expect(await page.locator('#variant-title').textContent()).toBe(`Variant ${result.top.at(-1)!.variant}`);
    await page.locator('#variant-close').click();
    await page.locator('#cloud circle').last().click();
    expect(await page.locator('#variant[open]').count()).toBe(1);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('draws the heatmap of any two parameters, and everything again when the window becomes narrower', async () => {
    const { page, faults } = await open('a desktop');
    const pairs = page.locator('#pairs select');
    expect(await pairs.locator('option').allTextContents()).toEqual([
      'fast and slow',
      'fast and …/timeStop/maxBars',
      'slow and …/timeStop/maxBars',
    ]);
    for (const [pair, cells] of [
      ['fast and slow', 30],
      ['fast and …/timeStop/maxBars', 12],
      ['slow and …/timeStop/maxBars', 10],
    ] as const) {
      // prettier-ignore
      await pairs.selectOption({ label: pair });
      expect(await page.locator('#heatmap svg').last().locator('rect:not(.outline)').count()).toBe(cells);
    }
    const widthOf = async (): Promise<number> => (await page.locator('#cloud svg').boundingBox())!.width;
    const wide = await widthOf();
    await page.setViewportSize({ width: 500, height: 800 });
    await expect.poll(() => page.locator('#cloud svg').getAttribute('viewBox')).not.toContain(String(Math.round(wide)));
    expect(await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([500, 500]);
    expect(faults).toEqual([]);
  });
});
