// Result tables: trades, equity, orders and signals as named columns, independent of the file format.
import { hasBit } from '../kernels/bits.ts';
import { numberColumn, type ColumnType, type Table, type TableColumn } from '../bars/table.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import type { NamedNode, Plan } from '../plan/plan.ts';
import { drawdowns } from './drawdown.ts';
import { buyAndHold } from './buyAndHold.ts';
import { exposureColumns, stackedTables } from './portfolio/portfolioTables.ts';
import type { InstrumentRun, ReportInput } from './reportInput.ts';
import type { CompletedRun } from './simulatedRun.ts';
import { valuesAt } from './samples.ts';
import type { OrderRecord } from '../simulate/simulation.ts';
import { SYMBOL_COLUMN, TRADE_COLUMNS } from './tradeColumns.ts';

type Cell = number | string | boolean | null;
type ColumnTypes = Readonly<Record<string, { readonly type: ColumnType }>>;

/** Rows of one shape; a member that a row lacks is a missing value. */
const tableOf = (types: ColumnTypes, rows: readonly Readonly<Record<string, Cell>>[]): Table => ({
  length: rows.length,
  columns: Object.entries(types).map(([name, { type }]) => ({ name, type, read: (row) => rows[row][name] ?? null })),
});

/**
 * Trade rows as they are stored; a column that was added later has missing values.
 * @param isNamed whether the rows name their instruments, as the rows of a portfolio run do
 */
export const storedTradesTable = (trades: readonly object[], isNamed = trades.some((row) => 'symbol' in row)): Table =>
  tableOf(isNamed ? NAMED_TRADE_COLUMNS : TRADE_COLUMNS, trades as readonly Record<string, Cell>[]);

const NAMED_TRADE_COLUMNS = { symbol: SYMBOL_COLUMN, ...TRADE_COLUMNS };

/**
 * The trade rows, and the value of every expression when the entry (`entry.ID`) and the exit (`exit.ID`) were decided;
 * one without an id is named by its text. Only values of bars that had closed by then are used.
 */
export function tradesTable({ report, trades }: CompletedRun): Table {
  const { simulation, portfolio } = report;
  const nodes = shownNodes(report.evaluated.plan);
  const evaluatedOf = (row: number): EvaluatedPlan =>
    portfolio === undefined
      ? report.evaluated
      : portfolio.instruments[portfolio.simulation.tradeInstruments[row]].evaluated;
  const atEntry = lastRead((row) => valuesAt(evaluatedOf(row), simulation.trades[row].entryDecisionRow, nodes));
  const atExit = lastRead((row) => valuesAt(evaluatedOf(row), simulation.trades[row].exitDecisionRow, nodes));
  const named = nodes.flatMap(({ nodeId, type: found }): TableColumn[] => {
    const type = found === 'condition' ? 'boolean' : 'number';
    return [
      { name: `entry.${nodeId}`, type, read: (row) => atEntry(row)[nodeId] },
      { name: `exit.${nodeId}`, type, read: (row) => atExit(row)[nodeId] },
    ];
  });
  const { length, columns } = storedTradesTable(trades, portfolio?.isNamed === true);
  return { length, columns: [...columns, ...named] };
}

/** Conditions without an id beyond these are not shown: a file with more columns is read by nobody. */
const MAX_CONDITIONS = 32;

/** The nodes that have an id, then by their text the values that conditions read and the conditions without one. */
function shownNodes({ named, compared, conditions }: Plan): readonly NamedNode[] {
  const taken = new Set(named.map(({ nodeId }) => nodeId));
  const unnamed: NamedNode[] = [...compared];
  for (const { nodeId, path, slot, text } of conditions) {
    if (unnamed.length >= compared.length + MAX_CONDITIONS) break;
    if (slot !== null && nodeId === path) unnamed.push({ nodeId: text, text, type: 'condition', slot });
  }
  const isNew = ({ nodeId }: NamedNode): boolean => !taken.has(nodeId) && taken.add(nodeId) !== undefined;
  return [...named, ...unnamed.filter(isNew)];
}

/** Reads a row once for all of its cells. */
function lastRead<Values>(read: (row: number) => Values): (row: number) => Values {
  let last = -1;
  let values: Values;
  return (row) => {
    if (row !== last) values = read(row);
    last = row;
    return values;
  };
}

/**
 * One row per evaluated bar, in portfolio runs per instant: equity at its close, drawdown, whether a position was open,
 * and the benchmark.
 */
export function equityTable({ report }: CompletedRun): Table {
  const { input, simulation, benchmark, portfolio } = report;
  const { bars, start, config } = input;
  const { equity, inPosition } = simulation;
  const { length } = equity;
  const columns = [
    timeColumn(report),
    numberColumn('equity', equity),
    numberColumn('drawdown', drawdowns(equity, config.initialBalance)),
    { name: 'inPosition', type: 'boolean', read: (row: number) => hasBit(inPosition, row) } as const,
    numberColumn('buyHold', buyAndHold(benchmark ?? bars, start, length, config.initialBalance)),
    ...(portfolio?.isNamed === true ? exposureColumns(portfolio.simulation) : []),
  ];
  return { length, columns };
}

