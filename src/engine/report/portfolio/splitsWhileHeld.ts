// Splits while held: jumps of the price by a whole or simple ratio, which prices that are not adjusted have.
import type { Bars } from '../../bars/bars.ts';
import { KeptByRange } from '../../bars/keptByRange.ts';
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
  const trades = tradesOf(simulation, instruments.length);
  const found: Split[] = [];
  for (const index of bySymbol) {
    if (trades[index].length === 0) continue;
    const { symbol, input } = instruments[index];
    const jumps = jumpsOf(input.bars, input.start, Math.max(input.start, input.end));
    const held = jumps.find(({ row }) => isHeldThrough(simulation, trades[index], row));
    if (held !== undefined) found.push({ symbol, time: input.bars.time[held.row], ratio: held.ratio });
  }
  return found;
}

/** The trades of each instrument, as indexes into the log. */
function tradesOf({ tradeLog, tradeInstruments }: PortfolioRun['simulation'], instruments: number): number[][] {
  const trades = Array.from({ length: instruments }, (): number[] => []);
  for (let trade = 0; trade < tradeLog.length; trade++) trades[tradeInstruments[trade]].push(trade);
  return trades;
}

function isHeldThrough({ tradeLog: { numbers } }: PortfolioRun['simulation'], trades: readonly number[], row: number) {
  return trades.some((trade) => {
    const at = trade * TRADE_WIDTH;
    return numbers[at + TRADE.entryRow] < row && numbers[at + TRADE.exitRow] >= row;
  });
}

interface Jump {
  readonly row: number;
  readonly ratio: string;
}
const kept = new KeptByRange<Bars, readonly Jump[]>();

/** The rows whose open is a simple ratio away from the close before it. */
const jumpsOf = (bars: Bars, start: number, end: number): readonly Jump[] =>
  kept.get(bars, start, end, () => {
    const jumps: Jump[] = [];
    for (let row = start + 1; row < end; row++) {
      const before = bars.close[row - 1];
      const after = bars.open[row];
      // Most rows end here: a division takes much longer than a product.
      if (before * SMALL_MOVE > after && after * SMALL_MOVE > before) continue;
      if (after > 0 && before > 0 && Math.max(before / after, after / before) >= LEAST_JUMP) {
        const ratio = ratioOf(before, after);
        if (ratio !== null) jumps.push({ row, ratio });
      }
    }
    return jumps;
  });

function ratioOf(before: number, after: number): string | null {
  for (const [shares, old] of RATIOS) {
    if (isNear(before / after, shares / old)) return `${shares}:${old}`;
    if (isNear(after / before, shares / old)) return `${old}:${shares}`;
  }
  return null;
}

const isNear = (value: number, ratio: number): boolean => Math.abs(value / ratio - 1) <= TOLERANCE;
