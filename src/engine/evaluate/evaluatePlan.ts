// Evaluation: the steps of a plan over the columns of a market, each computed once, on demand.
import type { Bars, Market } from '../bars/bars.ts';
import { calendarOf, ownBarsOf, type RunCalendar } from '../bars/runCalendar.ts';
import { conditionKindIfAny, ownValueOperation } from '../definitions/expressions/expressionRegistry.ts';
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';
import { gather } from '../kernels/gather.ts';
import { frameText, sameFrame } from '../plan/builder.ts';
import type { Frame, Plan, Slot, Step, ValueStep } from '../plan/plan.ts';
import type { RunControl } from '../task.ts';
import type { ColumnSet, ColumnStore } from './columnStore.ts';
import { conditionColumn } from './conditionSteps.ts';
import { readsInstruments } from './crossSections.ts';
import { alignedRows, barsOf, textOfBars } from './frames.ts';
import { compareSides, type ComparedSides } from './leafConditions.ts';
import type { StepInputs } from './stepInputs.ts';
import { valueColumn } from './valueSteps.ts';

/** Thrown between the steps of a plan, and inside long ones, when the run is told to stop. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** Comparing columns of this many rows takes two microseconds; keeping the bits of every pair would cost more. */
const FEW_ROWS = 4096;

/** The universe of which the market is one instrument. */
interface OfUniverse {
  /** Identifies the bars of all instruments; '': the plan reads no others. */
  readonly text: string;
  /** The column of a step that reads all of them. */
  section(slot: Slot): ValueColumn;
  readonly calendar: RunCalendar;
}

/** The columns of a plan on one market. A column is computed when it is first read, and then kept. */
export class EvaluatedPlan implements StepInputs {
  readonly plan: Plan;
  readonly market: Market;
  readonly store: ColumnStore;
  readonly poll: () => void;
  /** The days of the run, and the bars that its schedules follow. */
  readonly #calendar: RunCalendar;
  readonly #columns: (ValueColumn | ConditionColumn | undefined)[];
  /** The last two columns that were compared: a cross down mostly follows a cross up of the same two. */
  #compared: { readonly left: Slot; readonly right: Slot; readonly sides: ComparedSides } | null = null;
  readonly #base: Bars;
  /** The bars of the frames other than the base. */
  readonly #others = new Map<string, Bars>();
  /** The kept columns of the owner on these bars, by the keys of their steps. */
  readonly #kept: ColumnSet;
  readonly #universe: OfUniverse | null;

  /**
   * @param control is asked before every step; null: the run cannot be stopped
   * @param owner only its own runs share columns: the time a run takes must not reveal what other owners have computed
   * @param universe null: the market is the only instrument of the run
   * @throws Error when a frame of the plan has no bars; callers check `missingSeries` first.
   */
  constructor(
    plan: Plan,
    market: Market,
    store: ColumnStore,
    control: Pick<RunControl, 'isCancelled'> | null = null,
    owner = '',
    universe: OfUniverse | null = null,
  ) {
    this.plan = plan;
    this.market = market;
    this.store = store;
    this.poll = () => {
      if (control?.isCancelled()) throw new RunStopped('The run was stopped.');
    };
    this.#columns = new Array(plan.steps.length);
    this.#base = barsOf(market, plan.base);
    let bars = textOfBars(this.#base);
    for (const frame of plan.frames) {
      const other = barsOf(market, frame);
      this.#others.set(frameText(frame), other);
      bars += `|${textOfBars(other)}`;
    }
    if (universe !== null && universe.text !== '') bars += `|in ${universe.text}`;
    this.#universe = universe;
    this.#calendar = universe === null ? calendarOf(market) : universe.calendar;
    if (plan.steps.some(readsCalendar)) bars += `|${this.#calendar.key}`;
    this.#kept = store.columnsOf(owner, bars);
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

  numberAt(slot: Slot): number | undefined {
    const step = this.plan.steps[slot];
    return step.type === 'value' && step.op === 'const' ? step.value : undefined;
  }

  /** Writes the values of some rows. */
  readRows(slot: Slot, rows: Int32Array, out: Float64Array): void {
    const number = this.numberAt(slot);
    if (number !== undefined) {
      out.fill(number, 0, rows.length);
      return;
    }
    gather(this.value(slot).values, rows, out);
  }

  /** The column of a step; null: it is a number, and `readRows` repeats it. */
  columnAt(slot: Slot): ValueColumn | null {
    return this.numberAt(slot) !== undefined ? null : this.value(slot);
  }

  compareSides(step: Step): ComparedSides | null {
    const [left, right] = step.inputs;
    const known = this.#compared;
    if (known !== null && known.left === left && known.right === right) return known.sides;
    const rows = this.barsOf(step).length;
    if (rows > FEW_ROWS || this.numberAt(left) !== undefined || this.numberAt(right) !== undefined) return null;
    const sides = compareSides(this.value(left), this.value(right), rows);
    this.#compared = { left, right, sides };
    return sides;
  }

  barsOf({ frame }: Step): Bars {
    return this.#barsOn(frame);
  }

  calendarOf({ frame }: Step): RunCalendar {
    return sameFrame(frame, this.plan.base) ? this.#calendar : ownBarsOf(this.#calendar);
  }

  rowsOf({ frame, from }: Step & { readonly from: Frame }): Int32Array {
    return alignedRows(this.#barsOn(frame), this.#barsOn(from));
  }

  /** A raw field is a view of the bars; a constant and a comparison of few rows are made sooner than looked up. */
  #isWorthKeeping(step: Step): boolean {
    if (step.op === 'field' || step.op === 'const') return false;
    return (step.op !== 'cross' && step.op !== 'compare') || this.barsOf(step).length > FEW_ROWS;
  }

  #barsOn(frame: Frame): Bars {
    return sameFrame(frame, this.plan.base) ? this.#base : this.#others.get(frameText(frame))!;
  }

  isKept(key: string): boolean {
    return this.#kept.has(key);
  }

  keep(key: string, column: ValueColumn | ConditionColumn): void {
    this.#kept.set(key, column);
  }

  #valueColumn(step: ValueStep): ValueColumn {
    const universe = this.#universe;
    if (universe !== null && readsInstruments(step)) return universe.section(step.slot);
    return valueColumn(step, this);
  }

  #column(slot: Slot): ValueColumn | ConditionColumn {
    const known = this.#columns[slot];
    if (known) return known;
    const step = this.plan.steps[slot];
    const isKept = this.#isWorthKeeping(step);
    let column = isKept ? this.#kept.get(step.key) : undefined;
    if (!column) {
      this.poll();
      column = step.type === 'value' ? this.#valueColumn(step) : conditionColumn(step, this);
      if (isKept) this.#kept.set(step.key, column);
    }
    this.#columns[slot] = column;
    return column;
  }
}

const readsCalendar = (step: Step): boolean =>
  step.type === 'value'
    ? ownValueOperation(step.op)?.readsCalendar?.(step) === true
    : conditionKindIfAny({ kind: step.op })?.operation?.readsCalendar === true;
