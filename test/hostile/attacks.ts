// The attacks: each is one request, or a few, that a tenant may send; they are sent again and again at the same time.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { astOf, CONFIG, condition, readyVersion, type Attack, type Send, type Target } from './attack.ts';
import { COMPARE_ATTACKS } from './compareAttacks.ts';
import { DATA_ATTACKS } from './dataAttacks.ts';
import { DOOR_ATTACKS } from './doorAttacks.ts';
import { signToken } from './identity.ts';
import { largeBodies } from './largeBodies.ts';
import { PORTFOLIO_ATTACKS } from './portfolioAttacks.ts';
import { SWEEP_ATTACKS } from './sweepAttacks.ts';
import { LABEL_ATTACKS } from './labelAttacks.ts';
import { WEBHOOK_ATTACKS } from './webhookAttacks.ts';
import { SWEEP_BODIES, VARIED_AST } from './sweepBodies.ts';
import { slowBodies } from './slowBodies.ts';

export interface Tally {
  /** Counts of answers by status; 0: the connection was closed. */
  readonly statuses: Record<number, number>;
  /** The first answers of 500 or more, to look into. */
  readonly faults: string[];
}

/** 99 conditions over sums of closes: 901 nodes, about as many as the largest tier allows. */
const LARGE_AST = astOf(
  Array.from({ length: 99 }, (_, index) => ({
    kind: 'compare',
    op: 'gt',
    left: {
      kind: 'math',
      op: 'max',
      args: Array.from({ length: 6 }, (_item, at) => ({ kind: 'market', field: 'close', offset: at + index })),
    },
    right: { kind: 'const', value: index },
  })),
);
const EXPENSIVE_AST = astOf([
  { ...condition(2), left: { kind: 'indicator', indicator: 'alma', args: { length: 2_000 } } },
  { ...condition(2), left: { kind: 'indicator', indicator: 'percentile_rank', args: { length: 2_000 } } },
]);

const many = (count: number, prefix: string): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));
const bytesOf = (body: object): Buffer => Buffer.from(JSON.stringify(body));
/** Sends the same bytes again and again. */
const repeated =
  (path: string, tenant: 'free' | 'pro', body: object): Attack['prepare'] =>
  async (send, target) => {
    const bytes = bytesOf(body);
    return () => send(path, { key: target[tenant].key, body: bytes });
  };
/** How many different large bodies are made before the attack begins. */
const LARGE_BODIES = 80;

