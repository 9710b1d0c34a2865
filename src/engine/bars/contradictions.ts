// Contradictions: base bars whose children, the finer bars inside them, show other prices (semantics §3.2).
import { countBits, hasBit, wordCount } from '../kernels/bits.ts';
import { lowerBound } from '../kernels/search.ts';
import type { Bars } from './bars.ts';
import { closeOf, closesOf, longestMs } from './timeframes.ts';

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
export const FEWEST_CONTRADICTED = 5;

interface Contradiction {
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

/** What contradicts rows [start, end), if a run over them would have drilled; null: nothing. */
export function contradictionsIn(
  base: Bars,
  fine: Bars,
  start: number,
  end: number,
): { readonly found: Contradictions; readonly count: number } | null {
  const found = contradictionsOf(base, fine);
  if (found === null || found.count === 0 || end <= start) return null;
  const hasChildren =
    lowerBound(fine.time, closeOf(base.timeframe, base.time[end - 1])) > lowerBound(fine.time, base.time[start]);
  const count = countBits(found.runRows, start, end);
  return hasChildren && (count > 0 || found.isDrillingOff) ? { found, count } : null;
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
  const closeOfBase = closesOf(base.timeframe);
  const { time, high, low, length } = fine;
  let comparedBars = 0;
  for (let row = from; row < to; row++) {
    const opens = base.time[row];
    const closes = closeOfBase(opens);
    while (child < length && time[child] < opens) child++;
    const first = child;
    let highest = -Infinity;
    let lowest = Infinity;
    for (; child < length && time[child] < closes; child++) {
      if (high[child] > highest) highest = high[child];
      if (low[child] < lowest) lowest = low[child];
    }
    if (child === first) continue;
    comparedBars++;
    const column = contradictedColumn(base, row, fine, first, child, 0, 1, highest, lowest);
    if (column !== null) rows[row >>> 5] |= 1 << (row & 31);
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
  /** Extremes, not scaled. */
  readonly highest: number;
  readonly lowest: number;
}

export function childrenAt(base: Bars, row: number, fine: Bars, movedMs = 0): Children {
  const opens = base.time[row] + movedMs;
  const first = lowerBound(fine.time, opens);
  const end = lowerBound(fine.time, closeOf(base.timeframe, base.time[row]) + movedMs);
  const highest = fine.high.subarray(first, end).reduce((most, price) => Math.max(most, price), -Infinity);
  const lowest = fine.low.subarray(first, end).reduce((least, price) => Math.min(least, price), Infinity);
  return { first, end, movedMs, scale: 1, highest, lowest };
}

/** Whether children contradict their bar by more than the tolerance. */
export const isContradicted = (base: Bars, row: number, fine: Bars, children: Children): boolean =>
  columnOf(base, row, fine, children) !== null;

const columnOf = (
  base: Bars,
  row: number,
  fine: Bars,
  { first, end, movedMs, scale, highest, lowest }: Children,
): Contradiction['column'] | null =>
  contradictedColumn(base, row, fine, first, end, movedMs, scale, scale * highest, scale * lowest);

/**
 * The price of a bar that its children contradict by more than the tolerance. They may never lie outside of it. They
 * must reach its extremes when none is missing, and meet its open or close when they begin or end with it. The numbers
 * of `Children` are arguments of their own, because an object per bar takes longer than the comparison.
 */
function contradictedColumn(
  base: Bars,
  row: number,
  fine: Bars,
  first: number,
  end: number,
  movedMs: number,
  scale: number,
  highest: number,
  lowest: number,
): Contradiction['column'] | null {
  const high = base.high[row];
  const low = base.low[row];
  const tolerance = Math.max(TOLERATED_RANGE * (high - low), TOLERATED_PRICE * high);
  // Children are never months.
  const childMs = longestMs(fine.timeframe);
  const spanMs = closeOf(base.timeframe, base.time[row]) - base.time[row];
  const isWhole = (end - first) * childMs === spanMs;
  if (highest > high + tolerance || (isWhole && highest < high - tolerance)) return 'high';
  if (lowest < low - tolerance || (isWhole && lowest > low + tolerance)) return 'low';
  const opens = base.time[row] + movedMs;
  if (fine.time[first] === opens && Math.abs(scale * fine.open[first] - base.open[row]) > tolerance) return 'open';
  const last = end - 1;
  const endsTogether = fine.time[last] + childMs === opens + spanMs;
  return endsTogether && Math.abs(scale * fine.close[last] - base.close[row]) > tolerance ? 'close' : null;
}

/** What contradicts a contradicted row. */
export function contradictionAt({ base, fine }: Contradictions, row: number): Contradiction {
  const children = childrenAt(base, row, fine);
  const { first, end, highest, lowest } = children;
  const column = columnOf(base, row, fine, children)!;
  const childPrices = { open: fine.open[first], high: highest, low: lowest, close: fine.close[end - 1] };
  return { time: base.time[row], column, price: base[column][row], childPrice: childPrices[column] };
}
