// Steps of a plan as the definitions of kinds write them: operations that several kinds share, and the compiler's part.
import type { Instrument, Timeframe } from '../../bars/bars.ts';
import type { RunCalendar } from '../../bars/runCalendar.ts';
import type { Args, IndicatorDefinition } from '../../indicators/definition.ts';
import type { MathOp } from '../../kernels/arithmetic.ts';
import type { ConditionColumn } from '../../kernels/column.ts';
import type { PatternDefinition } from '../../patterns/patternDefinition.ts';
import type { canonicalField, CompareOp, MARKET_FIELDS, ROLLING_OPS } from '../words.ts';
import type { ClockWindow } from './clock.ts';
import type { Child, ConditionChild, ValueChild } from './places.ts';

/** The index of a step and of its column. */
export type Slot = number;

/** The bars that a column belongs to: one value per bar. */
export interface Frame {
  /** null: the run's own instrument, so that one plan serves every instrument that the strategy does not name. */
  readonly symbol: string | null;
  readonly timeframe: Timeframe;
}

/** A market field by its canonical name. */
export type MarketField = ReturnType<typeof canonicalField<(typeof MARKET_FIELDS)[number]>>;

/** Operations that give a value and are not a kind's own. Their operands are the `inputs` of the step, in order. */
export type SharedValueOperation =
  | { readonly op: 'const'; readonly value: number }
  | { readonly op: 'field'; readonly field: MarketField | 'time' }
  | { readonly op: 'series'; readonly name: string }
  | {
      readonly op: 'indicator';
      readonly definition: IndicatorDefinition;
      readonly args: Args;
      readonly output: number;
      readonly call: string;
    }
  | { readonly op: 'pattern'; readonly definition: PatternDefinition; readonly args: Args }
  | { readonly op: 'math'; readonly math: MathOp }
  | {
      readonly op: 'rolling';
      readonly rolling: (typeof ROLLING_OPS)[number];
      readonly period: number;
      readonly quantile: number;
    }
  | { readonly op: 'shift'; readonly by: number }
  | { readonly op: 'align'; readonly from: Frame };

/** Operations that give true, false or unknown and are not a kind's own. */
export type SharedConditionOperation =
  | { readonly op: 'compare'; readonly compare: CompareOp; readonly tolerance: number }
  | { readonly op: 'cross'; readonly direction: 'up' | 'down' | 'any' }
  | { readonly op: 'moving'; readonly direction: 'rising' | 'falling'; readonly bars: number }
  | { readonly op: 'pattern_side'; readonly side: 'bullish' | 'bearish' | 'any' }
  | { readonly op: 'within'; readonly window: number }
  | { readonly op: 'all' }
  | { readonly op: 'any' }
  | { readonly op: 'not' }
  | { readonly op: 'align_condition'; readonly from: Frame }
  | { readonly op: 'time_window'; readonly window: ClockWindow; readonly timezone: string };

/** Any operation: a shared one, or one that the kind defines itself. */
interface Operation {
  readonly op: string;
}

/** Adds steps to a plan; equal steps are one. */
interface StepBuilder {
  value(operation: Operation, inputs: readonly Slot[], frame: Frame): Slot;
  condition(operation: Operation, inputs: readonly Slot[], frame: Frame): Slot;
  constant(value: number): Slot;
  /** The number that a slot has on every row; undefined for a column. */
  numberAt(slot: Slot): number | undefined;
  /** Arithmetic, folded to a constant where every operand is a number. */
  math(math: MathOp, inputs: readonly Slot[], frame: Frame): Slot;
  shift(slot: Slot, by: number): Slot;
  /** The column as it is known at the close of the bars of `frame`. */
  align(slot: Slot, frame: Frame): Slot;
  alignCondition(slot: Slot, frame: Frame): Slot;
  /** The frame that all of these columns share, ignoring constants; undefined when there is none. */
  commonFrame(slots: readonly Slot[]): Frame | undefined;
}

/** What the step of a node is compiled with. `ambient` is the frame of the bars around the node. */
export interface StepCompiler {
  readonly builder: StepBuilder;
  /** The strategy's. */
  readonly timezone: string;
  /** The value on its own frame. */
  value(child: ValueChild, ambient: Frame): Slot;
  /** The value as it is known on the bars of `ambient`. */
  valueOn(child: ValueChild, ambient: Frame): Slot;
  condition(child: ConditionChild, ambient: Frame): Slot;
  isCondition(child: Child): child is ConditionChild;
  /** The frame that a node names, or else the one around it. */
  placed(
    node: { readonly timeframe?: Timeframe; readonly instrument?: { readonly symbol: string } },
    ambient: Frame,
  ): Frame;
}

/** True on any of the last `window` bars of `ambient`. */
export function withinBars({ builder }: StepCompiler, slot: Slot, window: number, ambient: Frame): Slot {
  if (window === 1) return slot;
  const operation: SharedConditionOperation = { op: 'within', window };
  return builder.condition(operation, [slot], ambient);
}

/** A comparison of two values on the bars of `ambient`. */
export function compareStep(
  steps: StepCompiler,
  compare: CompareOp,
  [left, right]: readonly [ValueChild, ValueChild],
  tolerance: number,
  ambient: Frame,
): Slot {
  const operation: SharedConditionOperation = { op: 'compare', compare, tolerance };
  return steps.builder.condition(operation, [steps.valueOn(left, ambient), steps.valueOn(right, ambient)], ambient);
}

/** What the column of a kind's own operation is computed from: the operands by their place, and the bars. */
export interface OperandColumns {
  /** The column of an operand; a constant is repeated on every row. */
  values(operand: number): Float64Array;
  truths(operand: number): ConditionColumn;
  /** How many operands there are. */
  readonly count: number;
  /** The open times of the bars. */
  readonly times: Float64Array;
  readonly timeframe: Timeframe;
  /** The instrument whose sessions the bars have. */
  readonly instrument: Pick<Instrument, 'tradesAllDay' | 'calendar'>;
  readonly calendar: RunCalendar;
  readonly rows: number;
}
/** One instrument among those that an operation compares. */
export interface ComparedInstrument {
  readonly symbol: string;
  readonly operands: OperandColumns;
  /** The instant of each row: an index into the open times of the bars of all of them. */
  readonly instants: Int32Array;
  readonly out: Float64Array;
}
/** An operation of one kind, by whose name it is found, that gives a value. */
export interface OwnValueOperation<O extends Operation> {
  /** The name of the kind. */
  readonly op: O['op'];
  /** Whether the column depends on the calendar of the run; absent: it never does. */
  readsCalendar?(operation: O): boolean;
  /** Writes all rows of `out`. */
  column(operation: O, operands: OperandColumns, out: Float64Array): void;
  /**
   * Writes all rows of the `out` of every instrument of a universe, in the order of the list; absent: the values of an
   * instrument depend on its own bars alone.
   * @param poll is called every so often, and throws when the run is told to stop
   */
  acrossInstruments?(
    operation: O,
    instruments: readonly ComparedInstrument[],
    instantCount: number,
    poll: () => void,
  ): void;
}
/** An operation of one kind, by whose name it is found, that gives true, false or unknown. */
export interface OwnConditionOperation<O extends Operation> {
  /** The name of the kind. */
  readonly op: O['op'];
  /** The column depends on the calendar of the run. */
  readonly readsCalendar?: true;
  column(operation: O, operands: OperandColumns): ConditionColumn;
  /** How many times the cost of the kind it takes. */
  parts(operation: O): number;
}
