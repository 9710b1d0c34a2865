// Labels over HTTP: names, tags and notes of strategies, backtests and sweeps, how lists find them, what archiving and
// deleting do, and that no other workspace sees or changes any of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import type { Client, Reply } from '../support/apiApp.ts';
import { config } from '../support/backtestApi.ts';
import { createSweepApi, type SweepApi, type SweepClient } from '../support/sweepApi.ts';
import { CROSSING } from '../support/sweeps.ts';

let api: SweepApi;
let client: SweepClient;
let stranger: Client;
beforeAll(async () => {
  api = await createSweepApi();
  client = await api.client();
  stranger = await api.api.client();
});
afterAll(() => api[Symbol.asyncDispose]());

const LABELS = { name: 'Base case', tags: ['spx', 'naïve 📈'], note: 'Before costs,\nfor later.' };
const [, EXAMPLE] = /```json\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/labels.md'), 'utf8'))!;
const payload = { settings: {}, strategyAst: CROSSING };
const space = { fast: { values: [3, 5] }, slow: { values: [20, 30] } };

/** How each kind of thing is made. */
const KINDS = {
  strategies: (labels: object) => client.post('/strategies', { name: 'Unnamed', ...payload, ...labels }),
  backtests: (labels: object) =>
    client.post('/backtests', { strategyVersionId: client.strategyVersionId, config: config(), ...labels }),
  sweeps: (labels: object) =>
    client.post('/sweeps', {
      strategyVersionId: client.strategyVersionId,
      config: config(),
      space,
      method: 'grid',
      ...labels,
    }),
} as const;
type Kind = keyof typeof KINDS;
const each = Object.keys(KINDS) as Kind[];
const RUNS = ['backtests', 'sweeps'] as const;

async function make(kind: Kind, labels: object = {}): Promise<{ id: string; path: string; body: Reply['body'] }> {
  const made = await KINDS[kind](labels);
  expect(made.status, made.text).toBe(201);
  return { id: made.body.id, path: `/${kind}/${made.body.id}`, body: made.body };
}
const idsOf = async (kind: Kind, query: string): Promise<string[]> => {
  const { body, status, text } = await client.get(`/${kind}?limit=100&${query}`);
  expect(status, text).toBe(200);
  const ids = (body.data as { id: string }[]).map(({ id }) => id);
  expect(body.pagination.total).toBe(ids.length);
  return ids.toSorted();
};
const storedBytes = async (): Promise<number> =>
  (await client.get('/workspace')).body.subscription.usage.storedBytes as number;

describe.each(each)('labels of %s', (kind) => {
  it('are shown by the answer, the resource and the list, and are absent where there are none', async () => {
    const { path, body, id } = await make(kind, LABELS);
    expect(body).toMatchObject(LABELS);
    expect((await client.get(path)).body).toMatchObject(LABELS);
    const { data } = (await client.get(`/${kind}?tag=spx&limit=100`)).body;
    const row = data.find((one: { id: string }) => one.id === id);
    expect(row).toMatchObject({ name: LABELS.name, tags: LABELS.tags });
    expect(row).not.toHaveProperty('note');
    const plain = (await client.get((await make(kind)).path)).body;
    for (const member of ['tags', 'note']) expect(plain).not.toHaveProperty(member);
  });

  it('take the example of docs/labels.md', async () => {
    const { path } = await make(kind);
    const labels = JSON.parse(EXAMPLE) as object;
    expect((await client.patch(path, labels)).body).toMatchObject(labels);
  });

  it('are changed one by one, and removed by null', async () => {
    const { path } = await make(kind, LABELS);
    const read = async () => (await client.get(path)).body;
    expect((await client.patch(path, { note: 'Changed.' })).body).toMatchObject({ ...LABELS, note: 'Changed.' });
    expect(await read()).toMatchObject({ ...LABELS, note: 'Changed.' });
    expect((await client.patch(path, { tags: null })).status).toBe(200);
    expect(await read()).not.toHaveProperty('tags');
    expect((await client.patch(path, { note: null, tags: ['b', 'a'] })).status).toBe(200);
    expect(await read()).toMatchObject({ name: LABELS.name, tags: ['b', 'a'] });
    expect(await read()).not.toHaveProperty('note');
  });

  it('lose none of several changes at the same time', async () => {
    const { path } = await make(kind);
    const changes = [{ note: 'n' }, { archived: true }, { tags: ['t'] }, { name: 'N' }];
    const answers = await Promise.all(changes.map((change) => client.patch(path, change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await client.get(path);
    expect(body).toMatchObject({ name: 'N', tags: ['t'], note: 'n', archivedAt: expect.any(String) });
  });

  it('find it by all of several tags, and by a part of each label in any case', async () => {
    const { id } = await make(kind, { name: 'Zwölf Apostel', tags: [`${kind}-one`, `${kind}-two`], note: 'a%b_c' });
    const other = await make(kind, { tags: [`${kind}-one`] });
    expect(await idsOf(kind, `tag=${kind}-one`)).toEqual([id, other.id].toSorted());
    expect(await idsOf(kind, `tag=${kind}-one&tag=${kind}-two`)).toEqual([id]);
    expect(await idsOf(kind, `tag=${kind}-one&tag=nowhere`)).toEqual([]);
    for (const text of ['WÖLF AP', `${kind}-TWO`, 'A%B_'])
      expect(await idsOf(kind, `search=${encodeURIComponent(text)}`), text).toEqual([id]);
    expect(await idsOf(kind, 'search=a%25b%25c')).toEqual([]);
  });

  it('let it leave the lists and come back, while it can still be read', async () => {
    const { id, path } = await make(kind, { tags: [`${kind}-archive`] });
    const kept = await make(kind, { tags: [`${kind}-archive`] });
    const archived = await client.patch(path, { archived: true });
    expect(archived.body.archivedAt).toBe((await client.get(path)).body.archivedAt);
    expect((await client.patch(path, { archived: true })).body.archivedAt).toBe(archived.body.archivedAt);
    expect(await idsOf(kind, `tag=${kind}-archive`)).toEqual([kept.id]);
    expect(await idsOf(kind, `tag=${kind}-archive&archived=true`)).toEqual([id]);
    expect(await idsOf(kind, `tag=${kind}-archive&archived=all`)).toEqual([id, kept.id].toSorted());
    expect((await client.patch(path, { archived: false })).body.archivedAt).toBeNull();
    expect(await idsOf(kind, `tag=${kind}-archive`)).toEqual([id, kept.id].toSorted());
  });

  it('are refused where they break a bound, in the words of the rest of the API', async () => {
    const { path: place } = await make(kind, LABELS);
    const before = (await client.get(place)).body;
    const wrong: readonly (readonly [change: object, path: string])[] = [
      [{ tags: ['a,b'] }, '/tags/0'],
      [{ tags: ['a', 'a'] }, '/tags'],
      [{ tags: [' '] }, '/tags/0'],
      [{ tags: Array.from({ length: 21 }, (_, at) => `t${at}`) }, '/tags'],
      [{ tags: ['x'.repeat(41)] }, '/tags/0'],
      [{ note: 'x'.repeat(4_001) }, '/note'],
      [{ note: 'a\0b' }, '/note'],
      [{ tags: ['\ud83d'] }, '/tags/0'],
      [{ name: '  ' }, '/name'],
      [{ archived: 'yes' }, '/archived'],
      [{ note: 'x', color: 'red' }, '/color'],
      [{}, ''],
    ];
    for (const [change, path] of wrong)
      expect(await client.patch(place, change)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', issues: [{ path }] },
      });
    expect((await client.get(place)).body).toEqual(before);
  });

  it('are nobody else’s: another workspace, a viewer and a key without the scope change nothing', async () => {
    const { path } = await make(kind, LABELS);
    const { workspaceId } = client;
    const viewer = await api.api.client({ workspaceId, role: 'viewer' });
    const reader = await api.api.client({ workspaceId, scopes: ['strategies_read', 'backtests_read'] });
    expect((await stranger.patch(path, { note: 'mine' })).status).toBe(404);
    expect((await viewer.patch(path, { note: 'mine' })).status).toBe(403);
    expect((await reader.patch(path, { note: 'mine' })).status).toBe(403);
    expect((await client.get(path)).body).toMatchObject(LABELS);
    expect((await client.patch(`/${kind}/nonsense`, { note: 'x' })).status).toBe(404);
    for (const query of ['tag=spx', 'search=naïve', 'archived=all'])
      expect((await stranger.get(`/${kind}?${encodeURI(query)}`)).body.data).toEqual([]);
  });

  it('count toward the storage of the workspace byte by byte, until they are removed', async () => {
    const { path } = await make(kind);
    const before = await storedBytes();
    await client.patch(path, { tags: ['é', 'ab'], note: '📈' });
    expect(await storedBytes()).toBe(before + 2 + 2 + 4);
    await client.patch(path, { tags: [], note: '' });
    expect(await storedBytes()).toBe(before);
  });
});

describe.each(RUNS)('the labels of %s', (kind) => {
  it('do not depend on the end of the run, and go with it', async () => {
    const before = await storedBytes();
    const { path } = await make(kind);
    expect((await client.post(`${path}/cancel`)).status).toBe(200);
    const done = (await client.get(path)).body;
    expect((await client.patch(path, LABELS)).body).toMatchObject(LABELS);
    expect((await client.get(path)).body).toEqual({ ...done, ...LABELS });
    expect(await storedBytes()).toBeGreaterThan(before);
    expect((await client.delete(path)).status).toBe(200);
    expect(await storedBytes()).toBe(before);
    expect((await client.patch(path, LABELS)).status).toBe(404);
    const [{ count }] = await api.api.services.sql<[{ count: number }]>`
      select count(*)::int as count from labels where id = ${path.split('/')[2]}`;
    expect(count).toBe(0);
  });

  it('are removed together with the name by null', async () => {
    const { path, id } = await make(kind, LABELS);
    const removed = await client.patch(path, { name: null, tags: null, note: null });
    expect(removed.body).toEqual({ id, name: null, tags: [], note: null, archivedAt: null });
    for (const member of ['name', 'tags', 'note', 'archivedAt'])
      expect((await client.get(path)).body).not.toHaveProperty(member);
  });

  it('are found by the symbol of the run as well', async () => {
    const { id } = await make(kind, { tags: [`${kind}-symbol`] });
    expect(await idsOf(kind, `tag=${kind}-symbol&search=spx`)).toEqual([id]);
    expect(await idsOf(kind, `tag=${kind}-symbol&search=spy`)).toEqual([]);
  });

  it('are part of the request under its Idempotency-Key, and no part of the run', async () => {
    const body = { strategyVersionId: client.strategyVersionId, config: config(), name: 'Once' };
    const sent = kind === 'sweeps' ? { ...body, space, method: 'grid' } : body;
    const headers = { 'idempotency-key': `${kind} once` };
    const first = await client.post(`/${kind}`, sent, headers);
    expect((await client.post(`/${kind}`, sent, headers)).body).toEqual(first.body);
    const other = await client.post(`/${kind}`, { ...sent, name: 'Twice' }, headers);
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(new Set(await runKeys()).size).toBe(1);
  });
});

/** Of all backtests, which differ in their labels alone. */
const runKeys = async (): Promise<string[]> =>
  (await api.api.services.sql<{ run_key: string }[]>`select run_key from backtests`).map((row) => row.run_key);

describe('a batch of backtests', () => {
  it('takes labels of each item, and refuses only the item whose labels are wrong', async () => {
    const { strategyVersionId } = client;
    const item = (labels: object) => ({ strategyVersionId, config: config(), ...labels });
    const items = [item({ name: 'First' }), item({}), item({ tags: ['a,b'] }), item({ tags: ['batch'] })];
    const { data } = (await client.post('/backtests/batch', { items })).body;
    expect(data.map((one: object) => 'id' in one)).toEqual([true, true, false, true]);
    expect(data[2].error.issues).toMatchObject([{ path: '/items/2/tags/0' }]);
    const read = async (at: number) => (await client.get(`/backtests/${data[at].id}`)).body;
    expect(await read(0)).toMatchObject({ name: 'First' });
    expect(await read(1)).not.toHaveProperty('name');
    expect(await read(3)).toMatchObject({ tags: ['batch'] });
  });
});

describe('a strategy', () => {
  it('takes a new name and description, but never loses its name', async () => {
    const { path } = await make('strategies', { description: 'Old.' });
    const changed = await client.patch(path, { name: 'New', description: 'Newer.' });
    expect(changed.body).toMatchObject({ name: 'New', description: 'Newer.', versions: [{ version: 1 }] });
    expect((await client.patch(path, { name: null })).status).toBe(400);
    expect((await client.get(path)).body).toEqual(changed.body);
  });

  it('comes back from the archive only where the tier has room for it', async () => {
    const free = await api.api.client({ tier: 'free' });
    const add = () => free.post('/strategies', { name: 'One of many', ...payload });
    const { id } = (await add()).body;
    await free.patch(`/strategies/${id}`, { archived: true });
    for (let count = 0; count < 25; count++) expect((await add()).status).toBe(201);
    const refused = await free.patch(`/strategies/${id}`, { archived: false, note: 'back' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'TIER_LIMIT_REACHED', limitName: 'strategies' } });
    expect((await free.get(`/strategies/${id}`)).body).not.toHaveProperty('note');
    expect((await free.patch(`/strategies/${id}`, { note: 'still there' })).status).toBe(200);
  });

  it('is deleted with its versions when nothing has run it, and not otherwise', async () => {
    const before = await storedBytes();
    const { path } = await make('strategies', LABELS);
    expect((await stranger.delete(`${path}?permanently=true`)).status).toBe(404);
    expect((await client.delete(`${path}?permanently=true`)).body).toMatchObject({ deleted: true });
    expect((await client.get(path)).status).toBe(404);
    expect((await client.get(`${path}/versions/1`)).status).toBe(404);
    expect(await storedBytes()).toBe(before);
    const { strategyId } = (await make('backtests')).body;
    const refused = await client.delete(`/strategies/${strategyId}?permanently=true`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'VERSION_IN_USE' } });
    expect((await client.get(`/strategies/${strategyId}`)).body.archivedAt).toBeNull();
  });
});

describe('the storage quota', () => {
  it('refuses labels for which there is no room, and what they would be created with', async () => {
    const free = await api.client();
    await api.api.services.sql`update workspaces set tier = 'free' where id = ${free.workspaceId}`;
    const { id } = (await free.post('/strategies', { name: 'Full', ...payload })).body;
    await api.api.services.sql`
      update workspace_storage set bytes = 67108864 - 100 where workspace_id = ${free.workspaceId}`;
    const full = { status: 403, body: { code: 'TIER_LIMIT_REACHED', limitName: 'storedBytes' } };
    expect(await free.patch(`/strategies/${id}`, { note: 'x'.repeat(101) })).toMatchObject(full);
    expect((await free.patch(`/strategies/${id}`, { note: 'x'.repeat(60) })).status).toBe(200);
    const backtest = { strategyVersionId: free.strategyVersionId, config: config() };
    expect(await free.post('/backtests', { ...backtest, note: 'x'.repeat(50) })).toMatchObject(full);
    expect(await free.post('/backtests/batch', { items: [{ ...backtest, note: 'x'.repeat(50) }] })).toMatchObject(full);
    expect((await free.post('/backtests', backtest)).status).toBe(201);
    expect((await free.get('/backtests')).body.pagination.total).toBe(1);
  });
});

describe('over MCP', () => {
  const call = async (name: string, args: object): Promise<Reply['body']> => {
    const { text } = await api.api.send({
      method: 'POST',
      url: '/mcp',
      headers: {
        authorization: `Bearer ${client.apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    });
    const { result } = JSON.parse(text.slice(text.indexOf('{')));
    return JSON.parse(result.content[0].text);
  };
  const idsIn = ({ data }: { data: { id: string }[] }): string[] => data.map(({ id }) => id);

  it('finds by tags what the tools have made, labels it, and deletes it', async () => {
    const labels = { tags: ['mcp', 'all'], note: 'Made by an agent.' };
    const { strategyVersionId } = client;
    const made = {
      strategy: await call('create_strategy', { name: 'By MCP', ...payload, ...labels }),
      backtest: await call('run_backtest', { strategyVersionId, config: config(), wait: 0, ...labels }),
      sweep: await call('run_sweep', {
        strategyVersionId,
        config: config(),
        space,
        method: 'grid',
        wait: 0,
        ...labels,
      }),
    };
    await client.post(`/backtests/${made.backtest.id}/cancel`);
    for (const [kind, list] of [
      ['strategy', 'list_strategies'],
      ['backtest', 'list_backtests'],
      ['sweep', 'list_sweeps'],
    ] as const) {
      const { id } = made[kind];
      expect(idsIn(await call(list, { tag: ['mcp', 'all'] })), kind).toEqual([id]);
      expect(await call('label', { kind, id, note: null, tags: ['renamed'] })).toMatchObject({ id, tags: ['renamed'] });
      expect(idsIn(await call(list, { tag: 'mcp' }))).toEqual([]);
      await call('label', { kind, id, archived: true });
      expect(idsIn(await call(list, { tag: 'renamed' }))).toEqual([]);
      expect(idsIn(await call(list, { tag: 'renamed', archived: 'all' }))).toEqual([id]);
      const deleted = await call('label', { kind, id, delete: true });
      if (kind === 'sweep') expect(deleted).toMatchObject({ code: 'SWEEP_NOT_TERMINAL' });
      else expect(deleted).toEqual({ id, deleted: true });
    }
  });

  it('lists the columns that are asked for, of what the conditions leave', async () => {
    const { id } = await make('backtests', { name: 'Columns' });
    const columns = ['name', 'sharpeRatio', 'status'];
    const { data } = await call('list_backtests', { search: 'columns', columns });
    expect(data).toEqual([{ id, name: 'Columns', sharpeRatio: null, status: 'queued', createdAt: expect.any(String) }]);
    expect((await call('list_backtests', { minTrades: 1, where: 'sharpeRatio>1' })).data).toEqual([]);
    expect(await call('list_backtests', { where: 'sharpe>1' })).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});
