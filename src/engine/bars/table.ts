// Tables: named columns whose cells are read one by one, so that a file is written without a copy of its rows.

/** A `count` is a whole number: a format that knows integers writes it as one, so that it can be used as an index. */
export type ColumnType = 'number' | 'count' | 'time' | 'text' | 'boolean';

/** A cell that is null, undefined or NaN is missing. Times are ms UTC. */
export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly read: (row: number) => unknown;
  /** The same numbers as they lie in memory, for a format that stores them so. */
  readonly values?: Float64Array;
}

export interface Table {
  readonly length: number;
  readonly columns: readonly TableColumn[];
}

/** A column of numbers that exist already. */
export const numberColumn = (name: string, values: Float64Array): TableColumn => ({
  name,
  type: 'number',
  read: (row) => values[row],
  values,
});
