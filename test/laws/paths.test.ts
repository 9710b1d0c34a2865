// Every path that an answer names leads somewhere in the payload as the author sent it, and overrides accept it back.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  checkStrategy,
  createMarket,
  explainStrategy,
  prepareStrategy,
  runBacktest,
  type BacktestConfig,
  type Market,
  type SignalGraph,
  type StrategyAst,
} from '../../src/engine/index.ts';
import { parsePointer, pointerTo } from '../../src/engine/language/pointer.ts';
import { resolveSpace } from '../../src/engine/sweep/resolveSpace.ts';
import { shippedData } from '../support/shippedData.ts';
import { graphOf } from '../support/graphs.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary } from '../support/strategies.ts';

const SEED = 20_261_122;
const limits = { entryConditions: 1e6, exitConditions: 1e6, exits: 1e6, nodes: 1e6, depth: 1e6 };
const DAY_MS = 86_400_000;
let market: Market;

beforeAll(async () => {
  const data = await shippedData();
  const [goog, msft] = await Promise.all([data.snapshots('GOOG', '1d'), data.snapshots('MSFT', '1d')]);
  market = createMarket([...goog, ...msft], 'GOOG', '1d');
});

type Payload = { readonly strategyAst: StrategyAst } | { readonly signalGraph: SignalGraph };
const configOf = (): BacktestConfig => ({
  timeframe: '1d',
  signalInstrument: { symbol: 'GOOG' },
  initialBalance: 10_000,
  range: { start: market.base.time[0], end: market.base.time[0] + 400 * DAY_MS },
});

/** As it is sent and stored: JSON, in which nothing is shared. */
const written = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** One entry as the object itself, several as a list: both forms that authors write. */
const strategies = strategyArbitrary({ symbols: ['MSFT'], depth: 3, price: { min: 100, max: 800 } });
const payloads: fc.Arbitrary<Payload> = fc
  .tuple(strategies, fc.boolean())
  .map(([ast, isGraph]) => (isGraph ? { signalGraph: written(graphOf(ast)) } : { strategyAst: written(ast) }));

function taskOf(payload: Payload, overrides?: Readonly<Record<string, number>>) {
  const { compiled, issues } = checkStrategy({ settings: {}, ...payload }, { limits });
  if (compiled === null) throw new Error(JSON.stringify(issues));
  const config = { ...configOf(), ...(overrides && { overrides }) };
  const { strategyHash } = compiled;
  const strategyAst = written(compiled.strategyAst);
  return { issues, task: { id: 'law', ...payload, strategyAst, settings: {}, strategyHash, config } };
}

/** What a pointer leads to; undefined when there is nothing. */
function resolve(payload: unknown, pointer: string): unknown {
  let found = payload;
  for (const segment of parsePointer(pointer)!) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined;
    found = Reflect.get(found, segment);
  }
  return found;
}

/** Every pointer in the texts of an answer: whole members as well as the words of messages and plans. */
function pointersIn(answer: unknown): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const [pointer] of value.matchAll(/\/(?:strategyAst|signalGraph|strategy|nodes)(?:\/[\w~-]+)*/g))
        found.add(pointer);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        walk(name);
        walk(member);
      }
    }
  };
  walk(answer);
  return found;
}

/** Pointers of every number that a run reads. */
function numbersIn(payload: Payload): Map<string, number> {
  const found = new Map<string, number>();
  const walk = (value: unknown, pointer: string): void => {
    if (typeof value === 'number') found.set(pointer, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      if (!['params', 'defaults', 'meta', 'version'].includes(name)) walk(member, pointerTo(pointer, name));
  };
  walk(payload, '');
  return found;
}

describe('paths, on generated strategies written as an AST and as a graph,', () => {
  it('lead from issues, results, warnings and plans to places of the payload as it was sent', () => {
    let named = 0;
    fc.assert(
      fc.property(payloads, (payload) => {
        const { issues, task } = taskOf(payload);
        const outcome = runBacktest(task, market, null);
        if (!outcome.ok) throw new Error(outcome.error.message);
        const explained = explainStrategy(task.strategyAst, {}, task as { signalGraph?: SignalGraph });
        const { summary, trades, warnings } = outcome;
        for (const issue of issues) {
          if (issue.path === '' || issue.path.startsWith('/settings')) continue;
          const isMissing = issue.code === 'NO_EXIT_RULE';
          const path = isMissing ? issue.path.slice(0, issue.path.lastIndexOf('/')) : issue.path;
          expect([path, resolve(payload, path) !== undefined]).toEqual([path, true]);
        }
        for (const pointer of pointersIn([summary, trades, warnings, explained])) {
          named++;
          expect([pointer, resolve(payload, pointer) !== undefined]).toEqual([pointer, true]);
        }
      }),
      { numRuns: scaled(150), seed: SEED },
    );
    expect(named).toBeGreaterThan(50);
  });

  it('of numbers are accepted by overrides, in a run and as dimensions of a sweep', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const numbers = numbersIn(payload);
        const overrides = Object.fromEntries(numbers);
        const { task } = taskOf(payload);
        const graph = 'signalGraph' in payload ? { signalGraph: payload.signalGraph } : {};
        const prepared = prepareStrategy(task.strategyAst, {}, { overrides }, graph);
        expect(prepared.ok ? [] : prepared.issues).toEqual([]);
        const space = Object.fromEntries([...numbers].map(([pointer, value]) => [pointer, { values: [value] }]));
        const resolved = resolveSpace({ space, constraints: [], method: 'grid' }, task);
        expect(resolved.ok ? [] : resolved.faults).toEqual([]);
      }),
      { numRuns: scaled(150), seed: SEED },
    );
  });

  it('change a run when an override changes the number there', () => {
    const average = { kind: 'indicator', indicator: 'sma', args: { length: 20 } };
    const above = { kind: 'cross', op: 'cross_up', left: { kind: 'market', field: 'close' }, right: average };
    const action = { side: 'long', sizing: { mode: 'percent_equity', value: 50 } };
    const strategyAst = {
      protocol: 'svc.strategy',
      version: 1,
      strategy: {
        kind: 'strategy',
        entry: { kind: 'entry', trigger: above, action },
        risk: { timeStop: { maxBars: 5 } },
      },
    } as unknown as StrategyAst;
    const runs: [Payload, string][] = [
      [{ strategyAst }, '/strategyAst/strategy/entry/trigger/right/args/length'],
      [{ signalGraph: written(graphOf(strategyAst)) }, '/signalGraph/nodes/1/args/length'],
    ];
    const results = runs.map(([payload, pointer]) => {
      expect(resolve(payload, pointer)).toBe(20);
      return [{}, { [pointer]: 5 }].map((overrides) => {
        const outcome = runBacktest(taskOf(payload, overrides).task, market, null);
        return outcome.ok ? outcome.trades.length : outcome.error;
      });
    });
    expect(results[0]).toEqual(results[1]);
    expect(results[0][0]).not.toEqual(results[0][1]);
  });
});
