// Result tables: trades, equity, orders and signals as named columns, independent of the file format.
import { hasBit } from '../kernels/bits.ts';
import type { TableColumn } from '../bars/arrowTable.ts';
import { drawdowns } from './drawdown.ts';
import { buyAndHold } from './buyAndHold.ts';
import type { ReportInput } from './reportInput.ts';
import type { CompletedRun } from './simulatedRun.ts';
import { valuesAt } from './trace.ts';
import { TRADE_COLUMNS } from './tradeColumns.ts';

type Cell = number | string | boolean | null;
type ColumnTypes = Readonly<Record<string, { readonly type: 'number' | 'time' | 'text' }>>;

/** Rows of one shape as columns; a member that a row lacks becomes a missing value. */
function columnsOf(types: ColumnTypes, rows: readonly Readonly<Record<string, Cell>>[]): TableColumn[] {
  return Object.entries(types).map(([name, { type }]) => ({
    name,
    type,
    values: rows.map((row) => row[name] ?? null),
  }));
}

/** Trade rows as they are stored; a column that was added later has missing values. */
export const storedTradesTable = (trades: readonly object[]): TableColumn[] =>
  columnsOf(TRADE_COLUMNS, trades as readonly Record<string, Cell>[]);

/**
 * The trade rows, and the value of every named node when the entry (`entry.ID`) and the exit (`exit.ID`) were decided.
 * Only values of bars that had closed by then are used.
 */
export function tradesTable({ report, trades }: CompletedRun): TableColumn[] {
  const { evaluated, simulation } = report;
  const entryValues = simulation.trades.map((trade) => valuesAt(evaluated, trade.entryDecisionRow));
  const exitValues = simulation.trades.map((trade) => valuesAt(evaluated, trade.exitDecisionRow));
  const named = evaluated.plan.named.flatMap(({ nodeId, type }): TableColumn[] => {
    const kind = type === 'condition' ? 'boolean' : 'number';
    return [
      { name: `entry.${nodeId}`, type: kind, values: entryValues.map((values) => values[nodeId]) },
      { name: `exit.${nodeId}`, type: kind, values: exitValues.map((values) => values[nodeId]) },
    ];
  });
  return [...storedTradesTable(trades), ...named];
}

/** One row per evaluated bar: equity at its close, drawdown, whether a position was open, and buy and hold. */
export function equityTable({ report }: CompletedRun): TableColumn[] {
  const { input, simulation, config } = report;
  const { bars, start } = input;
  const { equity, inPosition } = simulation;
  const rows = equity.length;
  return [
    { name: 'time', type: 'time', values: bars.time.subarray(start, start + rows) },
    { name: 'equity', type: 'number', values: equity },
    { name: 'drawdown', type: 'number', values: drawdowns(equity, config.initialBalance) },
    {
      name: 'inPosition',
      type: 'boolean',
      values: Array.from({ length: rows }, (_, index) => hasBit(inPosition, index)),
    },
    { name: 'buyHold', type: 'number', values: buyAndHold(bars, start, rows, config.initialBalance) },
  ];
}

const NUMBER = { type: 'number' } as const;
const TIME = { type: 'time' } as const;
const TEXT = { type: 'text' } as const;
const ORDER_COLUMNS = {
  orderId: NUMBER,
  bar: NUMBER,
  time: TIME,
  filledBar: NUMBER,
  filledTime: TIME,
  type: TEXT,
  purpose: TEXT,
  side: TEXT,
  price: NUMBER,
  fillPrice: NUMBER,
  quantity: NUMBER,
  fee: NUMBER,
  role: TEXT,
  status: TEXT,
  reason: TEXT,
  rule: TEXT,
  positionId: NUMBER,
};

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

/** One row per evaluated bar; a column per named node, and one per entry and exit rule that reads no position state. */
export function signalsTable({ report }: CompletedRun): TableColumn[] {
  const { input, evaluated, boundRules } = report;
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
    ...boundRules.entries.map((entry) => ({ name: `entry ${entry.id}`, source: entry.signal })),
    ...boundRules.exits.map((exit) => ({ name: `exit ${exit.id}`, source: exit.when })),
  ].flatMap(({ name, source }): TableColumn[] =>
    source.kind === 'bits' ? [{ name, type: 'boolean', values: bits(source.isTrue, null) }] : [],
  );
  return [{ name: 'time', type: 'time', values: input.bars.time.subarray(start, start + rows) }, ...named, ...rules];
}

function valuesOf(report: ReportInput, slot: number, start: number, rows: number): Float64Array {
  const number = report.evaluated.numberAt(slot);
  if (number !== undefined) return new Float64Array(rows).fill(number);
  return report.evaluated.value(slot).values.subarray(start, start + rows);
}
