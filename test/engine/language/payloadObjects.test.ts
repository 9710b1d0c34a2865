// Walking payloads: `meta` is the author's own, and no list is too long.
import { expect, it } from 'vitest';
import { foreignSeries } from '../../../src/engine/language/canonical/foreignSeries.ts';
import { visitObjects } from '../../../src/engine/language/grammar/payloadObjects.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { estimateRunBytes } from '../../../src/engine/pool/memory.ts';
import { configOf, dailySnapshot, STRATEGY } from '../../support/runs.ts';

/** Spreading this many values into one call overflows the stack. */
const MANY = 500_000;
const withMeta = (meta: object) => ({ ...STRATEGY, strategy: { ...STRATEGY.strategy, meta } }) as typeof STRATEGY;

it('visits every object outside meta, however long a list is', () => {
  const kinds: unknown[] = [];
  const node = (kind: string, rest: object = {}) => ({ kind, ...rest });
  const items = Array.from({ length: MANY }, () => node('leaf'));
  visitObjects(node('all', { items, meta: node('hidden'), item: node('not') }), ({ kind }) => kinds.push(kind));
  expect(kinds.length).toBe(MANY + 2);
  expect(new Set(kinds)).toEqual(new Set(['all', 'leaf', 'not']));
});

it('estimates the memory of a strategy whose meta holds a long list', () => {
  const snapshots = [dailySnapshot(100)];
  const estimate = (strategyAst: StrategyAst) =>
    estimateRunBytes({ strategyAst, settings: {}, config: configOf() }, snapshots);
  expect(estimate(withMeta({ a: Array.from({ length: MANY }, () => 1) }))).toBe(estimate(STRATEGY));
});

it('reads no series of other instruments from meta, and is not stopped by its length', () => {
  const meta = { a: Array.from({ length: MANY }, () => 1), kind: 'market', instrument: { symbol: 'OTHER' } };
  expect(foreignSeries(withMeta(meta), 'SPX', '1d')).toEqual([]);
  const own = { kind: 'market', instrument: { symbol: 'IBM' }, timeframe: '1h' };
  expect(foreignSeries({ ...withMeta(meta), extra: [own] }, 'SPX', '1d')).toEqual([{ symbol: 'IBM', timeframe: '1h' }]);
});
