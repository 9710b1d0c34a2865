// Downloaded rows, column by column: what the pages of a source grow into, and the bars that an import makes of them.
import { readBars } from '../import/barsTable.ts';
import type { BarsTable } from '../import/importReport.ts';
import type { ReadOptions } from '../import/readOptions.ts';
import { CellsBuilder } from '../import/table.ts';
import type { BarSource, SourceMarket, SourceRow } from './barSource.ts';

export class DownloadRows {
  readonly names: readonly string[];
  readonly #columns: readonly CellsBuilder[];
  #lastTime = -Infinity;

  constructor(names: readonly string[]) {
    this.names = names;
    this.#columns = names.map(() => new CellsBuilder());
  }

  get length(): number {
    return this.#columns[0].length;
  }

  /** The time of the last row; -Infinity without rows. */
  get lastTime(): number {
    return this.#lastTime;
  }

  /** Adds a row. @returns false, and nothing is added, if it is not after the last one */
  push(row: SourceRow): boolean {
    if (row.length !== this.names.length || !(row[0] > this.#lastTime)) return false;
    this.#columns.forEach((column, at) => column.pushNumber(row[at]));
    [this.#lastTime] = row;
    return true;
  }

  /**
   * The bars, read as those of a file are; null without rows.
   * @throws MarketDataError
   */
  asBars(
    source: BarSource,
    { timeframe, timezone, sourceSymbol }: SourceMarket,
    options: Pick<ReadOptions, 'dropNa' | 'adjusted'>,
  ): BarsTable | null {
    if (this.length === 0) return null;
    const columns = this.#columns.map((column, at) => column.finish(at === 0 ? 'ms' : undefined));
    const table = {
      format: 'json',
      names: this.names,
      rowCount: this.length,
      columns,
      firstLine: null,
      notes: [],
    } as const;
    const { dropNa, adjusted } = options;
    const bars = readBars(table, { timeframe, timezone, dropNa, adjusted });
    return { ...bars, sourceFile: `${source.name} ${sourceSymbol}` };
  }
}
