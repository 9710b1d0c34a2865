import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../src/engine/language/canonical/canonical.ts';
import { checkStrategy } from '../../src/engine/language/check/checkStrategy.ts';
import { inferLookback } from '../../src/engine/language/canonical/lookback.ts';
import { lowerGraph } from '../support/lowerGraph.ts';
import { prepareStrategy } from '../../src/engine/language/prepare/prepare.ts';
import { SignalGraph } from '../../src/engine/language/grammar/graph.ts';
import { strategyHash } from '../../src/engine/language/canonical/content.ts';
import { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { graphOf } from '../support/graphs.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary } from '../support/strategies.ts';

const SEED = 20_261_121;
const runs = (count: number) => ({ numRuns: scaled(count), seed: SEED });
/** Generated strategies are larger than any tier allows; what is looked at here is their meaning. */
const limits = { entryConditions: 1e6, exitConditions: 1e6, exits: 1e6, nodes: 1e6, depth: 1e6 };
const errorsOf = (payloads: object) =>
  checkStrategy({ settings: {}, ...payloads }, { limits }).issues.filter(({ severity }) => severity === 'error');
const everything = { timeframes: ['1h', '4h', '1d'], symbols: ['OTHER'] } as const;

describe('the language, on generated strategies,', () => {
  it('accepts every strategy written by the grammar, and so does zod', () => {
    fc.assert(
      fc.property(strategyArbitrary(everything), (ast) => {
        expect(errorsOf({ strategyAst: ast })).toEqual([]);
        expect(StrategyAst.safeParse(ast).error).toBeUndefined();
      }),
      runs(2_000),
    );
  });

  it('has a canonical form that is valid, has the same hash, and is its own canonical form', () => {
    fc.assert(
      fc.property(strategyArbitrary(everything), (ast) => {
        const once = canonicalize(ast);
        expect(JSON.stringify(canonicalize(once))).toBe(JSON.stringify(once));
        expect(errorsOf({ strategyAst: once })).toEqual([]);
        expect(strategyHash(once, {})).toBe(strategyHash(ast, {}));
      }),
      runs(2_000),
    );
  });

  it('lowers a graph to the strategy it was made from, and accepts both payloads together', () => {
    fc.assert(
      fc.property(strategyArbitrary(everything), (ast) => {
        const graph = graphOf(ast);
        expect(SignalGraph.safeParse(graph).error).toBeUndefined();
        const lowered = lowerGraph(graph);
        if (!lowered.ok) throw new Error(JSON.stringify(lowered.issues));
        expect(strategyHash(lowered.strategyAst, {})).toBe(strategyHash(ast, {}));
        expect(errorsOf({ strategyAst: ast, signalGraph: graph })).toEqual([]);
      }),
      runs(2_000),
    );
  });

  it('ignores ids, labels and other names in the hash, but no number', () => {
    fc.assert(
      fc.property(strategyArbitrary(), (ast) => {
        const renamed = JSON.parse(JSON.stringify(ast), (name, value: unknown) =>
          name === 'id' ? undefined : value,
        ) as StrategyAst;
        renamed.strategy.label = 'another';
        expect(strategyHash(renamed, {})).toBe(strategyHash(ast, {}));
        const changed = structuredClone(ast);
        const entry = [changed.strategy.entry!].flat()[0];
        entry.cooldownBars = Number(entry.cooldownBars ?? 0) + 1;
        expect(strategyHash(changed, {})).not.toBe(strategyHash(ast, {}));
        expect(strategyHash(ast, { warmupPeriod: 7 })).not.toBe(strategyHash(ast, {}));
      }),
      runs(1_000),
    );
  });

  it('prepares a strategy and its canonical form to the same sections, apart from names', () => {
    fc.assert(
      fc.property(strategyArbitrary(everything), (ast) => {
        const [left, right] = [prepareStrategy(ast, {}), prepareStrategy(canonicalize(ast), {})];
        if (!left.ok || !right.ok) throw new Error('not prepared');
        expect(inferLookback(left.strategy, '1h')).toBe(inferLookback(right.strategy, '1h'));
        expect(left.strategy.risk.stopLoss?.mode).toBe(right.strategy.risk.stopLoss?.mode);
        expect(left.strategy.entries.length).toBe(right.strategy.entries.length);
      }),
      runs(1_000),
    );
  });

  it('reads back what it wrote as JSON', () => {
    fc.assert(
      fc.property(strategyArbitrary(everything), (ast) => {
        const read = JSON.parse(JSON.stringify(ast)) as StrategyAst;
        expect(strategyHash(read, {})).toBe(strategyHash(ast, {}));
      }),
      runs(500),
    );
  });
});
