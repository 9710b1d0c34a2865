// What a backtest answers (design §5): trade rows, the summary, and where they come from.
import type { EvaluatedPlan } from '../columns/evaluate.ts';
import type { RunnableStrategy } from '../language/ast.ts';
import type { Program } from '../plan/program.ts';
import type { ResolvedConfig } from '../simulate/config.ts';
import type { ExitMethod, ExitReason, SimulationInput, SimulationResult } from '../simulate/program.ts';

/** Everything a report is made of. */
export interface ReportInput {
  readonly strategy: RunnableStrategy;
  readonly evaluated: EvaluatedPlan;
  readonly program: Program;
  readonly simulation: SimulationResult;
  readonly input: SimulationInput;
  readonly config: ResolvedConfig;
  /** First row of the range (0 without one): trade rows count bars from it. */
  readonly firstRow: number;
  /** One past the last row of the range. */
  readonly lastRow: number;
  readonly warmup: { readonly bars: number; readonly source: 'settings' | 'defaults' | 'inferred' };
  readonly band: Band;
}

/** Returns under the fallback, and with it replaced by the two extreme readings (semantics §3.5). */
export interface Band {
  readonly low: number;
  readonly high: number;
  readonly pessimistic: number;
  readonly optimistic: number;
}

/** One closing fill, as artifacts and the command line show it: times in ms, bars from the start of the range, fractions for percents. */
export interface TradeRow {
  readonly positionId: number;
  readonly side: 'long' | 'short';
  readonly entryTime: number;
  readonly entryBar: number;
  readonly entryPrice: number;
  readonly quantity: number;
  readonly exitTime: number;
  readonly exitBar: number;
  readonly exitPrice: number;
  readonly entryFee: number;
  readonly exitFee: number;
  readonly slippage: number;
  readonly pnl: number;
  readonly returnPct: number;
  readonly maePct: number;
  readonly mfePct: number;
  readonly barsHeld: number;
  readonly exitReason: ExitReason;
  readonly exitMethod: ExitMethod;
  readonly exitResolution: string;
  readonly exitPolicy: string | null;
  readonly exitFineTime: number | null;
  readonly entryRule: string;
  readonly exitRule: string | null;
}

export function tradeRows({ simulation, input, firstRow, program }: ReportInput): TradeRow[] {
  const { time } = input.bars;
  return simulation.trades.map((trade) => ({
    positionId: trade.positionId,
    side: trade.side === 1 ? 'long' : 'short',
    entryTime: time[trade.entryRow],
    entryBar: trade.entryRow - firstRow,
    entryPrice: trade.entryPrice,
    quantity: trade.quantity,
    exitTime: time[trade.exitRow],
    exitBar: trade.exitRow - firstRow,
    exitPrice: trade.exitPrice,
    entryFee: trade.entryFee,
    exitFee: trade.exitFee,
    slippage: trade.slippage,
    pnl: trade.pnl,
    returnPct: trade.returnPct,
    maePct: trade.maePct,
    mfePct: trade.mfePct,
    barsHeld: trade.exitRow - trade.entryRow,
    exitReason: trade.exitReason,
    exitMethod: trade.exitMethod,
    exitResolution: trade.exitResolution,
    exitPolicy: trade.exitPolicy,
    exitFineTime: trade.exitFineTime,
    entryRule: program.entries[trade.entryRule].id,
    exitRule: exitRuleText(trade.exitReason, trade.exitRule, program),
  }));
}

/** The exit's id for a signal, `takeProfits/N` for a step of the ladder. */
function exitRuleText(reason: ExitReason, rule: number | null, program: Program): string | null {
  if (rule === null) return null;
  return reason === 'take_profit' ? `/strategy/risk/takeProfits/${rule}` : (program.exits[rule]?.id ?? null);
}
