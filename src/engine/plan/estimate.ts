// Estimates of a plan's time, which the queue charges, and of its memory, which the pool admits runs by.
import { MIN_RANKED_PERIOD } from '../kernels/rankedValues.ts';
import { conditionKindIfAny, runnableKind } from '../definitions/expressions/expressionRegistry.ts';
import type { RunnableExpression } from '../language/grammar/ast.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import { childrenOf } from '../language/grammar/visit.ts';
import type { IndicatorDefinition, Args } from '../indicators/definition.ts';
import { sameFrame, seriesOf } from './builder.ts';
import type { ConditionStep, Frame, Plan, PlannedCondition, PlannedValue, Step, ValueStep } from './plan.ts';

/** The estimate of one series that a plan reads. */
interface FrameEstimate {
  readonly frame: Frame;
  readonly nsPerBar: number;
  /** Bytes of the columns and of what the loop writes per bar, which are held at the same time. */
  readonly heldBytesPerBar: number;
  /** The most bytes that computing one column takes besides. */
  readonly scratchBytesPerBar: number;
}
export interface PlanEstimate {
  /** The base frame first. */
  readonly frames: readonly FrameEstimate[];
  /** How many values each expression over state keeps, and how many positions and accounts keep them at a time. */
  readonly windows: readonly { readonly length: number; readonly memories: number }[];
}

/** Nanoseconds per bar of the fill loop, the statistics and the record of a few trades. */
const LOOP_NS = 10;
/** Bytes per bar of the loop and the statistics: equity, drawdown and returns. */
const LOOP_BYTES = 16;
/**
 * A row of the log and of the table of trades (300), of the columns of positions (60), and what is left of the log that
 * was outgrown. Measured with a trade on every bar: 390 to 480, the stored bytes included.
 */
export const TRADE_BYTES = 512;
/**
 * How many trades there will be is not known before a run. It is admitted by one trade per this many bars, twice as
 * many as averages of 10 and 30 bars make; a run that makes more asks for their memory (simulate/tradeBudget.ts).
 */
const BARS_PER_TRADE = 24;
/** Every run is admitted by at least this many trades (2 MiB), so that a short one never asks. */
const LEAST_TRADES = 4_096;
/** The trades that a run over so many bars is admitted by. */
export const admittedTrades = (bars: number): number => Math.max(LEAST_TRADES, bars / BARS_PER_TRADE);
/**
 * The short arrays of many instruments are collected late: what is left of them was seen to take as much as the columns
 * (forty instruments of 10,000 bars), and V8 collects when memory outside of its heap has grown by so much.
 */
const UNCOLLECTED_BYTES = 64 << 20;
const VALUE_BYTES = 8;
/** Two bits per bar: true, and unknown. */
const CONDITION_BYTES = 0.25;
/** Scratch columns of a kernel, beside its inputs and outputs. */
const SCRATCH_COLUMNS = 4;
/** One value of a window that is read whole on every row. */
const SCANNED_NS = 1.2;
/** Ranks in a window: one value of a short one, and a row of a long one (kernels/rankedValues.ts). */
const SHIFTED_NS = 0.2;
const RANKED_NS = 250;
/** One bit of a comparison. */
const COMPARED_NS = nsOfKind('compare');
const RANKS: ReadonlySet<string> = new Set(['median', 'quantile', 'percentile_rank']);
/** An expression over state is evaluated in the loop: about five times a column's row. */
const STATEFUL_NS = 20;
const STATEFUL_SCANNED_NS = 4;
/** What a position remembers per node at least: the objects around its window. */
const NODE_BYTES = 128;
/** A position holds a window of its own; those of closed ones are freed a little later. */
const MEMORIES_PER_POSITION = 2;

/** The estimate of a plan, per bar of each series that it reads: nanoseconds and bytes. */
export function estimatePlan(plan: Plan, maxConcurrentPositions: number): PlanEstimate {
  const loop = stateEstimate(plan, maxConcurrentPositions);
  const frames = [plan.base, ...plan.frames].map((frame, index): FrameEstimate => {
    const steps = plan.steps.filter((step) => sameFrame(step.frame, frame));
    const isBase = index === 0;
    const scratch = steps.reduce((most, step) => Math.max(most, scratchBytes(step)), 0);
    const columns = columnBytes(steps);
    // A series that is not the base is aligned to it (4 bytes per base bar, counted as its own).
    return {
      frame,
      nsPerBar: sumOf(steps, nsOf) + (isBase ? LOOP_NS + loop.ns : 0),
      heldBytesPerBar: columns + (isBase ? LOOP_BYTES + loop.bytesPerBar + 4 * plan.frames.length : 0),
      scratchBytesPerBar: scratch,
    };
  });
  return { frames, windows: loop.windows };
}

