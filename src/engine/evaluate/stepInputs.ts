// What the steps of a plan are computed from: the columns of other steps, bars, and the store that keeps columns.
import type { Bars, Market } from '../bars/bars.ts';
import type { RunCalendar } from '../bars/runCalendar.ts';
import type { OperandColumns } from '../definitions/expressions/planSteps.ts';
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';
import type { Frame, Plan, Slot, Step } from '../plan/plan.ts';
import type { ColumnStore } from './columnStore.ts';
import type { ComparedSides } from './leafConditions.ts';

export interface StepInputs {
  readonly plan: Plan;
  readonly market: Pick<Market, 'instrument'>;
  readonly store: ColumnStore;
  value(slot: Slot): ValueColumn;
  condition(slot: Slot): ConditionColumn;
  /** The number of a constant step, which therefore needs no column; undefined for any other step. */
  numberAt(slot: Slot): number | undefined;
  /**
   * Bits of the two columns of a step, shared by steps with the same two; null: there are many rows, or a side is a
   * number.
   */
  compareSides(step: Step): ComparedSides | null;
  barsOf(step: Step): Bars;
  /** The calendar of the step's bars. */
  calendarOf(step: Step): RunCalendar;
  /** For each bar of the step's frame, the row it reads in the frame it aligns from. */
  rowsOf(step: Step & { readonly from: Frame }): Int32Array;
  /** Whether the store has the column of another step, by its key. */
  isKept(key: string): boolean;
  /** Keeps a column that was computed on the way, where its own step finds it. */
  keep(key: string, column: ValueColumn | ConditionColumn): void;
  /** Throws RunStopped once the run is to stop. */
  readonly poll: () => void;
}

/** The column of an operand on the bars of `step`; a constant is repeated on every row. */
export function operandOf(slot: Slot, step: Step, inputs: StepInputs): ValueColumn {
  const number = inputs.numberAt(slot);
  if (number === undefined) return inputs.value(slot);
  const length = inputs.barsOf(step).length;
  const isMissing = number !== number;
  return { values: new Float64Array(length).fill(number), firstValid: isMissing ? length : 0, hasHoles: false };
}

/** The operands of a step whose operation belongs to one kind. */
export function operandsOf(step: Step, inputs: StepInputs): OperandColumns {
  const bars = inputs.barsOf(step);
  return {
    values: (operand) => operandOf(step.inputs[operand], step, inputs).values,
    truths: (operand) => inputs.condition(step.inputs[operand]),
    count: step.inputs.length,
    times: bars.time,
    timeframe: bars.timeframe,
    instrument: inputs.market.instrument,
    calendar: inputs.calendarOf(step),
    rows: bars.length,
  };
}
