// A compiled plan over the bars: computes every column of a strategy, with an empty cache.
import { Bench } from 'tinybench';
import { EvaluatedPlan } from '../src/engine/evaluate/evaluatePlan.ts';
import { ColumnStore } from '../src/engine/evaluate/columnStore.ts';
import { prepareStrategy } from '../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../src/engine/plan/compile.ts';
import { bindRules } from '../src/engine/evaluate/bindRules.ts';
import { resolveConfig } from '../src/engine/config.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { hotRounds, isShort, measure, needs, onDemand } from './measure.ts';
import { SYMBOL, walkMarket } from './walk.ts';

const STORE_BYTES = 1024 ** 3;

export function suite(counts: readonly number[] = isShort ? [10_000] : [10_000, 1_000_000]): Bench {
  const bench = new Bench(hotRounds(10));
  for (const count of counts) {
    const market = onDemand(() => walkMarket(count));
    for (const name of Object.keys(PAYLOADS)) {
      const task = taskOf(name);
      const config = resolveConfig(task.config);
      const prepared = prepareStrategy(task.strategyAst, task.settings, config, { timeframe: config.timeframe });
      if (!prepared.ok) throw new Error(`${name} cannot be prepared.`);
      const plan = compilePlan(
        prepared.strategy,
        { symbol: SYMBOL, timeframe: config.timeframe },
        { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: true },
      );
      // Columns are computed when they are first read; the bound rules read what the strategy reads.
      bench.add(
        `evaluate/${name}/${count}`,
        () => bindRules(prepared.strategy, new EvaluatedPlan(plan, market(), new ColumnStore(STORE_BYTES)), true),
        needs(market),
      );
    }
  }
  return bench;
}

if (import.meta.main) await measure(suite());