const ATTACKS: readonly Attack[] = [
  {
    name: 'large but legal bodies for every route',
    parallel: 3,
    prepare: async (send, { openapi, seed, pro, free }) => {
      const requests = largeBodies(openapi, seed, 3_000_000)
        .take(LARGE_BODIES)
        .map(({ method, path, body }, index) => {
          const tenant = index % 3 === 0 ? free : pro;
          const concrete = path.replace('{workspaceId}', tenant.workspaceId).replaceAll(/\{\w+\}/g, 'golden_cross');
          const credentials = path.startsWith('/workspaces') ? { token: tenant.token } : { key: tenant.key };
          return [concrete, { method, body: Buffer.from(body), ...credentials }] as const;
        })
        .toArray();
      let turn = 0;
      return () => send(...requests[turn++ % requests.length]);
    },
  },
  {
    name: 'meta of 123,200 numbers',
    parallel: 1,
    prepare: repeated('/public/v1/strategies', 'free', {
      name: 'm',
      settings: {},
      strategyAst: astOf([condition(3)], { meta: { a: Array.from({ length: 123_200 }, () => 1) } }),
    }),
  },
  {
    name: 'config.params with 914,000 members',
    parallel: 1,
    prepare: repeated('/public/v1/backtests', 'free', {
      strategyVersionId: 'x',
      config: { ...CONFIG, params: many(914_000, 'p') },
    }),
  },
  {
    name: '700,000 unknown keys',
    parallel: 1,
    prepare: repeated('/public/v1/strategies/validate', 'pro', many(700_000, 'k')),
  },
  {
    name: 'bodies that take long: 100,000 overrides, a name of megabytes, …',
    parallel: 2,
    prepare: async (send, { pro }) => {
      const bodies = slowBodies(await readyVersion(send, pro.key, astOf([condition(6)])));
      let turn = 0;
      return () => {
        const { path, body } = bodies[turn++ % bodies.length];
        return send(`/public/v1${path}`, { key: pro.key, body });
      };
    },
  },
  ...DOOR_ATTACKS,
  {
    name: '5,000 overrides of one backtest',
    parallel: 1,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, LARGE_AST);
      const body = bytesOf({
        strategyVersionId,
        config: { ...CONFIG, overrides: many(5_000, '/strategy/entry/trigger/items/0/right/value') },
      });
      return () => send('/public/v1/backtests', { key: pro.key, body });
    },
  },
  {
    name: 'batches of 1,000 with one override each',
    parallel: 1,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, LARGE_AST);
      const items = Array.from({ length: 1_000 }, (_, index) => ({
        strategyVersionId,
        config: { ...CONFIG, timeframe: '4h', overrides: { '/strategy/entry/trigger/items/3/right/value': index } },
      }));
      const body = bytesOf({ items });
      return () => send('/public/v1/backtests/batch', { key: pro.key, body });
    },
  },
  {
    name: 'matrices of 1,000 with a wrong value each',
    parallel: 2,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, LARGE_AST);
      const params = { unknown: Array.from({ length: 1_000 }, (_, index) => index) };
      const overrides = many(40, '/strategy/entry/trigger/items/0/right/value');
      const body = bytesOf({ versions: [strategyVersionId], params, config: { ...CONFIG, overrides } });
      return () => send('/public/v1/backtests/matrix', { key: pro.key, body });
    },
  },
  {
    name: 'matrices of 1,000 that are queued',
    parallel: 1,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, LARGE_AST);
      const overrides = {
        '/strategy/entry/trigger/items/3/right/value': Array.from({ length: 1_000 }, (_, index) => index),
      };
      const body = bytesOf({ versions: [strategyVersionId], timeframes: ['4h'], overrides, config: CONFIG });
      return () => send('/public/v1/backtests/matrix', { key: pro.key, body });
    },
  },
  ...SWEEP_BODIES.map(({ name, tenant, body }): Attack => ({
    name,
    parallel: 2,
    prepare: async (send, target) => {
      const { key } = target[tenant];
      const strategyVersionId = await readyVersion(send, key, VARIED_AST);
      const bytes = bytesOf({ strategyVersionId, config: CONFIG, ...body });
      return () => send('/public/v1/sweeps', { key, body: bytes });
    },
  })),
  {
    name: 'expensive runs',
    parallel: 1,
    prepare: async (send, { free }) => {
      const strategyVersionId = await readyVersion(send, free.key, EXPENSIVE_AST);
      const body = bytesOf({
        strategyVersionId,
        config: { ...CONFIG, signalInstrument: { symbol: 'EURUSD' }, timeframe: '1h' },
      });
      return () => send('/public/v1/backtests', { key: free.key, body });
    },
  },
  {
    name: 'artifacts from a viewer key',
    parallel: 8,
    prepare: async (send, { free }) => {
      const strategyVersionId = await readyVersion(send, free.key, astOf([condition(20)]));
      const made = await send('/public/v1/backtests', { key: free.key, body: { strategyVersionId, config: CONFIG } });
      const { id } = JSON.parse(made.text) as { id: string };
      await send(`/public/v1/backtests/${id}?wait=60`, { key: free.key });
      return () => send(`/public/v1/backtests/${id}/artifacts/signals?format=csv`, { key: free.viewerKey });
    },
  },
  ...PORTFOLIO_ATTACKS,
  ...SWEEP_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...LABEL_ATTACKS,
  ...COMPARE_ATTACKS,
  ...DATA_ATTACKS,
  {
    name: 'versions without end',
    parallel: 1,
    prepare: async (send, { free }) => {
      const made = await send('/public/v1/strategies', {
        key: free.key,
        body: { name: 'v', settings: {}, strategyAst: astOf([condition(4)]) },
      });
      const { id } = JSON.parse(made.text) as { id: string };
      let length = 5;
      return () => {
        const body = {
          settings: {},
          strategyAst: astOf([condition(length++)], { meta: { filler: 'x'.repeat(60_000) } }),
        };
        return send(`/public/v1/strategies/${id}/versions/finalize`, {
          key: free.key,
          body,
          headers: { 'idempotency-key': `v${length}` },
        });
      };
    },
  },
  {
    name: 'wrong secrets, garbage and dead keys',
    parallel: 4,
    prepare: async (send, { free }) => {
      let turn = 0;
      const wrong = `${free.key.slice(0, -1)}${free.key.endsWith('a') ? 'b' : 'a'}`;
      return () => send('/public/v1/workspace', { key: turn++ % 2 === 0 ? wrong : 'garbage' });
    },
  },
  {
    name: 'tokens whose sub is no plain string',
    parallel: 2,
    prepare: async (send, { pro, signer }) => {
      const subs: unknown[] = [
        1,
        true,
        null,
        undefined,
        {},
        ['x'],
        { toString: 'x' },
        '',
        'a\0b',
        '\ud800',
        'x'.repeat(6_000),
      ];
      const tokens = await Promise.all(subs.map((sub) => signToken(signer, sub)));
      let turn = 0;
      return () => send(`/workspaces/${pro.workspaceId}/api-keys`, { token: tokens[turn++ % tokens.length] });
    },
  },
  {
    name: 'strange methods, paths, instants and headers',
    parallel: 2,
    prepare: async (send, { pro }) => {
      const paths = [
        '/docs/static/..%2f..%2fpackage.json',
        '/docs/static/%00',
        '/docs/static/a%5Cb',
        '/public/v1/%ff',
        '/public/v1/backtests/%00',
      ];
      const calls = [
        ...paths.map((path) => () => send(path, { key: pro.key })),
        () => send('/public/v1/strategies', { key: pro.key, method: 'QUERY' }),
        () => send('/public/v1/backtests?createdAfter=%2B020000-01-01T00:00:00Z', { key: pro.key }),
        () => send('/public/v1/backtests?cursor=AAAA', { key: pro.key }),
        () => send('/public/v1/strategies?search=%F0%9F%98%80%00', { key: pro.key }),
        () => send('/public/v1/workspace', { key: pro.key, headers: { 'x-filler': 'y'.repeat(15_000) } }),
      ];
      let turn = 0;
      return () => calls[turn++ % calls.length]();
    },
  },
  {
    name: 'bodies that never arrive whole',
    parallel: 50,
    prepare: async (_send, { url, pro, signal }) => {
      const { hostname, port } = new URL(url);
      return async () => {
        const socket = connect(Number(port), hostname).on('error', () => {});
        socket.write(
          `POST /public/v1/strategies HTTP/1.1\r\nhost: x\r\nx-api-key: ${pro.key}\r\ncontent-type: ` +
            'application/json\r\ncontent-length: 1000\r\n\r\n{',
        );
        await sleep(5_000, undefined, { signal }).catch(() => {});
        socket.destroy();
      };
    },
  },
  {
    name: 'event streams and long polls',
    parallel: 40,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, EXPENSIVE_AST);
      const config = { ...CONFIG, signalInstrument: { symbol: 'EURUSD' }, timeframe: '1h' };
      let balance = 20_000;
      let turn = 0;
      let followed: Promise<string | undefined> | undefined;
      const queueOne = async (): Promise<string | undefined> => {
        const body = { strategyVersionId, config: { ...config, initialBalance: balance++ } };
        const { text } = await send('/public/v1/backtests', { key: pro.key, body });
        // None when it is refused, because the workspace has too many requests under way.
        return (JSON.parse(text) as { id?: string }).id;
      };
      return async () => {
        // All follow the same backtest until it has ended, and then the next one.
        const mine = (followed ??= queueOne());
        const id = await mine;
        if (id === undefined) {
          if (followed === mine) followed = undefined;
          return;
        }
        const suffix = turn++ % 2 === 0 ? '?wait=2' : '/events';
        const { text } = await send(`/public/v1/backtests/${id}${suffix}`, { key: pro.key });
        if (/"status":"(?:completed|failed|cancelled)"/.test(text) && followed === mine) followed = undefined;
      };
    },
  },
];

