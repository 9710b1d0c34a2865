// Findings about data: values that a run lacked for a reason that is known, and finer bars that it could not use. They
// come first in the diagnosis, since no rule can be judged by bars on which its values were missing.
import type { Bars } from '../bars/bars.ts';
import { CONTRADICTION_ADVICE, describeContradictions } from '../bars/contradictionCause.ts';
import { contradictionsIn } from '../bars/contradictions.ts';
import { KeptByRange } from '../bars/keptByRange.ts';
import { closeOf, closesOf } from '../bars/timeframes.ts';
import { alignedRows, barsOf } from '../evaluate/frames.ts';
import { hasBit } from '../kernels/bits.ts';
import { inferLookback } from '../language/canonical/lookback.ts';
import type { Plan, Slot } from '../plan/plan.ts';
import { sameFrame } from '../plan/builder.ts';
import type { ConditionBits, Window } from './conditionBits.ts';
import type { ReportInput } from './reportInput.ts';

export interface DataFinding {
  readonly code: 'SERIES_INCOMPLETE' | 'WARMUP_TOO_SHORT' | 'FINER_BARS_CONTRADICT';
  /** The conditions that read what is missing, an innermost one first; empty: none that is a column. */
  readonly conditions: readonly ConditionBits[];
  readonly message: string;
  readonly suggestion: string;
}

/**
 * Values that are missing on at least this share of the evaluated bars are reported. Holidays of one market that are
 * none of another's make 1 to 3 % of the days.
 */
const MANY_MISSING = 0.05;

type EvaluatedRun = Pick<ReportInput, 'strategy' | 'evaluated' | 'input' | 'warmup'>;

/** What the data of a run lacked, in the order of what it explains. */
export function dataFindings(report: EvaluatedRun, bits: readonly ConditionBits[]): DataFinding[] {
  const { input } = report;
  if (input.end <= input.start) return [];
  return [...frameFindings(report, bits), ...columnFindings(report, bits), ...warmUpFindings(report, bits)];
}

/** That too many bars are contradicted by finer ones for drilling; empty when the run would not have drilled. */
export function drillingFindings({
  input,
  firstRow,
  endRow,
}: Pick<ReportInput, 'input' | 'firstRow' | 'endRow'>): DataFinding[] {
  const { bars, fine, config } = input;
  if (config.ambiguityResolution !== 'multi_resolution' || fine === null) return [];
  const inRange = contradictionsIn(bars, fine, firstRow, endRow);
  if (inRange === null || !inRange.found.isDrillingOff) return [];
  const message = `${describeContradictions(inRange.found)} That is too many: no bar was drilled into.`;
  return [{ code: 'FINER_BARS_CONTRADICT', conditions: [], message, suggestion: CONTRADICTION_ADVICE }];
}

/** Bars of the window without a value of another series, and where they lie. */
interface MissingRows {
  /** Before the other series begins, and after it has ended. */
  readonly before: number;
  readonly after: number;
  /** Between its first bar and its last. */
  readonly within: number;
  /** Rows between its first bar and its last that have a value. */
  readonly present: number;
}

const missingRows = new KeptByRange<Int32Array, MissingRows>();

function frameFindings({ evaluated, input }: EvaluatedRun, bits: readonly ConditionBits[]): DataFinding[] {
  const { plan, market } = evaluated;
  const { start, end } = input;
  const base = market.base;
  return plan.frames.flatMap((frame) => {
    const other = barsOf(market, frame);
    const rows = alignedRows(base, other);
    const missing = missingRows.get(rows, start, end, () => countMissing(base, other, rows, { start, end }));
    const { before, after, within } = missing;
    const count = before + after + within;
    if (count < MANY_MISSING * (end - start)) return [];
    const series = `${other.symbol} ${other.timeframe}`;
    // The last value of the run's own instrument stands in for later ones (semantics §1.6).
    const lack = frame.symbol === null && before === 0 ? 'has no new value' : 'is unknown';
    const share = `${count} of the ${end - start} bars`;
    const causes = causesOf(base, other, missing).join('; ');
    const message = `${series} ${lack} on ${share}: ${causes}. Its bars cover ${spanOf(other)}.`;
    const conditions = readersOf(plan, bits, (slot) => sameFrame(plan.steps[slot].frame, frame));
    return [{ code: 'SERIES_INCOMPLETE' as const, conditions, message, suggestion: adviceOf(base, other, missing) }];
  });
}

function countMissing(base: Bars, other: Bars, rows: Int32Array, { start, end }: Window): MissingRows {
  const closeOfBase = closesOf(base.timeframe);
  const closeOfOther = closesOf(other.timeframe);
  const isOwn = base.symbol === other.symbol;
  const { length, time } = other;
  const overhangMs = other.overhangMs ?? 0;
  const firstClose = length === 0 ? Infinity : closeOfOther(time[0]) + overhangMs;
  const lastClose = length === 0 ? Infinity : closeOfOther(time[length - 1]) + overhangMs;
  // From then on the next bar would be known. Of the run's own instrument the last one stands in (semantics §1.6).
  const staleFrom = isOwn ? closeOfOther(lastClose) + overhangMs : Infinity;
  let [before, after, within, present] = [0, 0, 0, 0];
  for (let row = start; row < end; row++) {
    const close = closeOfBase(base.time[row]);
    if (rows[row] >= 0 && close < staleFrom) present++;
    else if (close < firstClose) before++;
    else if (close > lastClose) after++;
    else within++;
  }
  return { before, after, within, present };
}

