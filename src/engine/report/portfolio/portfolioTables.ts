// Tables of portfolio runs: weights and instruments, and how tables of single instruments become one.
import { numberColumn, type ColumnType, type Table, type TableColumn } from '../../bars/table.ts';
import type { PortfolioResult } from '../../simulate/portfolio/portfolioSimulation.ts';
import type { PortfolioRun, ReportInput } from '../reportInput.ts';
import { instrumentRows, type InstrumentRow } from './instrumentRows.ts';

/** One row per instant, one column per instrument in the order of the list: value / equity, shorts negative. */
export function weightsTable({ input }: ReportInput, { instruments, simulation }: PortfolioRun): Table {
  const weights = simulation.weights ?? new Float64Array(0);
  const columns = instruments.map(({ symbol }, index): TableColumn => ({
    name: symbol,
    type: 'number',
    read: (row) => weights[row * instruments.length + index],
  }));
  const time: TableColumn = { name: 'time', type: 'time', read: (row) => input.bars.time[input.start + row] };
  return { length: weights.length / instruments.length, columns: [time, ...columns] };
}

const INSTRUMENT_COLUMNS: Readonly<Record<keyof Required<InstrumentRow>, ColumnType>> = {
  symbol: 'text',
  bars: 'count',
  firstBarTime: 'time',
  lastBarTime: 'time',
  trades: 'count',
  winRate: 'number',
  grossPnl: 'number',
  netPnl: 'number',
  contribution: 'number',
  fees: 'number',
  slippage: 'number',
  funding: 'number',
  borrowing: 'number',
  dividends: 'number',
  averageWeightPct: 'number',
  maxWeightPct: 'number',
  timeHeldPct: 'number',
  rankedOut: 'count',
};

/** One row per instrument, the largest contribution first. */
export function instrumentsTable(report: ReportInput, portfolio: PortfolioRun): Table {
  const rows = instrumentRows(report, portfolio);
  const [first] = rows;
  const names = (Object.keys(INSTRUMENT_COLUMNS) as (keyof InstrumentRow)[]).filter(
    (name) => first[name] !== undefined,
  );
  const columns = names.map((name): TableColumn => ({
    name,
    type: INSTRUMENT_COLUMNS[name],
    read: (row) => rows[row][name] ?? null,
  }));
  return { length: rows.length, columns };
}

/** The exposures of each instant, in quote units, and how many positions were open at its end. */
export const exposureColumns = ({ grossExposure, netExposure, openPositions }: PortfolioResult): TableColumn[] => [
  numberColumn('grossExposure', grossExposure),
  numberColumn('netExposure', netExposure),
  { name: 'positions', type: 'count', read: (row) => openPositions[row] },
];

/** The rows of one table after those of the other, with the symbol of each; all have the same columns. */
export function stackedTables(parts: readonly { readonly symbol: string; readonly table: Table }[]): Table {
  const ends: number[] = [];
  for (const { table } of parts) ends.push((ends.at(-1) ?? 0) + table.length);
  let last = 0;
  /** The part that a row is in: mostly that of the row before. */
  const partOf = (row: number): number => {
    if (row < (ends[last - 1] ?? 0)) last = 0;
    while (row >= ends[last]) last++;
    return last;
  };
  const [{ table: first }] = parts;
  const columns = first.columns.map(({ name, type }, column): TableColumn => ({
    name,
    type,
    read: (row) => {
      const part = partOf(row);
      return parts[part].table.columns[column].read(row - (ends[part - 1] ?? 0));
    },
  }));
  const symbol: TableColumn = { name: 'symbol', type: 'text', read: (row) => parts[partOf(row)].symbol };
  return { length: ends.at(-1) ?? 0, columns: [symbol, ...columns] };
}
