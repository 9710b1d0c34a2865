// Contradictions: base bars whose children, the finer bars inside them, show other prices (semantics §3.2).
import { countBits, hasBit, wordCount } from '../kernels/bits.ts';
import { lowerBound } from '../kernels/search.ts';
import { TIMEFRAME_MS, type Bars } from './bars.ts';

/**
 * How far children may lie from their bar, as a share of its high − low. Measured on EURUSD from two vendors, one with
 * bid and one with ask prices: 4 % of the days and 2 % of the 4h bars lie further apart. Hours that are 0.5 % off
 * contradict 100 % of the days of SPY and 75 % of those of BTCUSDT.
 */
const TOLERATED_RANGE = 0.1;
/** The least tolerance, as a share of the high: a cent on 100, for bars that hardly move. */
const TOLERATED_PRICE = 1e-4;
/**
 * Drilling is off from this share of contradicted bars on. It lies between what two vendors of one market differ in
 * (4 %) and what the mildest wrong pair showed that changed results (hours 0.2 % off under BTCUSDT days: 20 %).
 */
const MOST_CONTRADICTED = 0.1;
/** Fewer contradicted bars than this are taken for bad ticks, whatever their share. */
const FEWEST_CONTRADICTED = 5;

export interface Contradiction {
  /** Open of the base bar. */
  readonly time: number;
  readonly column: 'open' | 'high' | 'low' | 'close';
  /** Of the base bar. */
  readonly price: number;
  /** The open of the first child, the close of the last, or the extreme of all of them. */
  readonly childPrice: number;
}

/** How a base series and the finer one inside it agree; of the whole series, whatever the range of a run. */
export interface Contradictions {
  readonly base: Bars;
  readonly fine: Bars;
  /** Bits of the base bars that their children contradict. */
  readonly rows: Uint32Array;
  /** The same for the bars that a run reads, which may be a part of the series. */
  readonly runRows: Uint32Array;
  /** How many base bars have children. */
  readonly comparedBars: number;
  readonly count: number;
  /** So many are contradicted that no bar is drilled into. */
  readonly isDrillingOff: boolean;
}

const known = new WeakMap<Bars, WeakMap<Bars, Contradictions | null>>();

/**
 * Compares every base bar with its children, once per pair of series. Null when there is nothing to compare: the base
 * was made from the finer bars.
 */
export function contradictionsOf(base: Bars, fine: Bars): Contradictions | null {
  let ofBase = known.get(base);
  if (ofBase === undefined) known.set(base, (ofBase = new WeakMap()));
  let found = ofBase.get(fine);
  if (found === undefined) ofBase.set(fine, (found = compare(base, fine)));
  return found;
}

function compare(base: Bars, fine: Bars): Contradictions | null {
  if (base.isResampled && base.sha256 === fine.sha256) return null;
  if (base.cutFrom !== undefined) {
    const whole = contradictionsOf(base.cutFrom.bars, fine.cutFrom?.bars ?? fine);
    return whole && { ...whole, runRows: cutBits(whole.runRows, base.cutFrom.firstRow, base.length) };
  }
  const rows = new Uint32Array(wordCount(base.length));
  let comparedBars = 0;
  let child = 0;
  for (let row = 0; row < base.length; row += BLOCK_ROWS) {
    const block = compareRows(base, fine, row, Math.min(row + BLOCK_ROWS, base.length), child, rows);
    comparedBars += block.comparedBars;
    child = block.child;
  }
  const count = countBits(rows, 0, base.length);
  const isDrillingOff = count >= FEWEST_CONTRADICTED && count > MOST_CONTRADICTED * comparedBars;
  return { base, fine, rows, runRows: rows, comparedBars, count, isDrillingOff };
}

function cutBits(rows: Uint32Array, first: number, length: number): Uint32Array {
  const cut = new Uint32Array(wordCount(length));
  for (let row = 0; row < length; row++) if (hasBit(rows, first + row)) cut[row >>> 5] |= 1 << (row & 31);
  return cut;
}

