// Steps that give a value per bar: how the column of each is computed, over columns that may have missing values.
import { runnableValueKind } from '../definitions/expressions/expressionRegistry.ts';
import { applyMath } from '../kernels/arithmetic.ts';
import { inspect, inspectMade } from '../kernels/column.ts';
import type { ValueColumn } from '../kernels/column.ts';
import { gather, shiftValues } from '../kernels/history.ts';
import type { ValueStep } from '../plan/plan.ts';
import { patternColumn } from './patternColumns.ts';
import { rollingKernel } from '../definitions/expressions/rollingKernel.ts';
import { operandOf, operandsOf } from './stepInputs.ts';
import type { StepInputs } from './stepInputs.ts';
import type { ColumnStore } from './columnStore.ts';
import type { Bars } from '../bars/bars.ts';

/**
 * Computes the column of a value step: one number per bar of the step's frame, NaN where it is missing.
 * @throws RunStopped inside indicators and windows that take long
 */
export function valueColumn(step: ValueStep, columns: StepInputs): ValueColumn {
  const bars = columns.barsOf(step);
  const n = bars.length;
  const { inputs } = step;
  switch (step.op) {
    case 'const':
      return operandOf(step.slot, step, columns);
    case 'field':
      return fieldColumn(bars, step.field, columns.store);
    case 'series': {
      const values = bars.series.get(step.name);
      return values ? inspect(values) : { values: new Float64Array(n).fill(NaN), firstValid: n, hasHoles: false };
    }
    case 'indicator':
      return indicatorColumn(step, columns);
    case 'pattern':
      return patternColumn(step, step, columns);
    case 'math': {
      const out = columns.store.allocate(n);
      applyMath(
        step.math,
        inputs.map((slot) => columns.numberAt(slot) ?? columns.value(slot).values),
        out,
      );
      return inspect(out);
    }
    case 'rolling':
      return overPresent([operandOf(inputs[0], step, columns)], 1, n, columns.store, ([source], [out]) => {
        out.fill(NaN);
        rollingKernel(step, source, out, columns.poll);
      })[0];
    case 'shift': {
      const out = columns.store.allocate(n);
      const source = columns.value(inputs[0]);
      shiftValues(source.values, step.by, out);
      return { values: out, firstValid: Math.min(n, source.firstValid + step.by), hasHoles: source.hasHoles };
    }
    case 'align': {
      const out = columns.store.allocate(n);
      gather(columns.value(inputs[0]).values, columns.rowsOf(step), out);
      return inspect(out);
    }
    default: {
      const out = columns.store.allocate(n);
      runnableValueKind({ kind: step.op }).operation!.column(step, operandsOf(step, columns), out);
      return inspect(out);
    }
  }
}

/** One call computes every output. The other outputs go to the store, where their own steps find them. */
function indicatorColumn(step: ValueStep & { op: 'indicator' }, columns: StepInputs): ValueColumn {
  const { definition, args } = step;
  const n = columns.barsOf(step).length;
  const inputs = step.inputs.map((slot) => operandOf(slot, step, columns));
  const outputs = overPresent(inputs, definition.outputs.length, n, columns.store, (dense, outs) => {
    const lookback = Math.min(dense[0].length, definition.lookback(args));
    for (const out of outs) out.fill(NaN, 0, lookback);
    if (lookback < dense[0].length) definition.compute(dense, args, outs, columns.poll);
  });
  const suffix = step.key.slice(step.key.indexOf('['));
  outputs.forEach((column, output) => {
    const key = `${step.call}.${definition.outputs[output].name}${suffix}`;
    if (output !== step.output && step.key.startsWith(step.call)) columns.keep(key, column);
  });
  return outputs[step.output];
}

/**
 * Runs a kernel over the rows on which every input is present (semantics §1.3). Without holes, the kernel gets views
 * from the first such row on. With holes, the present rows are copied together, and the results copied back.
 */
function overPresent(
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

/** A column of the bars; null: the field is computed from several. */
function rawField(bars: Bars, field: string): Float64Array | null {
  switch (field) {
    case 'open':
    case 'high':
    case 'low':
    case 'close':
    case 'volume':
    case 'time':
      return bars[field];
    default:
      return null;
  }
}

/** The column of a market field: a view of the bars, or a computed average of several prices (hl2, hlc3, ohlc4). */
function fieldColumn(bars: Bars, field: string, store: ColumnStore): ValueColumn {
  const { open, high, low, close } = bars;
  const whole = (values: Float64Array): ValueColumn => ({ values, firstValid: 0, hasHoles: false });
  const raw = rawField(bars, field);
  if (raw !== null) return whole(raw);
  const out = store.allocate(bars.length);
  if (field === 'hl2') for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row]) / 2;
  else if (field === 'hlc3')
    for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row] + close[row]) / 3;
  else for (let row = 0; row < out.length; row++) out[row] = (open[row] + high[row] + low[row] + close[row]) / 4;
  return whole(out);
}
