// Runs a strategy through the engine and through the reference, and says where they differ first.
import { simulateTask } from '../../../src/engine/backtest.ts';
import type { Market } from '../../../src/engine/bars/bars.ts';
import type { BacktestConfig } from '../../../src/engine/config.ts';
import type { ConditionSource } from '../../../src/engine/evaluate/tradingRules.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import type { Settings, StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import type { OrderRecord, SimulationResult } from '../../../src/engine/simulate/simulation.ts';
import type { OrderOutcome, ReferenceTrade } from './book.ts';
import type { Truth } from './conditions.ts';
import { referenceRun, type ReferenceRun } from './reference.ts';

const RELATIVE = 1e-9;
const EXACT = [
  'positionId', 'side', 'entryRow', 'exitRow', 'exitReason', 'exitMethod', 'exitResolution', 'exitPolicy',
  'exitFineTime', 'entryRule', 'exitRule',
] as const; // prettier-ignore
const NUMBERS = [
  'entryPrice', 'exitPrice', 'quantity', 'entryFee', 'exitFee', 'slippage', 'pnl', 'returnPct', 'maePct', 'mfePct',
  'initialRisk',
] as const; // prettier-ignore

export interface Comparison {
  /** null: nowhere. */
  readonly difference: string | null;
  readonly reference: ReferenceRun | null;
  readonly simulation: SimulationResult | null;
}

export function compareWithReference(
  strategyAst: StrategyAst,
  market: Market,
  config: BacktestConfig,
  settings: Settings = {},
): Comparison {
  const task = { id: 'law', strategyAst, settings, config, strategyHash: '' };
  const run = simulateTask(task, market, null, true);
  if (!run.ok) return { difference: run.error.message, reference: null, simulation: null };
  const { strategy, input, simulation } = run.report;
  const reference = referenceRun({ strategy, market, config: input.config, start: input.start, end: input.end });
  const entryIds = input.entries.map(({ id }) => id);
  const difference =
    signalsDiffer(
      'entry',
      input.entries.map(({ signal }) => signal),
      reference.entries,
    ) ??
    signalsDiffer(
      'exit',
      input.exits.map(({ when }) => when),
      reference.exits,
    ) ??
    tradesDiffer(simulation.trades, reference.trades) ??
    ordersDiffer(simulation.orders!, reference.orders, entryIds) ??
    countsDiffer(simulation, reference) ??
    equityDiffers(simulation, reference);
  return { difference, reference, simulation };
}

function signalsDiffer(
  kind: string,
  engine: readonly ConditionSource[],
  reference: readonly (readonly Truth[] | null)[],
): string | null {
  for (const [rule, truths] of reference.entries()) {
    const source = engine[rule];
    if (truths === null || source.kind !== 'bits') {
      if (truths !== null || source.kind === 'bits') return `${kind} ${rule} reads state in one of them`;
      continue;
    }
    for (const [row, truth] of truths.entries())
      if (hasBit(source.isTrue, row) !== (truth === true))
        return `${kind} ${rule} row ${row}: ${hasBit(source.isTrue, row)}, reference ${truth}`;
  }
  return null;
}

export function tradesDiffer(engine: SimulationResult['trades'], reference: readonly ReferenceTrade[]): string | null {
  for (const [at, expected] of reference.entries()) {
    const trade = engine[at];
    if (trade === undefined) break;
    const wrong =
      EXACT.find((key) => trade[key] !== expected[key]) ?? NUMBERS.find((key) => !isClose(trade[key], expected[key]));
    if (wrong !== undefined)
      return [
        `trade ${at} (position ${expected.positionId}, ${expected.exitReason},`,
        `rows ${expected.entryRow} to ${expected.exitRow}) ${wrong}: ${trade[wrong]}, reference ${expected[wrong]}`,
      ].join(' ');
  }
  return engine.length === reference.length ? null : `${engine.length} trades, reference ${reference.length}`;
}

/** Entry orders in the order in which they were made. */
export function ordersDiffer(
  engine: readonly OrderRecord[],
  reference: readonly OrderOutcome[],
  entryIds: readonly string[],
): string | null {
  const ours = engine
    .filter(({ purpose }) => purpose === 'entry')
    .map((order) => ({ ...order, rule: entryIds.indexOf(order.rule) }))
    .toSorted((a, b) => a.row - b.row || a.rule - b.rule);
  const theirs = reference.toSorted((a, b) => a.row - b.row || a.rule - b.rule);
  for (const [at, expected] of theirs.entries()) {
    const order = ours[at];
    if (order === undefined) break;
    const reason = expected.status === 'rejected' ? order.reason : null;
    const isSame =
      order.rule === expected.rule &&
      order.row === expected.row &&
      order.status === expected.status &&
      reason === expected.reason &&
      order.filledRow === expected.filledRow &&
      isClose(order.fillPrice, expected.fillPrice) &&
      isClose(order.quantity, expected.quantity);
    if (!isSame) return `order ${at}: ${JSON.stringify(order)}, reference ${JSON.stringify(expected)}`;
  }
  return ours.length === theirs.length ? null : `${ours.length} entry orders, reference ${theirs.length}`;
}

export function countsDiffer(
  { counts }: Pick<SimulationResult, 'counts'>,
  { counts: expected, orders }: Pick<ReferenceRun, 'counts' | 'orders'>,
): string | null {
  const withStatus = (status: string, reason?: string): number =>
    orders.filter((order) => order.status === status && (reason === undefined || order.reason === reason)).length;
  const wanted: Record<string, number> = {
    ...expected,
    ordersExpired: withStatus('expired'),
    ordersReplaced: withStatus('replaced'),
    entriesFilled: withStatus('filled'),
  };
  const got: Record<string, unknown> = { ...counts };
  for (const reason of ['INSUFFICIENT_BALANCE', 'MIN_NOTIONAL', 'ZERO_QTY', 'LEVEL_MISSING'] as const) {
    wanted[reason] = withStatus('rejected', reason);
    got[reason] = counts.ordersRejected[reason];
  }
  const wrong = Object.keys(wanted).find((name) => got[name] !== wanted[name]);
  return wrong === undefined ? null : `${wrong}: ${JSON.stringify(got[wrong])}, reference ${wanted[wrong]}`;
}

function equityDiffers({ equity, finalBalance }: SimulationResult, reference: ReferenceRun): string | null {
  const at = reference.equity.findIndex((expected, row) => !isClose(equity[row], expected));
  if (at >= 0) return `equity at ${at}: ${equity[at]}, reference ${reference.equity[at]}`;
  if (equity.length !== reference.equity.length) return `${equity.length} marks, reference ${reference.equity.length}`;
  return isClose(finalBalance, reference.finalBalance)
    ? null
    : `final balance ${finalBalance}, reference ${reference.finalBalance}`;
}

export const isClose = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= RELATIVE * Math.max(1, Math.abs(a), Math.abs(b));
