// Evaluation: the steps of a plan over the columns of a market, each computed once, on demand.
import type { ConditionStep, Frame, Plan, Slot, Step, ValueStep } from '../plan/plan.ts';
import { alignRows } from '../bars/align.ts';
import type { Bars, Market } from '../bars/bars.ts';
import { inspect, inspectMade, type ConditionColumn, type ValueColumn } from '../kernels/column.ts';
import { NOTHING_UNKNOWN, wordCount } from '../kernels/bits.ts';
import { ComparedAverages } from './comparedAverages.ts';
import { fieldColumn, rawField } from './fieldColumns.ts';
import { compareColumns, crossColumns, crossOf, movingColumn } from './leafConditions.ts';
import { barsSince, capture, choose, gather, pivot, shiftValues, valueWhen } from '../kernels/history.ts';
import { invert, trimUnknown } from '../kernels/compare.ts';
import { and, or, rollingWindow, sequence, stateMachine, withinRows } from '../kernels/logic.ts';
import { applyMath } from '../kernels/arithmetic.ts';
import { rollingKernel } from './rollingKernel.ts';
import { timeField, timeWindow } from './clock.ts';
import type { RunControl } from '../task.ts';
import type { ColumnStore } from './columnStore.ts';
import {
  isPattern,
  patternSide,
  patternSides,
  patternValues,
  type PatternSideStep,
  type PatternStep,
} from './patternColumns.ts';
import { localTimes } from '../bars/timeZones.ts';

/** Thrown between the steps of a plan, and inside long ones, when the run is told to stop. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** The columns of a plan on one market. A column is computed when it is first read, and then kept. */
export class EvaluatedPlan {
  readonly plan: Plan;
  readonly market: Market;
  readonly #store: ColumnStore;
  readonly #columns: (ValueColumn | ConditionColumn | undefined)[];
  readonly #averages: ComparedAverages;
  readonly #bars = new Map<string, Bars>();
  /** Throws RunStopped once the run is told to stop. */
  readonly #poll: () => void;
  /**
   * Identifies the bars that the plan reads and the owner, so that a key of the store never stands for two snapshots,
   * nor for two workspaces.
   */
  readonly #fingerprint: string;

  /**
   * @param control is asked before every step; null: the run is not stopped
   * @param owner shares columns with its own runs only: how long a run takes must not tell what others have computed
   * @throws Error when a frame of the plan has no bars; callers check `missingFrames` first.
   */
  constructor(
    plan: Plan,
    market: Market,
    store: ColumnStore,
    control: Pick<RunControl, 'isCancelled'> | null = null,
    owner = '',
  ) {
    this.plan = plan;
    this.market = market;
    this.#store = store;
    this.#poll = () => {
      if (control?.isCancelled()) throw new RunStopped('The run was stopped.');
    };
    this.#columns = new Array(plan.steps.length);
    for (const frame of [plan.base, ...plan.frames]) this.#bars.set(frameKey(frame), barsOf(market, frame));
    const bars = [...this.#bars].map(([key, bars]) => `${key}#${bars.sha256}#${bars.length}`).join('|');
    this.#fingerprint = store.shortNameOf(`${owner}|${bars}`);
    this.#averages = new ComparedAverages(plan, market.base.length, (field) => rawField(market.base, field));
  }

  value(slot: Slot): ValueColumn {
    const column = this.#column(slot);
    if (!('values' in column)) throw new Error(`Step ${slot} makes a condition, not a value.`);
    return column;
  }

  condition(slot: Slot): ConditionColumn {
    const column = this.#column(slot);
    if ('values' in column) throw new Error(`Step ${slot} makes a value, not a condition.`);
    return column;
  }

  /** The number of a constant step, which therefore needs no column; undefined for any other step. */
  numberAt(slot: Slot): number | undefined {
    const step = this.plan.steps[slot];
    return step.type === 'value' && step.op === 'const' ? step.value : undefined;
  }

