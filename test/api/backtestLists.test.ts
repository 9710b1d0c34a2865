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

type Summary = Readonly<Record<string, number>>;
/** Of a completed backtest; empty for another. */
const summaryOf = async (id: string): Promise<Summary> =>
  (await client.get(`/backtests/${id}`)).body.result?.summaryJson ?? {};

interface Row {
  readonly id: string;
  readonly [key: string]: unknown;
  readonly params: { readonly fast: number };
  readonly maxDrawdown: number | null;
  readonly warnings: readonly string[];
}
const list = async (
  query: string,
): Promise<{ data: Row[]; pagination: { nextCursor: string | null; total: number } }> =>
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

  it('shows the key that sorts beside the usual members', async () => {
    const { data } = await list('sort=-sortinoRatio');
    for (const { id, sortinoRatio } of data) expect(sortinoRatio).toBe((await summaryOf(id)).sortinoRatio ?? null);
    expect((await list('')).data[0]).not.toHaveProperty('sortinoRatio');
  });

  it('shows the columns that are asked for, with the id and the key that sorts', async () => {
    const columns = ['profitFactor', 'status', 'note', 'params'];
    const { data } = await list(`sort=-sharpeRatio&columns=${columns.join()}`);
    expect(data).toHaveLength(5);
    for (const row of data) {
      expect(Object.keys(row)).toEqual(['id', ...columns, 'sharpeRatio']);
      const { profitFactor = null, sharpeRatio = null } = await summaryOf(row.id);
      expect(row).toMatchObject({ profitFactor, sharpeRatio, note: null });
    }
  });

  it('has every member of a row among its columns, with the values of the whole row', async () => {
    const [whole] = (await list('sort=createdAt')).data;
    const [row] = (await list(`sort=createdAt&columns=${Object.keys(whole).join()}`)).data;
    expect(row).toEqual(whole);
  });

  it.each([
    ['minTrades=9', ({ totalPositions }: Summary) => totalPositions >= 9],
    ['where=totalPositions>=9', ({ totalPositions }: Summary) => totalPositions >= 9],
    ['where=sharpeRatio<0.5', ({ sharpeRatio }: Summary) => sharpeRatio < 0.5],
    ['where=maxDrawdown>-1,winRate<=4e-1&minTrades=1', ({ winRate }: Summary) => winRate <= 0.4],
  ])('filters by %s, as a loop over the summaries does', async (query, holds) => {
    const all = (await list('limit=100')).data.map(({ id }) => id);
    const summaries = await Promise.all(all.map(async (id) => [id, await summaryOf(id)] as const));
    const expected = summaries.filter(([, summary]) => summary.sharpeRatio !== undefined && holds(summary));
    const { data, pagination } = await list(`limit=100&${query}`);
    expect(data.map(({ id }) => id)).toEqual(expected.map(([id]) => id));
    expect(pagination.total).toBe(data.length);
    expect(data.length).toBeLessThan(all.length);
  });

  it('is CSV page by page, with the columns of the JSON', async () => {
    const query = 'sort=maxDrawdown&columns=maxDrawdown,tags,params';
    await client.patch(`/backtests/${(await list(query)).data[0].id}`, { tags: ['=1+1', 'b'] });
    const { data } = await list(query);
    const lines = data.map(({ id, maxDrawdown, params }) => {
      const tags = id === data[0].id ? `"'=1+1,b"` : '';
      return `${id},${maxDrawdown ?? ''},${tags},"${JSON.stringify(params).replaceAll('"', '""')}"\r\n`;
    });
    const text: string[] = [];
    for (let url: string | undefined = `/public/v1/backtests?format=csv&limit=2&${query}`; url;) {
      const { status, text: page, headers } = await api.send({ url, headers: { 'x-api-key': client.apiKey } });
      expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
      const [head] = page.split('\r\n', 1);
      expect(head).toBe('id,maxDrawdown,tags,params');
      text.push(page.slice(head.length + 2));
      url = /<(.*)>; rel="next"/.exec(String(headers.link))?.[1];
    }
    expect(text).toHaveLength(3);
    expect(text.join('')).toBe(lines.join(''));
    expect((await client.get('/backtests?format=csv&sort=cagr')).text.split('\r\n')[0]).toMatch(/^id,status,.*,cagr$/);
  });

  it('keeps a cursor when columns change, and not when a condition does', async () => {
    const { pagination } = await list('limit=2&where=totalPositions>=0');
    const next = `limit=2&cursor=${pagination.nextCursor}`;
    expect((await client.get(`/backtests?${next}&where=totalPositions>=0&columns=cagr`)).status).toBe(200);
    const other = await client.get(`/backtests?${next}&where=totalPositions>=1`);
    expect(other).toMatchObject({ status: 400, body: { code: 'CURSOR_INVALID' } });
  });

  it.each([
    ['columns=sharp', 'There is no column "sharp". Did you mean "sharpeRatio"?'],
    ['where=sharpRatio>1', 'There is no key of the summary "sharpRatio". Did you mean "sharpeRatio"?'],
    [
      'where=sharpeRatio',
      '"sharpeRatio" is not a condition. Write a key, one of >= <= > < and a number: sharpeRatio>=1.',
    ],
    ['minTrades=-1', '"minTrades" must be a whole number from 0 to 1000000000.'],
    [`where=${'cagr>0,'.repeat(21)}`, '"where" must have at most 20 conditions.'],
  ])('refuses %s and says what to write', async (query, message) => {
    const refused = await client.get(`/backtests?${query}`);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ message }] } });
  });

  it('labels a completed backtest, whose result and hashes stay as they are', async () => {
    const [{ id }] = (await list('sort=-totalPositions')).data;
    const { body: before, headers } = await client.get(`/backtests/${id}`);
    const labels = { name: 'Best', tags: ['kept'], note: 'Look again.' };
    expect((await client.patch(`/backtests/${id}`, labels)).body).toMatchObject(labels);
    const after = await client.get(`/backtests/${id}`);
    expect(after.body).toEqual({ ...before, ...labels });
    expect(after.headers.etag).not.toBe(headers.etag);
    expect((await client.get(`/backtests/${id}?view=agent`)).body).toMatchObject(labels);
    await client.patch(`/backtests/${id}`, { name: null, tags: null, note: null });
    const unlabeled = await client.get(`/backtests/${id}`);
    expect([unlabeled.text, unlabeled.headers.etag]).toEqual([JSON.stringify(before), headers.etag]);
  });

  it('refuses an order by what is not in the summary', async () => {
    expect((await client.get('/backtests?sort=strategyTrace')).status).toBe(400);
  });
});
