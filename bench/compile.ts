// From a payload to a plan: the cost of checking, preparing and compiling, in nanoseconds per call, without any bars;
// and that of the plan of a run which differs from others in its params, overrides or symbol.
import { Bench } from 'tinybench';
import { checkStrategy } from '../src/engine/language/check/checkStrategy.ts';
import { prepareStrategy } from '../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../src/engine/plan/compile.ts';
import { planTask } from '../src/engine/plan/planTask.ts';
import { resolveConfig, type BacktestConfig } from '../src/engine/config.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { crossOf, PAYLOADS, taskFrom, taskOf } from './crossing.ts';
import { measure, timed, type Unit } from './measure.ts';
import { pairOf, PAIRS } from './sweep.ts';
import { SYMBOL } from './walk.ts';

const UNIT: Unit = 'call';

export function suite(): Bench {
  const bench = new Bench(timed(300));
  for (const [name, strategyAst] of Object.entries(PAYLOADS)) {
    const { strategyAst: checked, settings, config: given } = taskOf(name);
    const config = resolveConfig(given);
    const { timeframe } = config;
    const prepare = () => {
      const prepared = prepareStrategy(checked, settings, config, { timeframe });
      if (!prepared.ok) throw new Error(`${name} cannot be prepared.`);
      return prepared;
    };
    const { strategy, pointerOf } = prepare();
    bench.add(`compile/check: ${name}/1`, () => checkStrategy({ strategyAst, settings: {} }));
    bench.add(`compile/prepare: ${name}/1`, prepare);
    bench.add(`compile/plan: ${name}/1`, () =>
      compilePlan(
        strategy,
        { symbol: SYMBOL, timeframe },
        { pointerOf, slippageAtrPeriod: null, recordsConditions: true },
      ),
    );
  }
  const variants = { params: variantsByParams(), overrides: variantsByOverrides(), symbol: variantsBySymbol() };
  for (const [name, planNext] of Object.entries(variants)) bench.add(`compile/variant by ${name}/1`, planNext);
  return bench;
}

function variantsByParams(): () => void {
  const task = taskFrom('pairs', PAIRS);
  return variantsOf(task, (run) => ({ params: pairOf(run) }));
}

function variantsByOverrides(): () => void {
  return variantsOf(crossOf(10, 30), (run) => {
    const { fast, slow } = pairOf(run);
    const places = ['/strategy/entry/trigger', '/strategy/exits/0/when'];
    const sides = places.flatMap((place) => [
      [`${place}/left/args/length`, fast],
      [`${place}/right/args/length`, slow],
    ]);
    return { overrides: Object.fromEntries(sides) as Record<string, number> };
  });
}

/** More symbols than plans are kept for. */
const variantsBySymbol = () => variantsOf(crossOf(10, 30), (run) => ({ signalInstrument: { symbol: `S${run % 50}` } }));

/** Plans one more run of a task. */
function variantsOf(task: BacktestTask, changeOf: (run: number) => Partial<BacktestConfig>): () => void {
  let run = 0;
  return () => {
    const planned = planTask(task, resolveConfig({ ...task.config, ...changeOf(run++) }), true);
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues));
  };
}

if (import.meta.main) await measure(suite(), UNIT);
