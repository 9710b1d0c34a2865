// How trades ended: by reason and by method, counted in one pass.
import { EXIT_METHODS, type ExitMethod } from '../simulate/instant.ts';
import { EXIT_REASONS, type ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import { addTo } from './positions.ts';

interface ExitsByReason {
  readonly trades: number;
  readonly pnl: number;
  readonly winRate: number | null;
}

export interface ExitStatistics {
  /** Results by the reasons that occur, in the order of EXIT_REASONS. */
  readonly byReason: Readonly<Record<string, ExitsByReason>>;
  /** Trades by reason, in the order in which the reasons first occur. */
  readonly counts: Readonly<Record<string, number>>;
  readonly byMethod: Readonly<Record<ExitMethod, number>>;
}

/** Overwritten by each call. */
const SUMS = {
  trades: new Int32Array(EXIT_REASONS.length),
  wins: new Int32Array(EXIT_REASONS.length),
  pnl: new Float64Array(EXIT_REASONS.length),
  lost: new Float64Array(EXIT_REASONS.length),
  methods: new Int32Array(EXIT_METHODS.length),
};

/** Counts and sums the trades of a run by exit reason and by method; money in quote units. */
export function exitStatistics(log: TradeLog): ExitStatistics {
  const { trades, wins, pnl, lost, methods } = SUMS;
  for (const sums of [trades, wins, pnl, lost, methods]) sums.fill(0);
  const counts: Record<string, number> = {};
  for (const reason of addExits(log)) counts[EXIT_REASONS[reason]] = trades[reason];
  const byReason: Record<string, ExitsByReason> = {};
  for (let at = 0; at < EXIT_REASONS.length; at++) {
    const count = trades[at];
    if (count > 0) byReason[EXIT_REASONS[at]] = { trades: count, pnl: pnl[at] + lost[at], winRate: wins[at] / count };
  }
  const [direct, gap, drill, fallback] = methods;
  return { byReason, counts, byMethod: { direct, gap, drill, fallback } };
}

/** @returns the reasons in the order in which they first occur */
function addExits({ numbers, reasons, decisions, length }: TradeLog): number[] {
  const { trades, wins, pnl, lost, methods } = SUMS;
  const occurring: number[] = [];
  for (let trade = 0; trade < length; trade++) {
    const value = numbers[trade * TRADE_WIDTH + TRADE.pnl];
    const reason = indexOf(EXIT_REASONS, reasons[trade]);
    if (trades[reason]++ === 0) occurring.push(reason);
    wins[reason] += +(value > 0);
    addTo(pnl, lost, reason, value);
    methods[indexOf(EXIT_METHODS, decisions[trade].method)]++;
  }
  return occurring;
}

/** A loop, because `indexOf` of an array is a call into the runtime. */
function indexOf<Word extends ExitReason | ExitMethod>(words: readonly Word[], word: Word): number {
  let at = 0;
  while (words[at] !== word) at++;
  return at;
}