/**
 * The nanoseconds that a run takes, and the bytes it holds at its peak.
 * @param symbols of the run's own instruments, each with columns of its own
 * @param rowsOf bars of a series
 */
export function estimateRun(
  estimate: PlanEstimate,
  symbols: readonly string[],
  rowsOf: (series: SeriesName) => number,
): { readonly ns: number; readonly bytes: number } {
  const parts = symbols.map((symbol) => estimateInstrument(estimate, symbol, rowsOf));
  const heldBytes = sumOf(parts, (part) => part.heldBytes);
  return {
    ns: sumOf(parts, ({ ns }) => ns),
    bytes:
      heldBytes +
      (parts.length > 1 ? Math.min(UNCOLLECTED_BYTES, heldBytes) : 0) +
      parts.reduce((most, { scratchBytes }) => Math.max(most, scratchBytes), 0) +
      TRADE_BYTES * admittedTrades(sumOf(parts, ({ bars }) => bars)) +
      sumOf(parts, ({ windowBytes }) => windowBytes),
  };
}

/** The part that one of its instruments has in a run. */
function estimateInstrument({ frames, windows }: PlanEstimate, symbol: string, rowsOf: (series: SeriesName) => number) {
  const rows = frames.map(({ frame }) => rowsOf(seriesOf(frame, symbol)));
  // A window grows with what is recorded.
  const kept = windows.map(({ length, memories }) => ({ length: Math.min(length, rows[0]), memories }));
  return {
    bars: rows[0],
    ns:
      sumOf(frames, ({ nsPerBar }, at) => nsPerBar * rows[at]) +
      sumOf(kept, ({ length }) => STATEFUL_SCANNED_NS * length * rows[0]),
    heldBytes: sumOf(frames, ({ heldBytesPerBar }, at) => heldBytesPerBar * rows[at]),
    scratchBytes: sumOf(frames, ({ scratchBytesPerBar }, at) => scratchBytesPerBar * rows[at]),
    windowBytes: sumOf(kept, ({ length, memories }) => memories * (NODE_BYTES + VALUE_BYTES * length)),
  };
}

/** The estimate as `explain` prints it. */
export function estimateText({ frames, windows }: PlanEstimate, nameOf: (frame: Frame) => string): string {
  const ofFrames = frames.map(({ frame, nsPerBar, heldBytesPerBar, scratchBytesPerBar }, index) => {
    const where = index === 0 ? '' : ` of ${nameOf(frame)}`;
    const scratch = scratchBytesPerBar > 0 ? ` (and up to ${scratchBytesPerBar} while a column is made)` : '';
    return `${Math.round(heldBytesPerBar)} bytes${scratch} and ${Math.round(nsPerBar)} ns per bar${where}`;
  });
  const values = sumOf(windows, ({ length, memories }) => length * memories);
  const ofState = values > 0 ? [`${8 * values} bytes of windows over state`] : [];
  const ofTrades = `${TRADE_BYTES} bytes per trade (admitted: one in ${BARS_PER_TRADE} bars, at least ${LEAST_TRADES})`;
  return `at the peak: ${[...ofFrames, ofTrades, ...ofState].join(', ')}`;
}

const sumOf = <T>(items: readonly T[], of: (item: T, at: number) => number): number =>
  items.reduce((sum, item, at) => sum + of(item, at), 0);

/** Patterns whose sides alone are read: they are found as bits, and have no column of values. */
export function patternsAsBits(steps: readonly Step[]): ReadonlySet<Step> {
  const read = new Set(steps.flatMap((step) => (step.op === 'pattern_side' ? [] : step.inputs)));
  return new Set(steps.filter((step) => step.op === 'pattern' && !read.has(step.slot)));
}

/** Bytes per bar of the columns that are computed; all outputs of an indicator are, whichever are read. */
function columnBytes(steps: readonly Step[]): number {
  const calls = new Set<string>();
  const asBits = patternsAsBits(steps);
  return sumOf(steps, (step) => {
    if (step.type === 'condition') return CONDITION_BYTES;
    switch (step.op) {
      case 'const':
      case 'series':
        return 0;
      case 'pattern':
        return asBits.has(step) ? CONDITION_BYTES : VALUE_BYTES;
      case 'field':
        return ['hl2', 'hlc3', 'ohlc4'].includes(step.field) ? VALUE_BYTES : 0;
      case 'indicator': {
        const call = `${step.call} ${step.inputs.join()}`;
        if (calls.has(call)) return 0;
        calls.add(call);
        return VALUE_BYTES * step.definition.outputs.length;
      }
      default:
        return VALUE_BYTES;
    }
  });
}