/** V8 compiles a function that is called per block sooner than one loop over all rows. */
const BLOCK_ROWS = 4096;

/** Sets the bits of the contradicted rows [from, to). @param child the first child that opens at or after row `from` */
function compareRows(
  base: Bars,
  fine: Bars,
  from: number,
  to: number,
  child: number,
  rows: Uint32Array,
): { readonly comparedBars: number; readonly child: number } {
  const spanMs = TIMEFRAME_MS[base.timeframe];
  const { time } = fine;
  let comparedBars = 0;
  for (let row = from; row < to; row++) {
    const opens = base.time[row];
    while (child < fine.length && time[child] < opens) child++;
    const first = child;
    while (child < fine.length && time[child] < opens + spanMs) child++;
    if (child === first) continue;
    comparedBars++;
    if (isContradicted(base, row, fine, { first, end: child, movedMs: 0, scale: 1 }))
      rows[row >>> 5] |= 1 << (row & 31);
  }
  return { comparedBars, child };
}

/** The children [first, end) of a base bar, which a search for the cause moves in time and scales. */
export interface Children {
  readonly first: number;
  readonly end: number;
  /** How much later they opened than they say. */
  readonly movedMs: number;
  readonly scale: number;
}

export const childrenAt = (base: Bars, row: number, fine: Bars, movedMs = 0): Children => {
  const opens = base.time[row] + movedMs;
  const end = lowerBound(fine.time, opens + TIMEFRAME_MS[base.timeframe]);
  return { first: lowerBound(fine.time, opens), end, movedMs, scale: 1 };
};

/**
 * Whether children contradict their bar by more than the tolerance. They may never lie outside of it. They must reach
 * its extremes when none is missing, and meet its open or close when they begin or end with it.
 */
export const isContradicted = (base: Bars, row: number, fine: Bars, children: Children): boolean =>
  contradictedColumn(base, row, fine, children) !== null;

function contradictedColumn(
  base: Bars,
  row: number,
  fine: Bars,
  { first, end, movedMs, scale }: Children,
): Contradiction['column'] | null {
  const high = base.high[row];
  const low = base.low[row];
  const tolerance = Math.max(TOLERATED_RANGE * (high - low), TOLERATED_PRICE * high);
  const childHigh = scale * highest(fine.high, first, end);
  const childLow = scale * lowest(fine.low, first, end);
  const childMs = TIMEFRAME_MS[fine.timeframe];
  const spanMs = TIMEFRAME_MS[base.timeframe];
  const isWhole = (end - first) * childMs === spanMs;
  if (childHigh > high + tolerance || (isWhole && childHigh < high - tolerance)) return 'high';
  if (childLow < low - tolerance || (isWhole && childLow > low + tolerance)) return 'low';
  const opens = base.time[row] + movedMs;
  if (fine.time[first] === opens && Math.abs(scale * fine.open[first] - base.open[row]) > tolerance) return 'open';
  const last = end - 1;
  const endsTogether = fine.time[last] + childMs === opens + spanMs;
  return endsTogether && Math.abs(scale * fine.close[last] - base.close[row]) > tolerance ? 'close' : null;
}

/** What contradicts a contradicted row. */
export function contradictionAt({ base, fine }: Contradictions, row: number): Contradiction {
  const children = childrenAt(base, row, fine);
  const { first, end } = children;
  const column = contradictedColumn(base, row, fine, children)!;
  const childPrices = {
    open: () => fine.open[first],
    high: () => highest(fine.high, first, end),
    low: () => lowest(fine.low, first, end),
    close: () => fine.close[end - 1],
  };
  return { time: base.time[row], column, price: base[column][row], childPrice: childPrices[column]() };
}

export function highest(values: Float64Array, first: number, end: number): number {
  let found = values[first];
  for (let at = first + 1; at < end; at++) if (values[at] > found) found = values[at];
  return found;
}

export function lowest(values: Float64Array, first: number, end: number): number {
  let found = values[first];
  for (let at = first + 1; at < end; at++) if (values[at] < found) found = values[at];
  return found;
}
