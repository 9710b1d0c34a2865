// Running one indicator in a test as the compiler does: NaN before the lookback, nothing else promised.
import { resolveArgs } from '../../src/engine/indicators/arguments.ts';
import type { Args, IndicatorDefinition } from '../../src/engine/indicators/definition.ts';

export function computeIndicator(
  indicator: IndicatorDefinition,
  args: Args,
  inputs: readonly Float64Array[],
): readonly Float64Array[] {
  const length = inputs[0].length;
  const outputs = indicator.outputs.map(() => new Float64Array(length).fill(NaN));
  if (indicator.lookback(args) < length) indicator.compute(inputs, args, outputs);
  return outputs;
}

/** All args of the indicator, `given` over the defaults. */
export function argsOf(indicator: IndicatorDefinition, given: Args = {}): Args {
  const { args, issues } = resolveArgs(indicator, given);
  if (issues.length > 0) throw new Error(`${indicator.id}: ${issues[0].message}`);
  return args;
}
