// How trades ended: by reason and by method, counted in one pass.
import { EXIT_METHODS, type ExitMethod } from '../simulate/instant.ts';
import { EXIT_REASONS, type ExitReason } from '../simulate/trade.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import { addTo } from './positions.ts';

export interface ExitsByReason {
  readonly trades: number;
  readonly pnl: number;
  readonly winRate: number | null;
}

export interface Exits {
  /** Of the reasons that occur, in the order of EXIT_REASONS. */
  readonly byReason: Readonly<Record<string, ExitsByReason>>;
  /** Trades by reason, in the order in which the reasons first occur. */
  readonly counts: Readonly<Record<string, number>>;
  readonly byMethod: Readonly<Record<ExitMethod, number>>;
}

export function exitsOf(log: TradeLog): Exits {
  const reasons = EXIT_REASONS.length;
  const sums: Sums = {
    trades: new Int32Array(reasons),
    wins: new Int32Array(reasons),
    pnl: new Float64Array(reasons),
    lost: new Float64Array(reasons),
    methods: new Int32Array(EXIT_METHODS.length),
    occurring: [],
  };
  addExits(log, sums);
  const { trades, wins, pnl, lost, methods, occurring } = sums;
  const byReason: Record<string, ExitsByReason> = {};
  EXIT_REASONS.forEach((reason, at) => {
    const count = trades[at];
    if (count > 0) byReason[reason] = { trades: count, pnl: pnl[at] + lost[at], winRate: wins[at] / count };
  });
  const counts: Record<string, number> = {};
  for (const reason of occurring) counts[EXIT_REASONS[reason]] = trades[reason];
  const [direct, gap, drill, fallback] = methods;
  return { byReason, counts, byMethod: { direct, gap, drill, fallback } };
}

interface Sums {
  readonly trades: Int32Array;
  readonly wins: Int32Array;
  readonly pnl: Float64Array;
  readonly lost: Float64Array;
  readonly methods: Int32Array;
  readonly occurring: number[];
}

function addExits(log: TradeLog, { trades, wins, pnl, lost, methods, occurring }: Sums): void {
  const { numbers, reasons, decisions, length } = log;
  for (let trade = 0; trade < length; trade++) {
    const value = numbers[trade * TRADE_WIDTH + TRADE.pnl];
    const reason = indexOf(EXIT_REASONS, reasons[trade]);
    if (trades[reason]++ === 0) occurring.push(reason);
    wins[reason] += +(value > 0);
    addTo(pnl, lost, reason, value);
    methods[indexOf(EXIT_METHODS, decisions[trade].method)]++;
  }
}

/** A loop: `indexOf` of an array is a call. */
function indexOf<Word extends ExitReason | ExitMethod>(words: readonly Word[], word: Word): number {
  let at = 0;
  while (words[at] !== word) at++;
  return at;
}