const timeColumn = ({ input: { bars, start } }: Pick<ReportInput, 'input'>): TableColumn => ({
  name: 'time',
  type: 'time',
  read: (row) => bars.time[start + row],
});

const COUNT = { type: 'count' } as const;
const NUMBER = { type: 'number' } as const;
const TIME = { type: 'time' } as const;
const TEXT = { type: 'text' } as const;
const ORDER_COLUMNS = {
  orderId: COUNT,
  bar: COUNT,
  time: TIME,
  filledBar: COUNT,
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
  positionId: COUNT,
};

/** The order log; bars count from the start of the range. */
export function ordersTable({ report }: CompletedRun): Table {
  const { portfolio } = report;
  if (portfolio === undefined) return ordersFrom(report.simulation.orders ?? [], () => report);
  const orders = portfolio.simulation.orders ?? [];
  const instrumentOf = ({ instrument }: (typeof orders)[number]): InstrumentRun => portfolio.instruments[instrument];
  const table = ordersFrom(orders, instrumentOf);
  const symbol = { name: 'symbol', type: 'text', read: (row: number) => instrumentOf(orders[row]).symbol } as const;
  return portfolio.isNamed ? { ...table, columns: [symbol, ...table.columns] } : table;
}

function ordersFrom<Order extends OrderRecord>(
  orders: readonly Order[],
  runOf: (order: Order) => Pick<ReportInput, 'input' | 'firstRow'>,
): Table {
  const barOf = (order: Order, row: number): number => row - runOf(order).firstRow;
  const timeOf = (order: Order, row: number): number => runOf(order).input.bars.time[row];
  const places: Readonly<Record<string, (order: Order) => number | null>> = {
    bar: (order) => barOf(order, order.row),
    time: (order) => timeOf(order, order.row),
    filledBar: (order) => (order.filledRow === null ? null : barOf(order, order.filledRow)),
    filledTime: (order) => (order.filledRow === null ? null : timeOf(order, order.filledRow)),
  };
  const columns = Object.entries(ORDER_COLUMNS).map(([name, { type }]): TableColumn => {
    const read = places[name] ?? ((order: Order) => order[name as keyof OrderRecord] ?? null);
    return { name, type, read: (row) => read(orders[row]) };
  });
  return { length: orders.length, columns };
}

/**
 * One row per evaluated bar, in portfolio runs of one instrument after the other; a column per named node, and one per
 * entry and exit rule that reads no position state.
 */
export function signalsTable({ report }: CompletedRun): Table {
  const { portfolio } = report;
  if (portfolio === undefined) return signalsFrom(report, report.simulation.equity.length);
  const tables = portfolio.instruments.map((instrument) => {
    const { start, end } = instrument.input;
    return { symbol: instrument.symbol, table: signalsFrom(instrument, Math.max(0, end - start)) };
  });
  return portfolio.isNamed ? stackedTables(tables) : tables[0].table;
}

type SignalingRun = Pick<ReportInput, 'input' | 'evaluated' | 'boundRules'>;

function signalsFrom(report: SignalingRun, length: number): Table {
  const { input, evaluated, boundRules } = report;
  const { start } = input;
  const bitColumn = (name: string, isTrue: Uint32Array, isUnknown: Uint32Array | null): TableColumn => ({
    name,
    type: 'boolean',
    read: (row) => (isUnknown && hasBit(isUnknown, start + row) ? null : hasBit(isTrue, start + row)),
  });
  const named = evaluated.plan.named.map(({ nodeId, type, slot }): TableColumn => {
    if (type === 'value') return numberColumn(nodeId, valuesOf(report, slot, start, length));
    const column = evaluated.condition(slot);
    return bitColumn(nodeId, column.isTrue, column.isUnknown);
  });
  const rules = [
    ...boundRules.entries.map((entry) => ({ name: `entry ${entry.id}`, source: entry.signal })),
    ...boundRules.exits.map((exit) => ({ name: `exit ${exit.id}`, source: exit.when })),
  ].flatMap(({ name, source }) => (source.kind === 'bits' ? [bitColumn(name, source.isTrue, null)] : []));
  return { length, columns: [timeColumn(report), ...named, ...rules] };
}

function valuesOf(report: SignalingRun, slot: number, start: number, rows: number): Float64Array {
  const number = report.evaluated.numberAt(slot);
  if (number !== undefined) return new Float64Array(rows).fill(number);
  return report.evaluated.value(slot).values.subarray(start, start + rows);
}
