// Expressions evaluated as columns: a value or a truth for every bar of a frame, straight from the grammar's sentences.
import type { Bars, Market } from '../../../src/engine/bars/bars.ts';
import { shortestMs } from '../../../src/engine/bars/timeframes.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { findPattern } from '../../../src/engine/patterns/patternRegistry.ts';
import type { RunnableCondition, RunnableNodes, RunnableValue } from '../../../src/engine/language/grammar/ast.ts';
import { dayNumber, localTime, timeOf } from './localTime.ts';
import {
  and,
  compare,
  cross,
  moving,
  not,
  or,
  rollingWindow,
  sequence,
  stateMachine,
  within,
  type Truth,
} from './conditions.ts';
import { visibleRows } from './frames.ts';
import { indicatorOf } from './indicators.ts';
import { mathOf, rollingOf, windowLength } from './rolling.ts';
import { scheduledBars } from './schedule.ts';
import { calendarFieldOf, isCalendarField } from './tradingCalendar.ts';

export type ValueNode = RunnableValue;
export type ConditionNode = RunnableCondition;
type Of<K extends string> = Extract<ValueNode | ConditionNode, { kind: K }>;
type StateField = RunnableNodes['state']['field'];

/** Recorded state: a number a row of the base for every field, NaN where missing. */
type StateColumns = (field: StateField) => readonly number[];

const SESSIONS: Readonly<Record<string, { readonly from: number; readonly to: number; readonly timezone: string }>> = {
  tokyo: { from: 540, to: 1080, timezone: 'Asia/Tokyo' },
  london: { from: 480, to: 1020, timezone: 'Europe/London' },
  new_york: { from: 480, to: 1020, timezone: 'America/New_York' },
  us_equities: { from: 570, to: 960, timezone: 'America/New_York' },
};
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const shifted = (column: readonly number[], by = 0): number[] => column.map((_, row) => column[row - by] ?? NaN);
const finite = (column: readonly number[]): number[] => column.map((x) => (Number.isFinite(x) ? x : NaN));

/** The state fields that a node or anything below it reads. */
function stateFieldsOf(node: unknown): readonly StateField[] {
  if (typeof node !== 'object' || node === null) return [];
  const known = knownFields.get(node);
  if (known !== undefined) return known;
  const { kind, field } = node as Partial<RunnableNodes['state']>;
  const fields = kind === 'state' ? [field!] : Object.values(node).flatMap(stateFieldsOf);
  knownFields.set(node, fields);
  return fields;
}
/** A node never changes, and is asked for on every bar. */
const knownFields = new WeakMap<object, readonly StateField[]>();

export const readsState = (node: unknown): boolean => stateFieldsOf(node).length > 0;

/** What expressions over state are read from; a fresh one is made at every close. */
export interface RecordedState {
  readonly columns: StateColumns;
  /** Rows known so far. */
  readonly rows: number;
  readonly stateless: Evaluator;
  /** The first row on which a node that reads these fields is recorded (semantics §1.10). */
  readonly recordedFrom: (fields: readonly StateField[]) => number;
}

/** Numbers nearer than this, relatively, may fall on either side of each other in two ways of computing them. */
const TIE = 1e-9;

/** Evaluates whole columns, or with state the first `rows` bars of the base. */
export class Evaluator {
  readonly market: Market;
  readonly timezone: string;
  /** Comparisons that the last digits decide: on these a disagreement proves nothing. */
  nearTies = 0;
  readonly #known = new Map<object, Map<Bars, readonly number[] | readonly Truth[]>>();
  readonly #state: RecordedState | null;

  constructor(market: Market, timezone: string, state?: RecordedState) {
    this.market = market;
    this.timezone = timezone;
    this.#state = state ?? null;
  }

  /** A value on the base bars. */
  value(node: ValueNode): readonly number[] {
    return this.#valueOn(node, this.market.base);
  }

  condition(node: ConditionNode): readonly Truth[] {
    return this.#conditionOn(node, this.market.base);
  }

