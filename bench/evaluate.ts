// A compiled plan over the bars: every column of a strategy, none kept from before.
import { Bench } from 'tinybench';
import { EvaluatedPlan } from '../src/engine/columns/evaluate.ts';
import { ColumnStore } from '../src/engine/columns/store.ts';
import { prepareStrategy } from '../src/engine/language/prepare.ts';
import { compilePlan } from '../src/engine/plan/compile.ts';
import { buildProgram } from '../src/engine/plan/program.ts';
import { resolveConfig } from '../src/engine/simulate/config.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { measure, printMeasures } from './measure.ts';
import { SYMBOL, walkMarket } from './walk.ts';

const STORE_BYTES = 1024 ** 3;

export function suite(counts: readonly number[] = [10_000, 1_000_000]): Bench {
  const bench = new Bench({ iterations: 10, warmupIterations: 3, time: 0, warmupTime: 0 });
  for (const count of counts) {
    const market = walkMarket(count);
    for (const name of Object.keys(PAYLOADS)) {
      const task = taskOf(name);
      const config = resolveConfig(task.config);
      const prepared = prepareStrategy(task.strategyAst, task.settings, config, { timeframe: config.timeframe });
      if (!prepared.ok) throw new Error(`${name} cannot be prepared.`);
      const plan = compilePlan(
        prepared.strategy,
        { symbol: SYMBOL, timeframe: config.timeframe },
        { slippageAtrPeriod: null, keepRules: true },
      );
      // Columns are made when somebody reads them: the program reads what the rules read.
      bench.add(`evaluate/${name}/${count}`, () =>
        buildProgram(prepared.strategy, new EvaluatedPlan(plan, market, new ColumnStore(STORE_BYTES)), true),
      );
    }
  }
  return bench;
}

if (import.meta.main) printMeasures(await measure(suite()));
