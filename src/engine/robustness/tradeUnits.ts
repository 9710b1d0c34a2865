// Units of a run: what evidence counts and Monte Carlo draws. They are its positions; of a rotation, whose holdings may
// last for the whole run, they are the periods from one rebalance to the next.
import { droppedExit } from '../definitions/exitReasons/droppedExit.ts';
import { exitReasonOf, type ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { rebalanceExit } from '../definitions/exitReasons/rebalanceExit.ts';
import { countBits } from '../kernels/bits.ts';
import { exitInstants } from '../report/portfolio/tradeInstants.ts';
import { positionsOf } from '../report/positions.ts';
import type { PortfolioRun } from '../report/reportInput.ts';
import { TRADE, TRADE_WIDTH } from '../simulate/tradeLog.ts';
import type { CheckRun } from './checkRuns.ts';

/** Rows are those of the account: in a portfolio, the instants of the axis. */
export interface TradeUnit {
  readonly entryRow: number;
  exitRow: number;
  pnl: number;
  /** Whether a part of it was open when the data ended. */
  isOpen: boolean;
}

/** Whether the units of a run are periods between rebalances. */
export const isRotation = ({ portfolio }: CheckRun): boolean =>
  portfolio !== undefined && portfolio.instruments.some(({ input }) => input.allocation != null);

/** The units of a run: periods in their order, positions in the order of their first exits. */
export const unitsOf = (run: CheckRun): TradeUnit[] =>
  run.portfolio !== undefined && isRotation(run) ? periodsOf(run, run.portfolio) : positionsIn(run);

/** The profit of each unit, in the order in which they ended. */
export function profitsOf(run: CheckRun): Iterable<number> {
  const { simulation, portfolio } = run;
  if (isRotation(run) || hasLinks(run))
    return unitsOf(run)
      .sort((a, b) => a.exitRow - b.exitRow)
      .map(({ pnl }) => pnl);
  return positionsOf(simulation.tradeLog, portfolio === undefined ? null : exitInstants(portfolio)).pnl;
}

/** The row of the account at which a row of the instrument of a trade lies. */
function accountRow({ portfolio }: CheckRun, trade: number, row: number): number {
  if (portfolio === undefined) return row;
  return portfolio.axis.instants[portfolio.simulation.tradeInstruments[trade]][row];
}

/** The row of the first decision behind each trade. */
export const decisionRow = (run: CheckRun, trade: number): number =>
  accountRow(run, trade, run.simulation.tradeLog.numbers[trade * TRADE_WIDTH + TRADE.entryDecisionRow]);

const hasLinks = ({ input }: CheckRun): boolean => (input.config.portfolio?.linked ?? []).length > 0;

/** The legs of a linked group that were entered at one close are one position: neither was taken for its own sake. */
function positionsIn(run: CheckRun): TradeUnit[] {
  const { numbers, reasons, length } = run.simulation.tradeLog;
  const linked = run.input.config.portfolio?.linked ?? [];
  const keyOf = (trade: number, id: number): number | string => {
    if (linked.length === 0) return id;
    const { symbol } = run.portfolio!.instruments[run.portfolio!.simulation.tradeInstruments[trade]];
    const group = linked.findIndex((each) => each.includes(symbol));
    return group < 0 ? id : `${group} ${decisionRow(run, trade)}`;
  };
  const units = new Map<number | string, TradeUnit>();
  for (let trade = 0; trade < length; trade++) {
    const at = trade * TRADE_WIDTH;
    const key = keyOf(trade, numbers[at + TRADE.positionId]);
    const entryRow = accountRow(run, trade, numbers[at + TRADE.entryRow]);
    const unit = units.get(key) ?? { entryRow, exitRow: 0, pnl: 0, isOpen: false };
    unit.exitRow = Math.max(unit.exitRow, accountRow(run, trade, numbers[at + TRADE.exitRow]));
    unit.pnl += numbers[at + TRADE.pnl];
    unit.isOpen ||= exitReasonOf(reasons[trade]).endsWithData;
    units.set(key, unit);
  }
  return [...units.values()];
}

const REBALANCED: ReadonlySet<ExitReason> = new Set([rebalanceExit.reason, droppedExit.reason]);

/**
 * The periods from the close of one rebalance that opened, reduced or closed a holding to that of the next. Each earns
 * what equity gained in it. A period in which nothing was held belongs to the one before.
 */
function periodsOf(run: CheckRun, portfolio: PortfolioRun): TradeUnit[] {
  const { start, end } = run.input;
  const { equity, inPosition } = portfolio.simulation;
  const decisions = rebalancesIn(run);
  const units: TradeUnit[] = [];
  decisions.forEach((entryRow, at) => {
    const exitRow = decisions[at + 1] ?? end - 1;
    const pnl = equity[exitRow - start] - equity[entryRow - start];
    const isHeld = countBits(inPosition, entryRow + 1 - start, exitRow + 1 - start) > 0;
    const last = units.at(-1);
    if (isHeld || last === undefined) units.push({ entryRow, exitRow, pnl, isOpen: false });
    else {
      last.exitRow = exitRow;
      last.pnl += pnl;
    }
  });
  const last = units.at(-1);
  if (last !== undefined) last.isOpen = isHeldToTheEnd(run);
  return units;
}

/** The instants of the rebalances that opened, reduced or closed a holding, ascending. */
function rebalancesIn(run: CheckRun): number[] {
  const { numbers, reasons, length } = run.simulation.tradeLog;
  const instants = new Set<number>();
  for (let trade = 0; trade < length; trade++) {
    instants.add(decisionRow(run, trade));
    if (REBALANCED.has(reasons[trade]))
      instants.add(accountRow(run, trade, numbers[trade * TRADE_WIDTH + TRADE.exitDecisionRow]));
  }
  return [...instants].sort((a, b) => a - b);
}

function isHeldToTheEnd(run: CheckRun): boolean {
  const { numbers, reasons, length } = run.simulation.tradeLog;
  for (let trade = 0; trade < length; trade++)
    if (
      exitReasonOf(reasons[trade]).endsWithData &&
      accountRow(run, trade, numbers[trade * TRADE_WIDTH + TRADE.exitRow]) === run.input.end - 1
    )
      return true;
  return false;
}
