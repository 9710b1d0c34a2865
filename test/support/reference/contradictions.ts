// Which base bars their children contradict, by the letter of semantics §3.2: nothing is kept from bar to bar.
import type { Bars } from '../../../src/engine/bars/bars.ts';
import { endOf, lengthOf } from '../timeGrid.ts';

interface Contradicted {
  readonly rows: ReadonlySet<number>;
  /** More than a tenth of the bars that have children, and at least five of them. */
  readonly isDrillingOff: boolean;
}

const known = new WeakMap<Bars, WeakMap<Bars, Contradicted>>();

export function contradicted(bars: Bars, children: Bars): Contradicted {
  const ofBars = known.get(bars) ?? new WeakMap<Bars, Contradicted>();
  known.set(bars, ofBars);
  let found = ofBars.get(children);
  if (found === undefined) ofBars.set(children, (found = find(bars, children)));
  return found;
}

function find(bars: Bars, children: Bars): Contradicted {
  const endOfRow = (row: number): number => endOf(bars.timeframe, bars.time[row]);
  const times = [...children.time];
  const withChildren = [...bars.time.keys()]
    .map((row) => ({
      row,
      inside: times.flatMap((time, at) => (time >= bars.time[row] && time < endOfRow(row) ? [at] : [])),
    }))
    .filter(({ inside }) => inside.length > 0);
  const rows = new Set(
    withChildren.filter(({ row, inside }) => contradicts(bars, row, children, inside)).map(({ row }) => row),
  );
  return { rows, isDrillingOff: rows.size >= 5 && rows.size > 0.1 * withChildren.length };
}

function contradicts(bars: Bars, row: number, children: Bars, inside: readonly number[]): boolean {
  const [opens, closes] = [bars.time[row], endOf(bars.timeframe, bars.time[row])];
  const childMs = lengthOf(children.timeframe);
  const [high, low] = [bars.high[row], bars.low[row]];
  const tolerance = Math.max(0.1 * (high - low), 1e-4 * high);
  const highest = Math.max(...inside.map((at) => children.high[at]));
  const lowest = Math.min(...inside.map((at) => children.low[at]));
  const [first, last] = [inside[0], inside.at(-1)!];
  if (highest > high + tolerance || lowest < low - tolerance) return true;
  if (inside.length * childMs === closes - opens && (highest < high - tolerance || lowest > low + tolerance))
    return true;
  if (children.time[first] === opens && Math.abs(children.open[first] - bars.open[row]) > tolerance) return true;
  return children.time[last] + childMs === closes && Math.abs(children.close[last] - bars.close[row]) > tolerance;
}
