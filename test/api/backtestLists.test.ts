// Lists of backtests: the params and warnings of each row, and the order by any key of the flat summary.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiApp } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { readyVersion } from '../support/sweepApi.ts';

const api = await createApiApp();
const client = await api.client();
beforeAll(async () => {
  const strategyVersionId = await readyVersion(client);
  const items = [3, 5, 8, 13].map((fast) => ({ strategyVersionId, config: config({ params: { fast, slow: 40 } }) }));
  const { data } = (await client.post('/backtests/batch', { items })).body as { data: { id: string }[] };
  const worker = await startApiWorker(api.services);
  for (const { id: backtest } of data) await client.get(`/backtests/${backtest}?wait=60`);
  await worker[Symbol.asyncDispose]();
  // Never run: it has no summary.
  await client.post('/backtests', { strategyVersionId, config: config({ params: { fast: 21 } }) });
});
afterAll(() => api[Symbol.asyncDispose]());

interface Row {
  readonly params: { readonly fast: number };
  readonly maxDrawdown: number | null;
  readonly warnings: readonly string[];
}
const list = async (query: string): Promise<{ data: Row[]; pagination: { nextCursor: string | null } }> =>
  (await client.get(`/backtests?${query}`)).body;

describe('a list of backtests', () => {
  it.each(['maxDrawdown', '-maxDrawdown'])('is sorted by %s page by page, those without a value last', async (sort) => {
    const whole = await list(`sort=${sort}`);
    const values = whole.data.map(({ maxDrawdown }) => maxDrawdown);
    expect(values.at(-1)).toBeNull();
    const sign = sort.startsWith('-') ? -1 : 1;
    expect(values.slice(0, -1)).toEqual(values.slice(0, -1).toSorted((a, b) => sign * (a! - b!)));
    const pages: Row[] = [];
    for (let cursor = ''; ;) {
      const page = await list(`sort=${sort}&limit=2${cursor}`);
      pages.push(...page.data);
      if (page.pagination.nextCursor === null) break;
      cursor = `&cursor=${page.pagination.nextCursor}`;
    }
    expect(pages).toEqual(whole.data);
  });

  it('shows the params of each row and the codes of its warnings', async () => {
    const { data } = await list('sort=createdAt');
    expect(data.map(({ params }) => params.fast)).toEqual([3, 5, 8, 13, 21]);
    for (const { warnings } of data) expect(Array.isArray(warnings)).toBe(true);
  });

  it('refuses an order by what is not in the summary', async () => {
    expect((await client.get('/backtests?sort=strategyTrace')).status).toBe(400);
  });
});