  /** Writes the values of some rows, in a loop of its own: each waits for memory, and the next ones with it. */
  readRows(slot: Slot, rows: Int32Array, out: Float64Array): void {
    const number = this.numberAt(slot);
    if (number !== undefined) {
      out.fill(number, 0, rows.length);
      return;
    }
    if (this.#columns[slot] === undefined && this.#averages.read(slot, rows, out)) return;
    const { values } = this.value(slot);
    for (let at = 0; at < rows.length; at++) out[at] = values[rows[at]];
  }

  /** The column of a step; null: it has none, and `readRows` reads its rows. */
  columnAt(slot: Slot): ValueColumn | null {
    if (this.numberAt(slot) !== undefined) return null;
    return this.#columns[slot] === undefined && this.#averages.isExact(slot) ? null : this.value(slot);
  }

  #keyOf(slot: Slot): string {
    return `${this.#fingerprint}|${this.plan.steps[slot].key}`;
  }

  #column(slot: Slot): ValueColumn | ConditionColumn {
    const known = this.#columns[slot];
    if (known) return known;
    const step = this.plan.steps[slot];
    const key = this.#keyOf(slot);
    let column = this.#store.get(key);
    if (!column) {
      this.#poll();
      column = step.type === 'value' ? this.#makeValue(step) : this.#makeCondition(step);
      // A raw field is a view of the bars, and a constant is cheap to make again.
      if (!(step.type === 'value' && (step.op === 'field' || step.op === 'const'))) this.#store.set(key, column);
    }
    this.#columns[slot] = column;
    return column;
  }

  #barsOf(step: Step): Bars {
    return this.#bars.get(frameKey(step.frame))!;
  }

  /** The column of an operand on the bars of `step`; a constant is repeated on every row. */
  #operand(slot: Slot, step: Step): ValueColumn {
    const number = this.numberAt(slot);
    if (number === undefined) return this.value(slot);
    const length = this.#barsOf(step).length;
    const isMissing = number !== number;
    return { values: new Float64Array(length).fill(number), firstValid: isMissing ? length : 0, hasHoles: false };
  }

  #makeValue(step: ValueStep): ValueColumn {
    const bars = this.#barsOf(step);
    const n = bars.length;
    const { inputs } = step;
    switch (step.op) {
      case 'const':
        return this.#operand(step.slot, step);
      case 'field':
        return fieldColumn(bars, step.field, this.#store);
      case 'series': {
        const values = bars.series.get(step.name);
        return values ? inspect(values) : { values: new Float64Array(n).fill(NaN), firstValid: n, hasHoles: false };
      }
      case 'indicator':
        return this.#indicator(step);
      case 'pattern':
        return this.#patterns(step, step) as ValueColumn;
      case 'math': {
        const out = this.#store.allocate(n);
        applyMath(
          step.math,
          inputs.map((slot) => this.numberAt(slot) ?? this.value(slot).values),
          out,
        );
        return inspect(out);
      }
      case 'rolling':
        return overPresent([this.#operand(inputs[0], step)], 1, n, this.#store, ([source], [out]) => {
          out.fill(NaN);
          rollingKernel(step, source, out, this.#poll);
        })[0];
      case 'shift': {
        const out = this.#store.allocate(n);
        const source = this.value(inputs[0]);
        shiftValues(source.values, step.by, out);
        return { values: out, firstValid: Math.min(n, source.firstValid + step.by), hasHoles: source.hasHoles };
      }
      case 'align': {
        const out = this.#store.allocate(n);
        gather(this.value(inputs[0]).values, this.#rows(step), out);
        return inspect(out);
      }
      case 'if':
      case 'bars_since':
      case 'value_when':
      case 'capture':
      case 'pivot':
      case 'time':
        return this.#makeHistory(step, bars);
    }
  }

  #makeHistory(
    step: ValueStep & { op: 'if' | 'bars_since' | 'value_when' | 'capture' | 'pivot' | 'time' },
    bars: Bars,
  ): ValueColumn {
    const out = this.#store.allocate(bars.length);
    const [first, second, third] = step.inputs;
    switch (step.op) {
      case 'if':
        choose(this.condition(first), this.#operand(second, step).values, this.#operand(third, step).values, out);
        break;
      case 'bars_since':
        barsSince(this.condition(first), out);
        break;
      case 'value_when':
        valueWhen(this.#operand(first, step).values, this.condition(second), step.occurrence, out);
        break;
      case 'capture':
        capture(this.#operand(first, step).values, this.condition(second), out);
        break;
      case 'pivot':
        pivot(this.value(first).values, step.pivotKind, step.left, step.right, step.occurrence, out);
        break;
      case 'time': {
        const local = localTimes(bars.time, step.timezone);
        for (let row = 0; row < out.length; row++) out[row] = timeField(local[row], step.field);
        break;
      }
    }
    return inspect(out);
  }

  /** One call computes every output. The other outputs go to the store, where their own steps find them. */
  #indicator(step: ValueStep & { op: 'indicator' }): ValueColumn {
    const { definition, args } = step;
    const n = this.#barsOf(step).length;
    const inputs = step.inputs.map((slot) => this.#operand(slot, step));
    const outputs = overPresent(inputs, definition.outputs.length, n, this.#store, (dense, outs) => {
      const lookback = Math.min(dense[0].length, definition.lookback(args));
      for (const out of outs) out.fill(NaN, 0, lookback);
      if (lookback < dense[0].length) definition.compute(dense, args, outs, this.#poll);
    });
    const suffix = step.key.slice(step.key.indexOf('['));
    outputs.forEach((column, output) => {
      const key = `${this.#fingerprint}|${step.call}.${definition.outputs[output].name}${suffix}`;
      if (output !== step.output && step.key.startsWith(step.call)) this.#store.set(key, column);
    });
    return outputs[step.output];
  }

  /** One call computes every pattern of these bars. The others go to the store, where their own steps find them. */
  #patterns(step: PatternStep | PatternSideStep, pattern: PatternStep): ValueColumn | ConditionColumn {
    const [open, high, low, close] = pattern.inputs.map((slot) => this.value(slot).values);
    const isMissing = (other: Step): boolean => this.#store.get(`${this.#fingerprint}|${other.key}`) === undefined;
    const make = step.type === 'value' ? patternValues : patternSides;
    const made = make({ open, high, low, close }, this.plan.steps, pattern, step, isMissing, this.#store);
    for (const [other, column] of made)
      if (other !== step) this.#store.set(`${this.#fingerprint}|${other.key}`, column);
    return made.get(step)!;
  }

  #makeCondition(step: ConditionStep): ConditionColumn {
    const n = this.#barsOf(step).length;
    const out = new Uint32Array(wordCount(n));
    const { inputs } = step;
    switch (step.op) {
      case 'compare': {
        const averages = this.#compareAverages(inputs);
        if (averages !== null && step.compare === 'gt') return averages.greater;
        if (averages !== null && step.compare === 'lt') return averages.less;
        return compareColumns(step.compare, this.#side(inputs[0]), this.#side(inputs[1]), step.tolerance, n, out);
      }
      case 'cross': {
        const averages = this.#compareAverages(inputs);
        if (averages !== null)
          return crossOf(
            step.direction,
            () => averages.greater,
            () => averages.less,
            n,
            out,
          );
        return crossColumns(step.direction, this.#side(inputs[0]), this.#side(inputs[1]), n, out);
      }
      case 'moving':
        return movingColumn(step.direction, this.#operand(inputs[0], step), step.bars, n, out);
      case 'pattern_side': {
        const pattern = this.plan.steps[inputs[0]];
        if (isPattern(pattern)) return this.#patterns(step, pattern) as ConditionColumn;
        return patternSide(step.side, this.value(inputs[0]), n, out);
      }
      case 'within':
        return withinRows(this.condition(inputs[0]), step.window, n);
      case 'all':
        return and(
          inputs.map((slot) => this.condition(slot)),
          out,
        );
      case 'any':
        return or(
          inputs.map((slot) => this.condition(slot)),
          out,
        );
      case 'not':
        return invert(this.condition(inputs[0]), n, out);
      case 'align_condition':
        return gatherCondition(this.condition(inputs[0]), this.#rows(step), out);
      case 'time_window':
        timeWindow(localTimes(this.#barsOf(step).time, step.timezone), step.window, out);
        return { isTrue: out, isUnknown: NOTHING_UNKNOWN };
      case 'sequence':
        return sequence(
          step.steps.map((bounds, index) => ({ ...bounds, column: this.condition(inputs[index]) })),
          n,
        );
      case 'rolling_window':
        return rollingWindow(this.condition(inputs[0]), step.window, step.mode, step.value, n);
      case 'state_machine': {
        const reset = step.hasReset ? this.condition(inputs[1]) : null;
        return stateMachine(this.condition(inputs[0]), reset, step.ttlBars, step.conflictPolicy, n);
      }
    }
  }

  /** Without their columns; null where those are needed, or there from an earlier run. */
  #compareAverages(sides: readonly Slot[]): ReturnType<ComparedAverages['compare']> {
    const isMade = (slot: Slot): boolean =>
      this.#columns[slot] !== undefined || this.#store.get(this.#keyOf(slot)) !== undefined;
    return this.#averages.isEmpty || sides.some(isMade) ? null : this.#averages.compare(sides);
  }

  #side(slot: Slot): ValueColumn | number {
    return this.numberAt(slot) ?? this.value(slot);
  }

  /** For each bar of the step's frame, the row it reads in the frame it aligns from. */
  #rows(step: Step & { readonly from: Frame }): Int32Array {
    return alignedRows(this.#barsOf(step), this.#bars.get(frameKey(step.from))!);
  }
}

const frameKey = (frame: Frame): string => `${frame.symbol}:${frame.timeframe}`;

const barsFor = (market: Market, frame: Frame): Bars | undefined =>
  frame.symbol === market.base.symbol && frame.timeframe === market.base.timeframe
    ? market.base
    : market.bars(frame.symbol, frame.timeframe);

function barsOf(market: Market, frame: Frame): Bars {
  const bars = barsFor(market, frame);
  if (!bars) throw new Error(`The market has no bars for ${frameKey(frame)}.`);
  return bars;
}

/** The frames of a plan that a market cannot serve. */
export const missingFrames = (plan: Plan, market: Market): Frame[] =>
  plan.frames.filter((frame) => !barsFor(market, frame));

const alignments = new WeakMap<Bars, WeakMap<Bars, Int32Array>>();

/** `alignRows`, computed once per pair of series. */
function alignedRows(base: Bars, other: Bars): Int32Array {
  let ofBase = alignments.get(base);
  if (!ofBase) alignments.set(base, (ofBase = new WeakMap()));
  let rows = ofBase.get(other);
  if (!rows) ofBase.set(other, (rows = alignRows(base, other)));
  return rows;
}

/**
 * Runs a kernel over the rows on which every input is present (semantics §1.3). Without holes, that is a view from the
 * first such row on. With holes, the present rows are copied together, and the results are written back to their rows.
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
  const dense = inputs.map(({ values }) => Float64Array.from(present, (row) => values[row]));
  const results = outputs.map(() => new Float64Array(present.length));
  if (present.length > 0) kernel(dense, results);
  outputs.forEach((out, output) => {
    out.fill(NaN);
    for (let index = 0; index < present.length; index++) out[present[index]] = results[output][index];
  });
  return outputs.map(inspectMade);
}

function gatherCondition(column: ConditionColumn, rows: Int32Array, out: Uint32Array): ConditionColumn {
  const unknown = new Uint32Array(out.length);
  for (let row = 0; row < rows.length; row++) {
    const from = rows[row];
    const bit = 1 << (row & 31);
    if (from < 0 || (from >>> 5 < column.isUnknown.length && (column.isUnknown[from >>> 5] >>> (from & 31)) & 1))
      unknown[row >>> 5] |= bit;
    else if ((column.isTrue[from >>> 5] >>> (from & 31)) & 1) out[row >>> 5] |= bit;
  }
  return { isTrue: out, isUnknown: trimUnknown(unknown) };
}