  /** The frame a value's bars are of, below a node placed on `context`; null: constants, which live anywhere. */
  #frameOf(node: ValueNode, context: Bars): Bars | null {
    switch (node.kind) {
      case 'const':
        return null;
      case 'market':
      case 'series':
      case 'pivot':
        return this.#placed(node, context);
      case 'indicator': {
        if (node.timeframe !== undefined || node.instrument !== undefined) return this.#placed(node, context);
        const inputs = inputsOf(node);
        return inputs.length === 0 || this.#readsBars(node) ? context : this.#sharedFrame(inputs, context);
      }
      case 'rolling':
        return this.#sharedFrame([node.source], context);
      case 'math':
        return this.#sharedFrame(node.args, context);
      case 'shift':
      case 'percent_change':
        return this.#frameOf(node.source, context) === null ? null : context;
      default:
        return context;
    }
  }

  #readsBars(node: Of<'indicator'>): boolean {
    return findIndicator(node.indicator)!.inputs.some((input) => !['source', 'source2', 'periods'].includes(input));
  }

  #sharedFrame(inputs: readonly ValueNode[], context: Bars): Bars | null {
    const frames = new Set(inputs.map((input) => this.#frameOf(input, context)).filter((frame) => frame !== null));
    return frames.size === 0 ? null : frames.size === 1 ? [...frames][0] : context;
  }

  #placed(node: { timeframe?: Bars['timeframe']; instrument?: { symbol: string } }, context: Bars): Bars {
    const symbol = node.instrument?.symbol ?? context.symbol;
    const timeframe = node.timeframe ?? context.timeframe;
    if (symbol === context.symbol && timeframe === context.timeframe) return context;
    return this.market.bars(symbol, timeframe)!;
  }

  /** The node's column on `context` bars: made on its own frame, then aligned. */
  #valueOn(node: ValueNode, context: Bars): readonly number[] {
    if (this.#state !== null && !readsState(node)) return this.#state.stateless.#valueOn(node, context);
    const known = this.#known.get(node) ?? new Map<Bars, readonly number[]>();
    this.#known.set(node, known);
    const found = known.get(context);
    if (found !== undefined) return found as readonly number[];
    const frame = this.#frameOf(node, context) ?? context;
    const made = this.#recorded(node, finite(this.#make(node, frame)), NaN);
    const column = frame === context ? made : visibleRows(context, frame).map((row) => (row < 0 ? NaN : made[row]));
    known.set(context, column);
    return column;
  }

  #rowsOf(bars: Bars): number {
    return this.#state !== null && bars === this.market.base ? this.#state.rows : bars.length;
  }

  #make(node: ValueNode, frame: Bars): readonly number[] {
    const rows = Array.from({ length: this.#rowsOf(frame) }, (_, row) => row);
    switch (node.kind) {
      case 'const':
        return rows.map(() => node.value);
      case 'market':
        return shifted(
          rows.map((row) => fieldOf(node.field, frame, row)),
          node.offset,
        );
      case 'series':
        return shifted([...(frame.series.get(node.name) ?? rows.map(() => NaN))], node.offset);
      case 'state':
        return shifted(this.#state!.columns(node.field), node.offset);
      case 'indicator':
        return shifted(this.#indicator(node, frame), node.offset);
      case 'rolling':
        return shifted(this.#rolling(node, frame), node.offset);
      case 'math': {
        const args = node.args.map((arg) => this.#valueOn(arg, frame));
        return rows.map((row) =>
          mathOf(
            node.op,
            args.map((arg) => arg[row]),
          ),
        );
      }
      case 'shift':
        // A constant has no bars to be shifted by.
        if (this.#frameOf(node.source, frame) === null) return this.#valueOn(node.source, frame);
        return shifted(this.#valueOn(node.source, frame), node.offset);
      case 'percent_change': {
        const now = this.#valueOn(node.source, frame);
        const then = this.#frameOf(node.source, frame) === null ? now : shifted(now, node.bars);
        return finite(now.map((value, row) => ((value - then[row]) / then[row]) * 100));
      }
      case 'if': {
        const [cond, then, otherwise] = [
          this.#conditionOn(node.cond, frame),
          this.#valueOn(node.then, frame),
          this.#valueOn(node.else, frame),
        ];
        return rows.map((row) => (cond[row] === null ? NaN : cond[row] ? then[row] : otherwise[row]));
      }
      // A run of one instrument never has the two that are the least.
      case 'cross_section':
        return rows.map(() => NaN);
      case 'time':
        return isCalendarField(node.field)
          ? calendarFieldOf(node.field, [...frame.time], shortestMs(frame.timeframe), this.market.instrument)
          : rows.map((row) => timeOf(node.field, frame.time[row], this.timezone));
      case 'pivot':
        return pivots(node, frame);
      default:
        return this.#events(node, frame);
    }
  }

  #rolling({ op, period, quantile, source }: Of<'rolling'>, frame: Bars): number[] {
    const length = windowLength(op, period);
    return overPresent(this.#valueOn(source, frame), (dense) =>
      dense.map((_, i) => (i + 1 < length ? NaN : rollingOf(op, dense.slice(i + 1 - length, i + 1), quantile))),
    );
  }

  #events(node: Of<'bars_since'> | Of<'value_when'> | Of<'capture'>, frame: Bars): number[] {
    const when = this.#conditionOn(node.when, frame).map((truth) => truth === true);
    const before = (row: number): number[] => when.flatMap((isMet, at) => (isMet && at <= row ? [at] : []));
    if (node.kind === 'bars_since') return when.map((_, row) => row - (before(row).at(-1) ?? NaN));
    const value = this.#valueOn(node.value, frame);
    if (node.kind === 'value_when')
      return when.map((_, row) => value[before(row).at(-1 - (node.occurrence ?? 0)) ?? -1] ?? NaN);
    return when.map(
      (_, row) =>
        value[
          before(row)
            .filter((at) => !when[at - 1])
            .at(-1) ?? -1
        ] ?? NaN,
    );
  }

  #indicator(node: Of<'indicator'>, frame: Bars): number[] {
    const definition = findIndicator(node.indicator)!;
    const sources = inputsOf(node).map((source) => this.#valueOn(source, frame));
    let next = 0;
    const inputs = definition.inputs.map((input) =>
      ['source', 'source2', 'periods'].includes(input)
        ? sources[next++]
        : [...frame[input as 'open' | 'high' | 'low' | 'close' | 'volume' | 'time']],
    );
    const output = Math.max(
      0,
      definition.outputs.findIndex(({ name }) => name === node.output),
    );
    const present = inputs[0].map((_, row) => inputs.every((input) => !Number.isNaN(input[row])));
    const at = present.flatMap((isPresent, row) => (isPresent ? [row] : []));
    const column: number[] = inputs[0].map(() => NaN);
    if (at.length === 0) return column;
    const dense = indicatorOf(
      definition,
      inputs.map((input) => at.map((row) => input[row])),
      node.args,
      output,
    );
    at.forEach((row, i) => (column[row] = dense[i]));
    return column;
  }

  #conditionOn(node: ConditionNode, context: Bars): readonly Truth[] {
    if (this.#state !== null && !readsState(node)) return this.#state.stateless.#conditionOn(node, context);
    const known = this.#known.get(node) ?? new Map<Bars, readonly Truth[]>();
    this.#known.set(node, known);
    const found = known.get(context);
    if (found !== undefined) return found as readonly Truth[];
    const made = this.#recorded(node, this.#truths(node, context), null);
    known.set(context, made);
    return made;
  }

  /** A node over state has no past before its record begins. */
  #recorded<T>(node: object, made: readonly T[], missing: T): readonly T[] {
    if (this.#state === null || !readsState(node)) return made;
    const from = this.#state.recordedFrom(stateFieldsOf(node));
    return made.map((value, row) => (row < from ? missing : value));
  }

  #truths(node: ConditionNode, context: Bars): readonly Truth[] {
    const rows = Array.from({ length: this.#rowsOf(context) }, (_, row) => row);
    const value = (input: ValueNode): readonly number[] => this.#valueOn(input, context);
    const truths = (input: ConditionNode): readonly Truth[] => this.#conditionOn(input, context).slice(0, rows.length);
    switch (node.kind) {
      case 'compare': {
        const [left, right] = this.#compared(value(node.left), value(node.right), node.tolerance);
        return rows.map((row) => compare(node.op, left[row], right[row], node.tolerance));
      }
      case 'near': {
        const [left, right] = this.#compared(value(node.left), value(node.right), node.tolerance);
        return rows.map((row) => compare('eq', left[row], right[row], node.tolerance));
      }
      case 'cross': {
        const [left, right] = this.#compared(value(node.left), value(node.right));
        return within(
          rows.map((row) => cross(node.op, left, right, row)),
          node.within ?? 1,
        );
      }
      case 'between': {
        const middle = value(node.value);
        const [[, lower], [, upper]] = [node.lower, node.upper].map((end) => this.#compared(middle, value(end)));
        return rows.map((row) =>
          and([compare('gte', middle[row], lower[row]), compare('lte', middle[row], upper[row])]),
        );
      }
      case 'rising':
      case 'falling': {
        const frame = this.#frameOf(node.source, context) ?? context;
        const source = this.#valueOn(node.source, frame);
        this.#compared(source, shifted(source, 1));
        const own = moving(source, node.bars, node.kind === 'rising' ? 'gt' : 'lt');
        return frame === context ? own : visibleRows(context, frame).map((row) => (row < 0 ? null : own[row]));
      }
      case 'pattern':
        return this.#pattern(node, context);
      case 'all':
      case 'any': {
        const items = node.items.map(truths);
        return rows.map((row) => (node.kind === 'all' ? and : or)(items.map((item) => item[row])));
      }
      case 'not':
        return truths(node.item).map(not);
      case 'session': {
        const { from, to, timezone } = SESSIONS[node.name];
        return rows.map((row) => isInWindow(context.time[row], timezone, from, to));
      }
      case 'time_window':
        return rows.map((row) => timeWindow(node, context.time[row], this.timezone));
      case 'schedule':
        return scheduledBars(node, context.time, this.market.instrument.tradesAllDay);
      case 'sequence':
        return sequence(node.steps.map((step) => ({ ...step, truths: truths(step.expr) })));
      case 'rolling_window':
        return rollingWindow(truths(node.expr), node.window, node.mode, node.value);
      case 'state_machine':
        return stateMachine(
          truths(node.set),
          node.reset && truths(node.reset),
          node.ttlBars ?? Infinity,
          node.conflictPolicy ?? 'reset',
        );
      default:
        throw new Error(`No condition ${(node as { kind: string }).kind}: the runnable form has none.`);
    }
  }

  /** Two columns about to be compared; near ties are counted. */
  #compared(left: readonly number[], right: readonly number[], tolerance = 0): [readonly number[], readonly number[]] {
    for (const [row, value] of left.entries()) {
      const apart = Math.abs(Math.abs(value - right[row]) - tolerance);
      if (apart !== 0 && apart <= TIE * Math.max(1, Math.abs(value), Math.abs(right[row]))) this.nearTies++;
    }
    return [left, right];
  }

  #pattern(node: Of<'pattern'>, context: Bars): Truth[] {
    const frame = this.#placed(node, context);
    const definition = findPattern(node.name)!;
    const out = new Float64Array(frame.length).fill(NaN);
    definition.compute(frame.open, frame.high, frame.low, frame.close, node.args ?? {}, out);
    const wanted = { bullish: (x: number) => x > 0, bearish: (x: number) => x < 0, any: (x: number) => x !== 0 }[
      node.side ?? 'any'
    ];
    const own = shifted([...out], node.offset);
    const aligned = frame === context ? own : visibleRows(context, frame).map((row) => (row < 0 ? NaN : own[row]));
    // `within` is no part of the value: it counts the bars that the condition is read on.
    return within(
      aligned.map((x) => (Number.isNaN(x) ? null : wanted(x))),
      node.within ?? 1,
    );
  }
}

const inputsOf = (node: Of<'indicator'>): readonly ValueNode[] =>
  node.sources ?? (node.source === undefined ? [] : [node.source]);

/** Runs over the present values only; where the source is missing, so is the result. */
function overPresent(source: readonly number[], run: (dense: number[]) => number[]): number[] {
  const at = source.flatMap((x, row) => (Number.isNaN(x) ? [] : [row]));
  const column = source.map(() => NaN);
  run(at.map((row) => source[row])).forEach((x, i) => (column[at[i]] = x));
  return column;
}

function fieldOf(field: string, { open, high, low, close, volume }: Bars, row: number): number {
  switch (field) {
    case 'hl2':
      return (high[row] + low[row]) / 2;
    case 'hlc3':
      return (high[row] + low[row] + close[row]) / 3;
    case 'ohlc4':
      return (open[row] + high[row] + low[row] + close[row]) / 4;
    default:
      return { open, high, low, close, volume }[field]![row];
  }
}

/** Strictly beyond the `left` bars before, at least level with the `right` after; known `right` bars later. */
function pivots({ pivotKind, left, right, occurrence }: Of<'pivot'>, frame: Bars): number[] {
  const prices = [...frame[pivotKind]].map((price) => (pivotKind === 'high' ? price : -price));
  const confirmed: number[] = [];
  return prices.map((_, row) => {
    const at = row - right;
    if (at - left >= 0) {
      const isAboveLeft = prices.slice(at - left, at).every((price) => price < prices[at]);
      if (isAboveLeft && prices.slice(at + 1, row + 1).every((price) => price <= prices[at]))
        confirmed.push(frame[pivotKind][at]);
    }
    return confirmed.at(-1 - occurrence) ?? NaN;
  });
}

function isInWindow(time: number, timezone: string, from: number, to: number): boolean {
  const { hour, minute } = localTime(time, timezone);
  const now = hour * 60 + minute;
  return from <= to ? now >= from && now < to : now >= from || now < to;
}

const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** Over midnight the window belongs to the day it began, weekday and date alike. */
function timeWindow(node: Of<'time_window'>, time: number, defaultTimezone: string): boolean {
  const timezone = node.timezone ?? defaultTimezone;
  const local = localTime(time, timezone);
  const { between, weekdays, dates } = node;
  let isDayBefore = false;
  if (between !== undefined) {
    const [from, to] = [minuteOf(between.from), minuteOf(between.to)];
    if (!isInWindow(time, timezone, from, to)) return false;
    isDayBefore = from > to && local.hour * 60 + local.minute < to;
  }
  const day = dayNumber(local) - (isDayBefore ? 1 : 0);
  if (weekdays !== undefined && !weekdays.includes(WEEKDAYS[(local.weekday + (isDayBefore ? 6 : 0)) % 7] as never))
    return false;
  const dayOf = (date: string): number => Date.parse(date) / 86_400_000;
  if (dates?.from !== undefined && day < dayOf(dates.from)) return false;
  return dates?.to === undefined || day <= dayOf(dates.to);
}
