// The report as a person opens it: in Chromium, with every outside request refused and counted.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canBrowse, CHROMIUM, FLAGS, openPage, SCREENS, type Screen } from '../support/chromium.ts';
import { runCross, type CrossRun } from '../support/crossRun.ts';

describe.runIf(canBrowse)('the report', () => {
  let folder: string;
  let run: CrossRun;
  let browser: Browser;
  beforeAll(async () => {
    expect(CHROMIUM, 'Chromium is not installed. Run apt-get install chromium.').toBeDefined();
    folder = await mkdtemp(join(tmpdir(), 'candlepool-report-'));
    run = await runCross();
    await writeFile(join(folder, 'report.html'), run.artifact({ name: 'report', format: 'html' }));
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (screen: Screen): ReturnType<typeof openPage> => openPage(browser, screen, join(folder, 'report.html'));

  describe.each(Object.keys(SCREENS) as Screen[])('on %s', (screen) => {
    let opened: Awaited<ReturnType<typeof openPage>>;
    beforeAll(async () => {
      opened = await open(screen);
    });
    afterAll(() => opened?.page.context().close());

    it('draws its charts without network requests, and runs no script of a strategy', async () => {
      const { page, faults } = opened;
      expect(await page.locator('body[data-broken]').count()).toBe(0);
      expect(await page.locator('#chart canvas').count()).toBeGreaterThan(0);
      expect(await page.locator('#months td').count()).toBeGreaterThan(12);
      const { totalPositions } = run.outcome.summary;
      const positions = page.locator('#headline .card', { hasText: 'Positions' }).locator('strong');
      expect(await positions.textContent()).toBe(String(totalPositions));
      expect(faults).toEqual([]);
    });

    it('fits the width, with cards apart and text of high contrast', async () => {
      const { page } = opened;
      const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
      expect(widths).toEqual([SCREENS[screen].viewport.width, SCREENS[screen].viewport.width]);
      const boxes = (await page.evaluate(
        `[...document.querySelectorAll('section.card')].map((card) => card.getBoundingClientRect().toJSON())`,
      )) as readonly Record<Edge, number>[];
      expect(boxes.length).toBeGreaterThan(8);
      for (const [at, box] of boxes.entries())
        for (const other of boxes.slice(at + 1))
          expect(Math.max(gapOf(box, other, 'left', 'right'), gapOf(box, other, 'top', 'bottom'))).toBeGreaterThan(12);
      const colors = (await page.evaluate(
        `['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name])`,
      )) as string[];
      const [ink, ground] = colors.map((color) => luminance(color.match(/\d+/g)!.slice(0, 3).map(Number)));
      expect(ink > ground).toBe(SCREENS[screen].colorScheme === 'dark');
      // WCAG 2.2, level AAA.
      expect((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)).toBeGreaterThan(7);
      // The total of a year is in view, whatever is scrolled.
      const right = await page.evaluate(`document.querySelector('.heat td.total').getBoundingClientRect().right`);
      expect(right).toBeLessThan(SCREENS[screen].viewport.width);
      const cut = await page.evaluate(`[...document.querySelectorAll('svg.histogram text, svg.plot text')]
        .filter((text) => {
          const [own, card] = [text, text.closest('section')].map((node) => node.getBoundingClientRect());
          return own.left < card.left || own.right > card.right;
        }).map((text) => text.textContent)`);
      expect(cut).toEqual([]);
    });
  });

  it('is worked by keyboard: Tab passes the headings and one row of the trades, and the arrows go on', async () => {
    const { page, faults } = await open('a desktop');
    const focused = () => page.evaluate(`[document.activeElement.tagName, document.activeElement.dataset.trade ?? '']`);
    const rows = page.locator('tr[data-trade]');
    const tradeOf = (at: number) => rows.nth(at).getAttribute('data-trade');
    const heading = page.locator('table.trades th', { hasText: 'Profit' });
    await heading.focus();
    await page.keyboard.press('Enter');
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    await page.keyboard.press(' ');
    expect(await heading.getAttribute('aria-sort')).toBe('ascending');
    await page.locator('table.trades th').last().focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toEqual(['TR', expect.any(String)]);
    await page.keyboard.press('End');
    const last = (await rows.count()) - 1;
    expect(await focused()).toEqual(['TR', await tradeOf(last)]);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await page.locator('tr.chosen').getAttribute('data-trade')).toBe(await tradeOf(last - 1));
    expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid');
    // The next stop is a link below the table, not another of its rows.
    await page.keyboard.press('Tab');
    expect(await focused()).toEqual(['A', '']);
    expect(faults).toEqual([]);
  });

  it('gathers trades into counts where there is no room, and shows each when zoomed in', async () => {
    const { page, faults } = await open('a phone');
    const counts = () => page.evaluate('report.counts()') as Promise<number[]>;
    const gathered = await counts();
    const total = gathered.reduce((sum, size) => sum + size, 0);
    expect(gathered.length).toBeGreaterThan(3);
    expect(Math.min(...gathered)).toBeGreaterThan(1);
    expect(total).toBeGreaterThan(run.outcome.trades.length / 2);
    expect(total).toBeLessThanOrEqual(run.outcome.trades.length);
    await page.locator('tr[data-trade]').nth(3).click();
    await expect.poll(counts).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('begins with a linear scale, and remembers the choice of the reader', async () => {
    const { page, faults } = await open('a desktop');
    const log = page.locator('#log');
    expect(await log.isChecked()).toBe(false);
    await log.check();
    await page.reload();
    await page.waitForSelector('body[data-ready=yes]');
    expect(await log.isChecked()).toBe(true);
    await log.uncheck();
    await page.reload();
    await page.waitForSelector('body[data-ready=yes]');
    expect(await log.isChecked()).toBe(false);
    expect(faults).toEqual([]);
  });

  it('saves trades and equity as files of its own data', async () => {
    const { page, faults } = await open('a desktop');
    const saved = async (button: string): Promise<string[][]> => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()]);
      const text = await readFile(await download.path(), 'utf8');
      expect(download.suggestedFilename()).toMatch(/^SPX-1d-(trades|equity)\.csv$/);
      return text
        .trim()
        .split('\r\n')
        .map((line) => line.split(','));
    };
    const { trades } = run.outcome;
    const [head, ...rows] = await saved('#save-trades');
    expect(rows.map((row) => Number(row[head.indexOf('Profit USD')]))).toEqual(
      trades.map(({ pnl }) => Number(pnl.toFixed(2))),
    );
    const [names, ...marks] = await saved('#save-equity');
    expect(names).toEqual(['time', 'equity', 'benchmark', 'drawdown']);
    expect(Number(marks.at(-1)![1])).toBeCloseTo(run.outcome.summary.finalEquity, 3);
    expect(Math.min(...marks.map((row) => Number(row[3])))).toBeCloseTo(-run.outcome.summary.maxDrawdown, 8);
    expect(faults.filter((fault) => !fault.startsWith('blob:'))).toEqual([]);
  });

  it('shows a trade in the charts when its row is clicked, and sorts by a column', async () => {
    const { page, faults } = await open('a desktop');
    const legend = () => page.locator('#legend').textContent();
    expect(await legend()).toContain('Equity');
    await page.locator('#ranges button').first().waitFor();
    await page.locator('tr[data-trade]').nth(3).click();
    expect(await page.locator('tr.chosen').count()).toBe(1);
    expect(await page.locator('#ranges button[aria-pressed=true]').count()).toBe(0);
    const heading = page.locator('table.trades th', { hasText: 'Return' });
    await heading.click();
    const returns = (await page.locator('table.trades tbody tr td:nth-child(3)').allTextContents()).map((text) =>
      Number(text.trim().replace('−', '-')),
    );
    expect(returns.length).toBe(run.outcome.trades.length);
    expect(returns).toEqual(returns.toSorted((a, b) => b - a));
    expect(faults).toEqual([]);
  });
});

type Edge = 'left' | 'right' | 'top' | 'bottom';
/** Pixels between two boxes along one direction; negative where they overlap in it. */
const gapOf = (a: Readonly<Record<Edge, number>>, b: Readonly<Record<Edge, number>>, from: Edge, to: Edge): number =>
  Math.max(b[from] - a[to], a[from] - b[to]);

/** Relative luminance of an sRGB color (WCAG 2.2). */
function luminance(channels: readonly number[]): number {
  const [red, green, blue] = channels.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