function causesOf(base: Bars, other: Bars, { before, after, within, present }: MissingRows): string[] {
  const causes: string[] = [];
  if (before > 0) causes.push(`${before} come before its first bar has closed`);
  if (after > 0) causes.push(`${after} come after its last bar`);
  if (within > 0 && present === 0 && base.timeframe === other.timeframe)
    causes.push(
      `on ${within} none of its bars closes when one of ${base.symbol} does, since they open at other times ` +
        `(${clockOf(other)} and ${clockOf(base)})`,
    );
  else if (within > 0 && base.timeframe === other.timeframe)
    causes.push(`on ${within} it has no bar that closes at the same time, and no earlier value stands in`);
  else if (within > 0)
    causes.push(`on ${within} its last ${other.timeframe} bar ended more than ${other.timeframe} ago`);
  return causes;
}

function adviceOf(base: Bars, other: Bars, { before, after, within, present }: MissingRows): string {
  if (within > 0 && present === 0 && base.timeframe === other.timeframe)
    return (
      `Import bars of ${other.symbol} that open when those of ${base.symbol} do, or read a coarser timeframe of ` +
      `${other.symbol}.`
    );
  if (before + after >= within)
    return `Import the bars of ${other.symbol} that are missing, or set config.range to the time that it covers.`;
  return `Read a coarser timeframe of ${other.symbol}, or leave out the bars on which only ${base.symbol} trades.`;
}

/** Imported columns that begin later than the window or end earlier. Holes between two values may be meant. */
function columnFindings({ evaluated, input }: EvaluatedRun, bits: readonly ConditionBits[]): DataFinding[] {
  const { plan, market } = evaluated;
  const { start, end } = input;
  const { symbol, timeframe, time } = market.base;
  const found: DataFinding[] = [];
  for (const step of plan.steps) {
    if (step.type !== 'value' || step.op !== 'series' || !sameFrame(step.frame, plan.base)) continue;
    const { first, last } = extentOf(evaluated.value(step.slot).values);
    const known = Math.max(0, Math.min(end, last + 1) - Math.max(start, first));
    const absent = end - start - known;
    if (absent < MANY_MISSING * (end - start)) continue;
    const extent =
      last < 0 ? 'It has no value at all' : `Its values run from ${dayOf(time[first])} to ${dayOf(time[last])}`;
    found.push({
      code: 'SERIES_INCOMPLETE',
      conditions: readersOf(plan, bits, (slot) => slot === step.slot),
      message:
        `The column "${step.name}" of ${symbol} ${timeframe} is unknown on ${absent} of the ${end - start} bars. ` +
        `${extent}.`,
      suggestion: 'Import the bars with the column filled in, or set config.range to the time that it covers.',
    });
  }
  return found;
}

/** The first and the last row with a value; `last` is -1 when there is none. */
function extentOf(values: Float64Array): { readonly first: number; readonly last: number } {
  let first = 0;
  let last = values.length - 1;
  while (first < values.length && Number.isNaN(values[first])) first++;
  while (last >= first && Number.isNaN(values[last])) last--;
  return { first, last: last < first ? -1 : last };
}

/** A stated warm-up that leaves a condition unknown at the beginning. An inferred one is long enough. */
function warmUpFindings({ strategy, warmup, input }: EvaluatedRun, bits: readonly ConditionBits[]): DataFinding[] {
  if (warmup.source === 'inferred') return [];
  const needed = inferLookback(strategy, input.bars.timeframe);
  if (needed <= warmup.bars || needed <= input.start) return [];
  const { start, end } = input;
  let longest = { condition: null as ConditionBits | null, rows: 0 };
  for (const condition of bits) {
    if (condition.node.slot === null) continue;
    const rows = leadingUnknown(condition.isUnknown, start, Math.min(needed, end)) - start;
    if (rows > longest.rows) longest = { condition, rows };
  }
  const { condition, rows } = longest;
  if (condition === null || rows < MANY_MISSING * (end - start)) return [];
  const member = warmup.source === 'settings' ? 'settings.warmupPeriod' : 'defaults.warmupBars';
  const message =
    `${condition.node.text} was unknown on the first ${rows} of the ${end - start} bars: ${member} is ` +
    `${warmup.bars}, and the longest period needs ${needed}.`;
  return [
    {
      code: 'WARMUP_TOO_SHORT',
      conditions: [condition],
      message,
      suggestion: `Remove ${member}, or raise it to ${needed}.`,
    },
  ];
}

/** The first row from `start` on that is not unknown, at most `end`. */
function leadingUnknown(isUnknown: Uint32Array, start: number, end: number): number {
  let row = start;
  while (row < end && hasBit(isUnknown, row)) row++;
  return row;
}

/** The conditions that depend on a step, an innermost one first. */
function readersOf(
  { steps, conditions }: Plan,
  bits: readonly ConditionBits[],
  isSource: (slot: Slot) => boolean,
): readonly ConditionBits[] {
  const depends = new Uint8Array(steps.length);
  // A step comes after its inputs.
  for (const { slot, inputs } of steps)
    depends[slot] = +(isSource(slot) || inputs.some((input) => depends[input] === 1));
  const readers = bits.filter(({ node }) => node.slot !== null && depends[node.slot] === 1);
  const outer = new Set(readers.flatMap(({ node }) => (node.parent === null ? [] : [conditions[node.parent]])));
  const isOuter = ({ node }: ConditionBits): boolean => outer.has(node);
  return readers.toSorted((a, b) => Number(isOuter(a)) - Number(isOuter(b)));
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const spanOf = ({ time, length, timeframe }: Bars): string =>
  length === 0 ? 'nothing' : `${dayOf(time[0])} to ${dayOf(closeOf(timeframe, time[length - 1]))}`;
/** The hour at which the first bar opens. */
const clockOf = ({ time, symbol }: Bars): string => `${symbol} at ${new Date(time[0]).toISOString().slice(11, 16)}Z`;
