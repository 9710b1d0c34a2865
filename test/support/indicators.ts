// Running one indicator in a test as the compiler does: NaN before the lookback, nothing else promised.
import { resolveArgs } from '../../src/engine/indicators/arguments.ts';
import type { ArgDefinition, Args, IndicatorDefinition } from '../../src/engine/indicators/definition.ts';

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

/** The longest length of `oneLong`: none is longer in the sum of two averages than the bars of the laws. */
const LONG = 41;
const SHORT = 3;

/**
 * For each length of an indicator, arguments in which it is long and all others are short; each also with every value
 * of every argument of choice. Whatever an indicator reads is the last to begin in one of them.
 */
export function oneLong(indicator: IndicatorDefinition): Args[] {
  const lengths = indicator.args.filter(({ type }) => type === 'int');
  const choices = indicator.args.flatMap(({ name, values = [] }) => values.map((value) => ({ [name]: value })));
  const within = (value: number, { min = value, max = value }: ArgDefinition): number =>
    Math.min(max, Math.max(min, value));
  return lengths.flatMap((long) => {
    const given = Object.fromEntries(lengths.map((arg) => [arg.name, within(arg === long ? LONG : SHORT, arg)]));
    return [{}, ...choices].map((choice) => argsOf(indicator, { ...given, ...choice }));
  });
}