export const ATTACK_NAMES: readonly string[] = ATTACKS.map(({ name }) => name);

/**
 * Prepares the target's attacks, and then sends all of them until the signal aborts.
 * @returns the answers of each.
 */
export async function attack(target: Target, onReady: () => void): Promise<Record<string, Tally>> {
  const tallies: Record<string, Tally> = {};
  const acts: (() => Promise<void>)[] = [];
  for (const { name, parallel, prepare } of ATTACKS.filter(({ name }) => [null, name].includes(target.only))) {
    const tally: Tally = (tallies[name] = { statuses: {}, faults: [] });
    const act = await prepare(sender(target, tally), target);
    const repeat = async (): Promise<void> => {
      while (!target.signal.aborted) {
        // A connection that the service or the end of the attack has closed.
        await act().catch(() => (tally.statuses[0] = (tally.statuses[0] ?? 0) + 1));
        await sleep(5);
      }
    };
    acts.push(...Array.from({ length: parallel }, () => repeat));
  }
  onReady();
  await Promise.all(acts.map((act) => act()));
  return tallies;
}

function sender({ url, signal }: Target, tally: Tally): Send {
  const agent = new Agent({ keepAlive: true });
  return async (path, { key, token, method, body, headers } = {}) => {
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : bytesOf(body);
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const sent = request(url + path, {
      agent,
      method: method ?? (bytes === undefined ? 'GET' : 'POST'),
      headers: {
        ...(key && { 'x-api-key': key }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
        ...headers,
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(120_000)]),
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    sent.end(bytes);
    const { status, text } = await promise;
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
    if (status >= 500 && tally.faults.length < 5) tally.faults.push(`${status} ${path}: ${text.slice(0, 300)}`);
    return { status, text };
  };
}
