// Splits while held: jumps of the price by a whole or simple ratio, which prices that are not adjusted have.
import type { Bars } from '../../bars/bars.ts';
import { TRADE, TRADE_WIDTH } from '../../simulate/tradeLog.ts';
import type { PortfolioRun } from '../reportInput.ts';

interface Split {
  readonly symbol: string;
  /** The open of the first bar after it, ms UTC. */
  readonly time: number;
  /** As it is written: "4:1" where one share became four, "1:10" where ten became one. */
  readonly ratio: string;
}

/** Shares after a split for shares before it, as they occur. */
const RATIOS: readonly (readonly [number, number])[] = [
  [3, 2], [4, 3], [5, 2], [5, 3], [5, 4], ...[2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 100].map(
    (shares) => [shares, 1] as const,
  ),
]; // prettier-ignore
/** The market moves between the two prices, too; 1 % is a quiet night. */
const TOLERANCE = 0.01;
/** Jumps below this are ordinary moves: of the ratios only 5:4 and 4:3 are smaller than a third. */
const LEAST_JUMP = 1.24;
/** Less than any jump, however a product or a quotient is rounded. */
const SMALL_MOVE = 1.23;

/** The first split of each instrument that it was held through, in the order of symbols. */
export function splitsWhileHeld({ instruments, bySymbol, simulation }: PortfolioRun): Split[] {
  const held = heldRows(simulation, instruments.length);
  return bySymbol.flatMap((index) => {
    const { symbol, input } = instruments[index];
    const split = firstSplit(input.bars, held[index]);
    return split === null ? [] : [{ symbol, ...split }];
  });
}

/** The row of an entry and of its exit. */
type Held = readonly [entry: number, exit: number];

/** What each instrument was held through, by the row of the entry. */
function heldRows({ tradeLog, tradeInstruments }: PortfolioRun['simulation'], instruments: number): Held[][] {
  const held = Array.from({ length: instruments }, (): Held[] => []);
  const { numbers, length } = tradeLog;
  for (let trade = 0; trade < length; trade++) {
    const at = trade * TRADE_WIDTH;
    held[tradeInstruments[trade]].push([numbers[at + TRADE.entryRow], numbers[at + TRADE.exitRow]]);
  }
  for (const each of held) each.sort(([a], [b]) => a - b);
  return held;
}

/** The first row whose open is a simple ratio away from the close before it, and over which a position was held. */
function firstSplit({ time, open, close }: Bars, held: readonly Held[]): Omit<Split, 'symbol'> | null {
  let next = 0;
  for (const [entry, exit] of held) {
    for (let row = Math.max(entry + 1, next); row <= exit; row++) {
      const before = close[row - 1];
      const after = open[row];
      // Most rows end here: a division takes much longer than a product.
      if (before * SMALL_MOVE > after && after * SMALL_MOVE > before) continue;
      if (!(after > 0 && before > 0) || Math.max(before / after, after / before) < LEAST_JUMP) continue;
      const ratio = ratioOf(before, after);
      if (ratio !== null) return { time: time[row], ratio };
    }
    next = Math.max(next, exit + 1);
  }
  return null;
}

function ratioOf(before: number, after: number): string | null {
  for (const [shares, old] of RATIOS) {
    if (isNear(before / after, shares / old)) return `${shares}:${old}`;
    if (isNear(after / before, shares / old)) return `${old}:${shares}`;
  }
  return null;
}

const isNear = (value: number, ratio: number): boolean => Math.abs(value / ratio - 1) <= TOLERANCE;
