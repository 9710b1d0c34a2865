// One meaning per name: `…At` is an ISO 8601 string, `…Pct` a fraction in answers, `…Percent` percent points in
// requests; each field says so where clients read it, and live answers hold it.
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOLS } from '../../src/api/mcp/tools.ts';
import { createLiveApi } from '../support/liveApi.ts';

const live = await createLiveApi();
const { api, client, finalize, run } = live;
afterAll(() => live[Symbol.asyncDispose]());

interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
}
interface Member {
  readonly place: string;
  readonly name: string;
  readonly description: string;
}

/** Every property and parameter below a document whose name says that it is an instant or a percent. */
function* timesAndPercents(part: unknown, root: unknown, place = ''): Generator<Member> {
  if (typeof part !== 'object' || part === null) return;
  const named = (name: string, schema: Schema): Member => ({ place, name, description: described(schema, root) });
  const isMeant = (name: unknown): name is string => typeof name === 'string' && /(At|Pct|Percent)$|^pct$/.test(name);
  const { properties, name, schema } = part as { properties?: object; name?: unknown; schema?: Schema };
  // A map of schemas, not a member of that name.
  if (typeof properties === 'object' && !place.endsWith('/properties'))
    for (const [member, each] of Object.entries(properties)) if (isMeant(member)) yield named(member, each as Schema);
  if (isMeant(name) && schema !== undefined) yield named(name, { ...(part as Schema), ...schema });
  for (const [member, each] of Object.entries(part))
    if (!['example', 'examples'].includes(member)) yield* timesAndPercents(each, root, `${place}/${member}`);
}

/** Its own description, or that of what it refers to or chooses from. */
function described({ description, $ref, anyOf }: Schema, root: unknown): string {
  if (description !== undefined) return description;
  if ($ref !== undefined) {
    const parts = $ref.split('/').slice(1);
    return described(parts.reduce((at, part) => (at as Record<string, unknown>)[part], root) as Schema, root);
  }
  return (anyOf ?? []).map((each) => described(each, root)).join(' ');
}

const MEANING = [
  [/At$/, /ISO 8601/],
  [/(Pct|^pct)$/, /fraction/i],
  [/Percent$/, /percent/i],
] as const;
/** Members whose description does not say what their name promises. */
function unclear(document: unknown): string[] {
  return [...timesAndPercents(document, document)]
    .filter(({ name, description }) => !MEANING.every(([names, words]) => !names.test(name) || words.test(description)))
    .map(({ place, name, description }) => `${place} ${name}: ${description}`);
}

/** `…At` members of an answer that are neither null nor the ISO form of an instant. */
function* faultyInstants(part: unknown, place: string): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, value] of Object.entries(part)) {
    const isIso = typeof value === 'string' && !Number.isNaN(Date.parse(value)) && value.endsWith('Z');
    if (/[a-z]At$/.test(name) && value !== null && !isIso) yield `${place}/${name}: ${JSON.stringify(value)}`;
    yield* faultyInstants(value, `${place}/${name}`);
  }
}
const instantsIn = (text: string): number => text.match(/"\w+At":"/g)?.length ?? 0;

describe('descriptions', () => {
  it('say what each time and percent of the OpenAPI document means', () => {
    const document = api.app.swagger();
    const found = [...timesAndPercents(document, document)];
    expect(new Set(found.map(({ name }) => name)).size).toBeGreaterThan(20);
    expect(unclear(document)).toEqual([]);
  });

  it('say so in the schemas of the MCP tools', () => {
    for (const tool of TOOLS) expect(unclear(z.toJSONSchema(tool.input, { io: 'input' })), tool.name).toEqual([]);
  });

  it('say so in the schemas that capabilities give', async () => {
    const { body } = await client.get('/capabilities?sections=schemas');
    expect([...timesAndPercents(body, body)].map(({ name }) => name)).toContain('triggerPercent');
    expect(unclear(body)).toEqual([]);
  });
});

describe('live answers', () => {
  it('hold ISO strings in every member whose name ends in At', async () => {
    const backtest = await run();
    const ready = await finalize();
    const { id, strategyId, strategyVersionId } = backtest.body;
    const robustness = await client.post(`/backtests/${id}/robustness`, { analyses: ['monteCarlo', 'feeStress'] });
    const sweep = await client.post('/sweeps', {
      strategyVersionId,
      config: backtest.body.config,
      space: { '/strategyAst/strategy/risk/stopLoss/value': { values: [5, 10] } },
      method: 'grid',
      objective: { key: 'returnPct' },
    });
    expect([robustness.status, sweep.status]).toEqual([201, 201]);
    const paths = [
      `/workspace`,
      `/strategies`,
      `/strategies/${strategyId}`,
      `/strategies/${strategyId}/versions`,
      `/strategies/${strategyId}/versions/1`,
      `/backtests`,
      `/backtests/${id}`,
      `/backtests/${id}?view=agent&maxBytes=200000`,
      `/backtests/${id}/artifacts/trades`,
      `/backtests/${id}/robustness/${robustness.body.id}?wait=60`,
      `/sweeps`,
      `/sweeps/${sweep.body.id}?wait=60`,
    ];
    const replies = [ready, robustness, sweep];
    // In turn: the results of the sweep are there when its detail is.
    for (const path of paths) replies.push(await client.get(path));
    for (const reply of replies) expect(reply.status, reply.text).toBeLessThan(300);
    expect(replies.flatMap((reply, at) => [...faultyInstants(reply.body, paths[at - 3] ?? '')])).toEqual([]);
    // The rows of a sweep are a file, in which every time is in ms.
    const { body: rows } = await client.get(`/sweeps/${sweep.body.id}/results?format=json`);
    for (const row of rows as Record<string, unknown>[])
      for (const name of ['maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt'])
        expect(row[name], name).toBeTypeOf('number');
    // Not for want of times: the detail has those of the backtest, of the drawdown and of two conditions.
    expect(instantsIn(backtest.text)).toBeGreaterThan(5);
    expect(backtest.body.result.summaryJson.maxDrawdownRecoveredAt).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    expect(backtest.body.result.summaryJson.ruleStatsSummary.rules[0].firstTrueAt).toMatch(/Z$/);
  });

  it('give percents of results as fractions', async () => {
    const { body } = await run();
    const { returnPct, initialBalance, finalEquity } = body.result.summaryJson;
    expect(returnPct).toBeCloseTo(finalEquity / initialBalance - 1, 12);
    const trades = (await client.get(`/backtests/${body.id}/artifacts/trades?format=json`)).body;
    for (const { pnl, returnPct: trade, quantity, entryPrice } of trades)
      expect(trade).toBeCloseTo(pnl / (quantity * entryPrice), 12);
  });
});
