// The console in Chromium: every view on every screen, by keyboard alone, and against what goes wrong.
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revokeApiKey } from '../../src/db/apiKeys.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { canBrowse, CHROMIUM, FLAGS, SCREENS, type Screen } from '../support/chromium.ts';
import { createLiveApi, type LiveApi } from '../support/liveApi.ts';

/** Runs a script if it is ever taken for markup, and is longer than any screen. */
const HOSTILE = `<img src=x onerror="document.title='taken'">${'W'.repeat(150)}`;

describe.runIf(canBrowse)('the console', () => {
  let live: LiveApi;
  let browser: Browser;
  let origin: string;
  let resultId: string;
  let otherId: string;
  let strategyId: string;
  let sweepId: string;

  beforeAll(async () => {
    expect(CHROMIUM, 'Chromium is not installed. Run apt-get install chromium.').toBeDefined();
    live = await createLiveApi();
    await live.api.app.listen({ host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${(live.api.app.server.address() as AddressInfo).port}`;
    const { body } = await live.finalize();
    const renamed = await live.client.post('/strategies', { ...(await payloadOf(body)), name: HOSTILE });
    const path = `/strategies/${renamed.body.id}/versions/finalize`;
    const { body: version } = await live.client.post(path, { version: 1, ignoreWarnings: true });
    const queued = await live.client.post('/backtests', { strategyVersionId: version.id, config: SPX_CONFIG });
    resultId = (await live.client.get(`/backtests/${queued.body.id}?wait=60`)).body.id;
    strategyId = renamed.body.id;
    const shorter = { ...SPX_CONFIG, range: { start: '2005-01-01' }, initialBalance: 5_000 };
    const second = await live.client.post('/backtests', { strategyVersionId: body.id, config: shorter, name: HOSTILE });
    const lengths = { '/strategyAst/strategy/entry/trigger/left/args/length': { values: [20, 50] } };
    const space = { ...lengths, symbol: { values: ['SPX', 'AAPL'] } };
    const sweep = { strategyVersionId: body.id, config: SPX_CONFIG, space, method: 'grid', name: HOSTILE };
    sweepId = (await live.client.post('/sweeps', sweep)).body.id;
    await live.client.get(`/sweeps/${sweepId}?wait=60`);
    otherId = (await live.client.get(`/backtests/${second.body.id}?wait=60`)).body.id;
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
    await live?.[Symbol.asyncDispose]();
  });

  const payloadOf = async ({ strategyId }: { readonly strategyId: string }) => {
    const { body } = await live.client.get(`/strategies/${strategyId}/versions/1`);
    return { settings: {}, strategyAst: body.strategyAst };
  };

  /** Opens the console with a key. `faults` collects what it must never have. */
  async function open(screen: Screen, key: string, view = ''): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage(SCREENS[screen]);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin && !request.url().startsWith('blob:')) faults.push(request.url());
      if (request.url().includes('svc_live')) faults.push(`The key is part of ${request.url()}`);
    });
    await page.goto(`${origin}/console/#key=${key}`);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(page.url()).toBe(`${origin}/console/`);
    await page.getByRole('heading', { name: 'Running and waiting' }).waitFor();
    if (view !== '') await page.evaluate(`location.hash = '#/${view}'`);
    return { page, faults };
  }

  const VIEWS: readonly (readonly [name: string, view: () => string, shown: string])[] = [
    ['home', () => '', 'text=Latest results'],
    ['results', () => 'results', 'tr[data-at="0"]'],
    ['results in groups', () => 'results?group=strategy&where=totalPositions>=1', 'tr.group'],
    ['a result', () => `results/${resultId}`, '.chart canvas'],
    ['a report', () => `results/${resultId}?tab=report`, 'iframe.report'],
    ['a comparison', () => `compare?ids=${resultId},${otherId}`, '.matrix'],
    ['strategies', () => 'strategies', '.rows li'],
    ['a strategy', () => `strategies/${strategyId}`, 'text=Queue the backtest'],
    ['sweeps', () => 'sweeps', '.rows li'],
    ['a sweep', () => `sweeps/${sweepId}`, '.heat td.best'],
    ['data', () => 'data', 'text=Add files'],
    ['an editor', () => `strategies/${strategyId}?version=1&do=edit`, '.cm-content'],
  ];

  describe.each(Object.keys(SCREENS) as Screen[])('on %s', (screen) => {
    it('shows every view within the width, without faults, and accessible', async () => {
      const { page, faults } = await open(screen, live.client.apiKey);
      for (const [name, view, shown] of VIEWS) {
        await page.evaluate(`location.hash = '#/${view()}'`);
        await page.locator(shown).first().waitFor();
        const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
        expect([name, widths]).toEqual([name, [SCREENS[screen].viewport.width, SCREENS[screen].viewport.width]]);
        expect([name, await seriousFindings(page)]).toEqual([name, []]);
      }
      expect(await page.title()).not.toContain('taken');
      expect(faults).toEqual([]);
      await page.close();
    });
  });

  it('shows a report whole, in a frame that cannot reach the key', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey, `results/${resultId}?tab=report`);
    const frame = page.frameLocator('iframe.report');
    await frame.locator('body[data-ready=yes]').waitFor();
    const inner = page.frames().find((each) => each.url().endsWith('/console/report'))!;
    expect(await inner.evaluate('origin')).toBe('null');
    const reach = `fetch('${origin}/public/v1/workspace').then(() => 'reached', () => 'stopped')`;
    expect(await inner.evaluate(reach)).toBe('stopped');
    await page.waitForFunction(`document.querySelector('iframe.report').offsetHeight > 1500`);
    expect(faults.filter((fault) => !fault.includes('/public/v1/workspace'))).toEqual([]);
    await page.close();
  });

  it('is worked by keyboard: skips to the content, walks the rows, opens one, and Escape leads back', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey);
    const focused = () => page.evaluate(`document.activeElement.textContent.trim().slice(0, 30)`);
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.getByRole('link', { name: 'Results', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.locator('tr[data-at="0"]').waitFor();
    const headings = page.locator('button.heading');
    await headings.last().focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('ascending');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.dataset.at')).toBe('0');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press(' ');
    expect(await page.locator('tr.chosen').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('Escape');
    await page.locator('tr[data-at="0"]').waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  it('validates while one types, leads to the place of an issue, repairs it by a click, and saves', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey, `strategies/${strategyId}?do=edit`);
    await page.getByRole('status').filter({ hasText: /^Valid$/ }).waitFor(); // prettier-ignore
    const text = (await page.evaluate(
      `JSON.stringify({ settings: {}, strategyAst: ${JSON.stringify(EXAMPLE_STRATEGY_AST)} }, null, 2)`,
    )) as string;
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text.replace('"length"', '"lenght"'));
    await page.getByText('has no argument "lenght"').first().waitFor();
    await page.getByRole('button', { name: /args\/lenght/ }).click();
    // The value of the member that is not known.
    expect(await page.evaluate('getSelection().toString()')).toBe('50');
    await page.getByRole('button', { name: 'Apply the repair' }).first().click();
    await page.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('Version 2', { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  it('leads from a variant of a sweep to its backtest', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey, `sweeps/${sweepId}`);
    await page.locator('.heat td.best').click();
    await page.getByText('1 of 4 variants').waitFor();
    await page.locator('tr[data-at="0"]').click();
    await page.getByText('The variant is queued as a backtest.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    const { body } = await live.client.get(`/backtests?tag=sweep ${sweepId.slice(-6)}`.replace(' ', '%20'));
    expect(body.pagination.total).toBe(1);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('imports a dropped file of bars, and says what it was read as', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey, 'data');
    const days = Array.from({ length: 28 }, (_, at) => `2024-02-${String(at + 1).padStart(2, '0')},1,2,1,2,10`);
    const buffer = Buffer.from(`date,open,high,low,close,volume\n${days.join('\n')}\n`);
    await page.getByLabel('Choose files').setInputFiles({ name: 'MINE-1d.csv', mimeType: 'text/csv', buffer });
    await page.getByText('MINE 1d: 28 bars').waitFor();
    await page.getByRole('row', { name: /^MINE 1d/ }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  it('names, tags and annotates a result where it is shown', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey, `results/${otherId}`);
    await page.getByRole('button', { name: 'Edit name, tags and note' }).click();
    await page.getByLabel('Name').fill('Renamed');
    await page.getByLabel('Tags, with commas').fill('good, <b>bold</b>');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    const { body } = await live.client.get(`/backtests/${otherId}`);
    expect([body.name, body.tags]).toEqual(['Renamed', ['good', '<b>bold</b>']]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('shows a viewer no button that would be refused', async () => {
    const viewer = await live.api.client({ workspaceId: live.client.workspaceId, role: 'viewer' });
    const { page } = await open('a desktop', viewer.apiKey, `results/${resultId}`);
    await page.getByRole('button', { name: 'Trades as CSV' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await page.close();
  });

  it('leads back to the entry of the key, with a reason, when the key has been revoked', async () => {
    const other = await live.api.client({ workspaceId: live.client.workspaceId });
    const { page } = await open('a phone', other.apiKey);
    const { body } = await other.get('/workspace');
    await revokeApiKey(live.api.services.sql, other.workspaceId, body.apiKey.id);
    await page.evaluate(`location.hash = '#/results'`);
    expect(await page.getByRole('alert').textContent()).toContain('This key no longer works.');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.getByLabel('API key').fill('svc_live_nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(live.client.apiKey);
    await page.keyboard.press('Enter');
    await page.locator('tr[data-at="0"]').waitFor();
    await page.close();
  });

  it('says that the service does not answer, and goes on when it does', async () => {
    const { page } = await open('a desktop', live.client.apiKey);
    await page.route('**/public/v1/**', (route) => route.abort());
    await page.evaluate(`location.hash = '#/results'`);
    await page.getByText('The service does not answer.').waitFor();
    await page.unroute('**/public/v1/**');
    await page.locator('tr[data-at="0"]').waitFor();
    expect(await page.getByText('The service does not answer.').count()).toBe(0);
    await page.close();
  });

  it('scrolls through 10,000 results with few elements, and sorts all of them', async () => {
    const { page, faults } = await open('a desktop', live.client.apiKey);
    await page.route('**/public/v1/backtests?*', (route) => route.fulfill({ json: pageOfMany(route.request().url()) }));
    await page.evaluate(`location.hash = '#/results'`);
    await page.getByText('10,000 backtests', { exact: true }).waitFor();
    await page.locator('tr[data-at="0"]').focus();
    await page.keyboard.press('End');
    await page.locator('tr[data-at="9999"]:focus').waitFor();
    expect(await page.locator('tr[data-at]').count()).toBeLessThan(80);
    await page.getByRole('button', { name: 'Sharpe ratio' }).click();
    await page.locator('tr[data-at="0"]', { hasText: '99.99' }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });
});

const SPX_CONFIG = {
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  initialBalance: 10_000,
  execution: {
    feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0.001, takerRate: 0.001 }] },
    slippage: { kind: 'none' },
  },
};

/** A page of a list of 10,000 results, whose Sharpe ratios are 0.00 to 99.99 in another order than that of the list. */
function pageOfMany(url: string): object {
  const query = new URL(url).searchParams;
  const limit = Number(query.get('limit'));
  const from = Number(query.get('cursor') ?? 0);
  const data = Array.from({ length: Math.min(limit, 10_000 - from) }, (_, at) => ({
    id: `0198c1de-7a5b-7c4e-9d0a-${String(from + at).padStart(12, '0')}`,
    status: 'completed', strategyId: 's', strategyVersionId: 'v', symbol: 'SPX', timeframe: '1d', params: {},
    createdAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.000Z', diagnosis: null, warnings: [],
    returnPct: 0.1, sharpeRatio: ((7 * (from + at)) % 10_000) / 100, maxDrawdown: 0.2, totalPositions: 30,
  })); // prettier-ignore
  const next = from + data.length;
  return {
    data,
    pagination: { limit, nextCursor: next < 10_000 ? String(next) : null, hasMore: false, total: 10_000 },
  };
}

/** What axe finds that people who cannot see or point would stumble over. */
async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run({ iframes: false })')) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
