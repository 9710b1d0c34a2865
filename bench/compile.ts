// From a payload to a plan: the cost of checking, preparing and compiling, in nanoseconds per call, without any bars.
import { checkStrategy } from '../src/engine/language/check/checkStrategy.ts';
import { prepareStrategy } from '../src/engine/language/canonical/prepare.ts';
import { compilePlan } from '../src/engine/plan/compile.ts';
import { resolveConfig } from '../src/engine/config.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { measure, timed, type Unit } from './measure.ts';
import { PacedBench } from './pace.ts';
import { SYMBOL } from './walk.ts';

export const UNIT: Unit = 'call';

export function suite(): PacedBench {
  const bench = new PacedBench(timed(300));
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
  return bench;
}

if (import.meta.main) await measure(suite(), UNIT);