/** Where an input has holes, the present rows are copied together; local times are kept by time zone. */
function scratchBytes(step: Step): number {
  if (step.type === 'condition') return VALUE_BYTES;
  const outputs = step.op === 'indicator' ? step.definition.outputs.length : 1;
  return VALUE_BYTES * (SCRATCH_COLUMNS + step.inputs.length + outputs);
}

/** What a node of a kind takes. */
function nsOfKind(kind: string): number {
  return runnableKind({ kind }).nsPerBar;
}

function nsOf(step: Step): number {
  return step.type === 'value' ? valueNs(step) : conditionNs(step);
}

function valueNs(step: ValueStep): number {
  switch (step.op) {
    case 'const':
    case 'series':
      return 0;
    case 'field':
      return 1;
    case 'indicator':
      return nsOfKind(step.op) * step.definition.outputs.length + SCANNED_NS * scannedRows(step.definition, step.args);
    case 'rolling':
      if (step.rolling === 'slope') return nsOfKind(step.op) + SCANNED_NS * step.period;
      if (!RANKS.has(step.rolling)) return nsOfKind(step.op);
      return step.period < MIN_RANKED_PERIOD ? nsOfKind(step.op) + SHIFTED_NS * step.period : RANKED_NS;
    case 'align':
      return 2;
    // Operations with the name of a kind.
    default:
      return nsOfKind(step.op);
  }
}

function conditionNs(step: ConditionStep): number {
  switch (step.op) {
    case 'within':
      return COMPARED_NS * (1 + Math.log2(step.window));
    case 'time_window':
      return nsOfKind(step.op);
    default: {
      const own = conditionKindIfAny({ kind: step.op })?.operation;
      return own == null ? COMPARED_NS * Math.max(1, step.inputs.length) : nsOfKind(step.op) * own.parts(step);
    }
  }
}

/** Rows that a row of the indicator reads one by one. */
function scannedRows(definition: IndicatorDefinition, args: Args): number {
  const scanned = definition.args.flatMap(({ name, isScanned }) => (isScanned ? [Number(args[name])] : []));
  return scanned.reduce((most, rows) => Math.max(most, rows), 0);
}

/** Expressions that the loop evaluates: their time, the records of their answers, and what they remember. */
function stateEstimate(
  plan: Plan,
  maxConcurrentPositions: number,
): { readonly ns: number; readonly bytesPerBar: number; readonly windows: PlanEstimate['windows'] } {
  let ns = 0;
  let bytesPerBar = 0;
  const windows: { length: number; memories: number }[] = [];
  const seen = new Set<RunnableExpression>();
  const count = (expression: RunnableExpression, slots: ReadonlyMap<object, unknown>, memories: number): void => {
    if (slots.has(expression) || seen.has(expression)) return;
    seen.add(expression);
    ns += STATEFUL_NS;
    // Where it was evaluated, where it was true, where unknown.
    bytesPerBar += 3 / 8;
    windows.push({ length: runnableKind(expression).overState?.keeps(expression) ?? 1, memories });
    for (const child of childrenOf(expression)) count(child, slots, memories);
  };
  const ofPositions = MEMORIES_PER_POSITION * maxConcurrentPositions;
  const ofCondition = (planned: PlannedCondition, memories: number): void => {
    if (planned.kind === 'column') return;
    for (const { expression, slots } of planned.conjuncts) count(expression, slots, memories);
  };
  const ofValue = (planned: PlannedValue | null, memories: number): void => {
    if (planned?.kind === 'stateful') count(planned.expression.expression, planned.expression.slots, memories);
  };
  for (const { condition, price, rank } of plan.entries) {
    ofCondition(condition, MEMORIES_PER_POSITION);
    ofValue(price, MEMORIES_PER_POSITION);
    ofValue(rank, MEMORIES_PER_POSITION);
  }
  for (const { condition } of plan.exits) ofCondition(condition, ofPositions);
  ofValue(plan.risk.stop?.price ?? null, ofPositions);
  for (const { price } of plan.risk.targets) ofValue(price, ofPositions);
  return { ns, bytesPerBar, windows };
}
