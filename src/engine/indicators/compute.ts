// One indicator over whole columns: what a caller outside a plan needs to run a definition.
import type { Args, IndicatorDefinition } from './definition.ts';

/** The part of a definition that runs; a candlestick pattern has it too. */
export type Computable = Pick<IndicatorDefinition, 'lookback' | 'compute'> & { readonly outputs: readonly unknown[] };

/**
 * The outputs, as long as the inputs, NaN where there is no value. The kernel sees only rows on which every input is
 * present; where one is missing, so is the result (semantics §1.3). `args` are resolved (`resolveArgs`).
 */
export function computeIndicator(definition: Computable, args: Args, inputs: readonly Float64Array[]): Float64Array[] {
  const n = inputs[0].length;
  const present: number[] = [];
  for (let row = 0; row < n; row++) if (inputs.every((input) => !Number.isNaN(input[row]))) present.push(row);
  const isWhole = present.length === n;
  const dense = isWhole ? inputs : inputs.map((input) => Float64Array.from(present, (row) => input[row]));
  const results = definition.outputs.map(() => new Float64Array(present.length).fill(NaN));
  if (definition.lookback(args) < present.length) definition.compute(dense, args, results);
  if (isWhole) return results;
  return results.map((result) => {
    const out = new Float64Array(n).fill(NaN);
    present.forEach((row, index) => (out[row] = result[index]));
    return out;
  });
}
