// Kernels that expect numbers on every row, over columns with missing values.
import { inspectMade, type ValueColumn } from '../kernels/column.ts';
import type { ColumnStore } from './columnStore.ts';

/**
 * Runs a kernel over the rows on which every input is present (semantics §1.3). Without holes, the kernel gets views
 * from the first such row on. With holes, the present rows are copied together, and the results copied back.
 */
export function overPresent(
  inputs: readonly ValueColumn[],
  outputCount: number,
  n: number,
  store: ColumnStore,
  kernel: (inputs: Float64Array[], outputs: Float64Array[]) => void,
): ValueColumn[] {
  const first = inputs.reduce((latest, input) => Math.max(latest, input.firstValid), 0);
  const outputs = Array.from({ length: outputCount }, () => store.allocate(n));
  for (const out of outputs) out.fill(NaN, 0, Math.min(first, n));
  if (!inputs.some((input) => input.hasHoles)) {
    if (first < n)
      kernel(
        inputs.map((input) => input.values.subarray(first)),
        outputs.map((out) => out.subarray(first)),
      );
    return outputs.map(inspectMade);
  }
  const present: number[] = [];
  for (let row = first; row < n; row++)
    if (inputs.every(({ values }) => values[row] === values[row])) present.push(row);
  const dense = inputs.map(({ values }) => valuesOn(values, present));
  const results = outputs.map(() => new Float64Array(present.length));
  if (present.length > 0) kernel(dense, results);
  outputs.forEach((out, output) => {
    out.fill(NaN);
    for (let index = 0; index < present.length; index++) out[present[index]] = results[output][index];
  });
  return outputs.map(inspectMade);
}

function valuesOn(values: Float64Array, rows: readonly number[]): Float64Array {
  const found = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) found[at] = values[rows[at]];
  return found;
}
