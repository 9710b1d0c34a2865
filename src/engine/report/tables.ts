// Result tables: trades, equity, orders and signals as named columns, before they are written in one format or another.
import { hasBit } from '../columns/column.ts';
import type { TableColumn } from '../columns/arrowTable.ts';
import type { SimulatedRun } from '../backtest.ts';
import type { ReportInput, TradeRow } from './result.ts';
import { valuesAt } from './trace.ts';

export type CompletedRun = SimulatedRun & { readonly ok: true };
type Cell = number | string | boolean | null;

const TIME_COLUMNS: ReadonlySet<string> = new Set(['entryTime', 'exitTime', 'exitFineTime', 'time', 'filledTime']);
const TEXT_COLUMNS: ReadonlySet<string> = new Set([
  'side', 'exitReason', 'exitMethod', 'exitResolution', 'exitPolicy', 'entryRule', 'exitRule', 'type', 'purpose', 'role', 'status', 'reason', 'rule',
]); // prettier-ignore

/** Rows of one shape as columns; the type of a column follows from its name, so that an empty table has the types of a full one. */
function columnsOf(names: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): TableColumn[] {
  return names.map((name) => ({
    name,
    type: TIME_COLUMNS.has(name) ? 'time' : TEXT_COLUMNS.has(name) ? 'text' : 'number',
    values: rows.map((row) => row[name] ?? null),
  }));
}

const TRADE_COLUMNS: readonly (keyof TradeRow)[] = [
  'positionId', 'side', 'entryTime', 'entryBar', 'entryPrice', 'quantity', 'exitTime', 'exitBar', 'exitPrice', 'entryFee', 'exitFee', 'slippage', 'pnl',
  'returnPct', 'maePct', 'mfePct', 'barsHeld', 'exitReason', 'exitMethod', 'exitResolution', 'exitPolicy', 'exitFineTime', 'entryRule', 'exitRule',
]; // prettier-ignore

/** The trade rows, and what every named node was at the close that led to the entry (`entry.ID`) and to the exit (`exit.ID`). */
export function tradesTable({ report, trades }: CompletedRun): TableColumn[] {
  const { evaluated, config, simulation } = report;
  const delay = config.execution.orderTiming === 'next_open' ? 1 : 0;
  const at = (row: number): Record<string, Cell> => valuesAt(evaluated, Math.max(0, row));
  const entryValues = simulation.trades.map((trade) => at(trade.entryRow - delay));
  const exitValues = simulation.trades.map((trade) => at(trade.exitRow - (trade.exitReason === 'signal' ? delay : 0)));
  const named = evaluated.plan.named.flatMap(({ nodeId, type }): TableColumn[] => {
    const kind = type === 'condition' ? 'boolean' : 'number';
    return [
      { name: `entry.${nodeId}`, type: kind, values: entryValues.map((values) => values[nodeId]) },
      { name: `exit.${nodeId}`, type: kind, values: exitValues.map((values) => values[nodeId]) },
    ];
  });
  return [...columnsOf(TRADE_COLUMNS, trades as unknown as Record<string, Cell>[]), ...named];
}

/** One row an evaluated bar: equity at its close, the fall from the highest so far, whether a position was open, buy and hold. */
export function equityTable({ report }: CompletedRun): TableColumn[] {
  const { input, simulation, config } = report;
  const { bars, start } = input;
  const { equity, inPosition } = simulation;
  const rows = equity.length;
  const drawdown = new Float64Array(rows);
  const benchmark = new Float64Array(rows);
  const firstOpen = rows > 0 ? bars.open[start] : 1;
  let peak = config.initialBalance;
  for (let index = 0; index < rows; index++) {
    if (equity[index] > peak) peak = equity[index];
    drawdown[index] = 1 - equity[index] / peak;
    benchmark[index] = (config.initialBalance * bars.close[start + index]) / firstOpen;
  }
  return [
    { name: 'time', type: 'time', values: bars.time.subarray(start, start + rows) },
    { name: 'equity', type: 'number', values: equity },
    { name: 'drawdown', type: 'number', values: drawdown },
    {
      name: 'inPosition',
      type: 'boolean',
      values: Array.from({ length: rows }, (_, index) => hasBit(inPosition, index)),
    },
    { name: 'buyHold', type: 'number', values: benchmark },
  ];
}

const ORDER_COLUMNS = [
  'orderId', 'bar', 'time', 'filledBar', 'filledTime', 'type', 'purpose', 'side', 'price', 'fillPrice', 'quantity', 'fee', 'role', 'status', 'reason',
  'rule', 'positionId',
] as const; // prettier-ignore

/** The order log; bars count from the start of the range. */
export function ordersTable({ report }: CompletedRun): TableColumn[] {
  const { simulation, input, firstRow } = report;
  const { time } = input.bars;
  const rows = (simulation.orders ?? []).map(({ row, filledRow, ...order }) => ({
    ...order,
    bar: row - firstRow,
    time: time[row],
    filledBar: filledRow === null ? null : filledRow - firstRow,
    filledTime: filledRow === null ? null : time[filledRow],
  }));
  return columnsOf(ORDER_COLUMNS, rows);
}

/** One row an evaluated bar, one column a named node, and the whole of every entry and exit that is no state of a position. */
export function signalsTable({ report }: CompletedRun): TableColumn[] {
  const { input, evaluated, program } = report;
  const { start } = input;
  const rows = report.simulation.equity.length;
  const bits = (isTrue: Uint32Array, isUnknown: Uint32Array | null): (boolean | null)[] =>
    Array.from({ length: rows }, (_, index) =>
      isUnknown && hasBit(isUnknown, start + index) ? null : hasBit(isTrue, start + index),
    );
  const named = evaluated.plan.named.map(({ nodeId, type, slot }): TableColumn => {
    if (type === 'value') return { name: nodeId, type: 'number', values: valuesOf(report, slot, start, rows) };
    const column = evaluated.condition(slot);
    return { name: nodeId, type: 'boolean', values: bits(column.isTrue, column.isUnknown) };
  });
  const rules = [
    ...program.entries.map((entry) => ({ name: `entry ${entry.id}`, source: entry.signal })),
    ...program.exits.map((exit) => ({ name: `exit ${exit.id}`, source: exit.when })),
  ].flatMap(({ name, source }): TableColumn[] =>
    source.kind === 'bits' ? [{ name, type: 'boolean', values: bits(source.isTrue, null) }] : [],
  );
  return [{ name: 'time', type: 'time', values: input.bars.time.subarray(start, start + rows) }, ...named, ...rules];
}

function valuesOf(report: ReportInput, slot: number, start: number, rows: number): Float64Array {
  const step = report.evaluated.plan.steps[slot];
  if (step.type === 'value' && step.op === 'const') return new Float64Array(rows).fill(step.value);
  return report.evaluated.value(slot).values.subarray(start, start + rows);
}
