// Headers: which column of a file is which, whatever its name and position.
import { refuseUnadjusted, scaledToAdjusted } from './adjusted.ts';
import { ChosenColumns, refuseNoTime } from './chosenColumns.ts';
import {
  ADJUSTED_NAMES,
  indexesOf,
  indexesOfAny,
  NAMED_VOLUME,
  NAMES,
  normalizeName,
  WORTHLESS,
} from './columnNames.ts';
import { isSplitTime, layoutOf } from './layouts.ts';
import type { Cells, Table } from './table.ts';
import { readFormattedNumbers } from './numberFormat.ts';
import { adjustmentNotes, findPrices, fixedPointDivisor } from './priceColumns.ts';
import type { PriceIndexes } from './priceColumns.ts';
import type { ReadOptions } from './readOptions.ts';
import { findTime } from './timeColumn.ts';
import { chooseVolume, withSummedVolume } from './volumeColumn.ts';
import type { VolumeCandidate } from './volumeColumn.ts';
import { refuse } from './importError.ts';

export interface ColumnRoles {
  readonly time: Cells;
  /** The name of the time column, to be echoed. */
  readonly timeName: string;
  /** True when the file has a close time and no open time. */
  readonly isCloseTime: boolean;
  readonly open: Cells;
  readonly high: Cells;
  readonly low: Cells;
  readonly close: Cells;
  /** The file has one price per bar, which is all four. */
  readonly isCloseOnly: boolean;
  /** What the prices are divided by. */
  readonly priceDivisor: number;
  /** null if the file has none. */
  readonly volume: Cells | null;
  /** All other columns, in file order. */
  readonly extra: readonly { readonly name: string; readonly cells: Cells }[];
  /** Columns that hold no data of their own: second time columns, row numbers. */
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

/** @throws MarketDataError when a column that every bar needs cannot be found */
export function findColumns(given: Table, options: ReadOptions = {}): ColumnRoles {
  const { table, notes } =
    given.names === null ? withPlainNumbers(given) : { table: withSummedVolume(given, options.columns), notes: [] };
  const layout = table.names === null ? layoutOf(table) : null;
  const names = table.names ?? layout!.names;
  const plain = names.map(normalizeName);
  const choices = new ChosenColumns(options.columns, names, plain);
  const symbols = choices.of('symbol') ?? indexesOfAny(plain, NAMES.symbol);
  refuseSeveralSymbols(table, names, symbols);
  const time = findTime(table.columns, names, plain, options, choices.of('time')) ?? refuseNoTime(names);
  const prices = findPrices(table, names, plain, choices, options, [...time.candidates, ...symbols]);
  const candidates = (of: Table): VolumeCandidate[] => volumeCandidates(of, names, plain, choices, prices);
  const formatted = readFormattedNumbers(table, {
    prices: [...new Set([prices.open, prices.high, prices.low, prices.close])],
    volumes: candidates(table).map(({ index }) => index),
    kept: [...time.indexes, ...time.candidates, ...symbols],
  });
  const { columns } = formatted;
  const [high, low] = [columns[prices.high], columns[prices.low]];
  const volume = chooseVolume(candidates({ ...table, columns }), { high, low });
  const adjustedIndex = indexesOfAny(plain, NAMES.adjustedClose)[0];
  const adjustedNotes = adjustmentNotes(columns, names, plain, prices, adjustedIndex, options);
  const isScaled = options.adjusted === true && !prices.isAdjusted;
  if (isScaled && adjustedIndex === undefined) refuseUnadjusted();
  const used = new Set([
    ...time.indexes, prices.open, prices.high, prices.low, prices.close, volume.index, isScaled ? adjustedIndex : null,
  ]); // prettier-ignore
  const rest = names
    .map((name, index) => ({ name: name.trim() || `column${index + 1}`, index }))
    .filter(({ index }) => !used.has(index));
  const isWorthless = ({ index }: { index: number }): boolean =>
    time.candidates.includes(index) || WORTHLESS.has(plain[index]);
  const asWritten = {
    open: columns[prices.open],
    high,
    low,
    close: columns[prices.close],
    volume: volume.index === null ? null : columns[volume.index],
  };
  return {
    ...(isScaled ? scaledToAdjusted(asWritten, columns[adjustedIndex]) : asWritten),
    time: time.cells,
    timeName: time.name,
    isCloseTime: time.isClose,
    isCloseOnly: prices.isCloseOnly,
    priceDivisor: layout?.priceDivisor ?? fixedPointDivisor(plain, columns[prices.close]),
    extra: rest.filter((column) => !isWorthless(column)).map(({ name, index }) => ({ name, cells: columns[index] })),
    ignored: rest.filter(isWorthless).map(({ name }) => name),
    notes: [...notes, ...(layout?.notes ?? []), ...formatted.notes, ...volume.notes, ...prices.notes, ...adjustedNotes],
  };
}

/** A table without a header, whose prices are the four columns after the time in every layout that is known. */
function withPlainNumbers(table: Table): { readonly table: Table; readonly notes: readonly string[] } {
  const first = isSplitTime(table.columns) ? 2 : 1;
  const { columns, notes } = readFormattedNumbers(table, {
    prices: [first, first + 1, first + 2, first + 3],
    volumes: [first + 4],
    kept: first === 2 ? [0, 1] : [0],
  });
  return { table: { ...table, columns, raw: undefined }, notes };
}

function volumeCandidates(
  table: Table,
  names: readonly string[],
  plain: readonly string[],
  choices: ChosenColumns,
  prices: PriceIndexes,
): VolumeCandidate[] {
  const of = (kind: VolumeCandidate['kind'], indexes: readonly number[]): VolumeCandidate[] =>
    indexes.map((index) => ({ index, name: names[index], kind, cells: table.columns[index] }));
  const chosen = choices.of('volume');
  if (chosen !== null) return of('chosen', chosen);
  if (prices.isAdjusted) {
    const adjusted = indexesOfAny(plain, ADJUSTED_NAMES.volume);
    if (adjusted.length > 0) return of('exact', adjusted);
  }
  const named = names.flatMap((name, index) => (NAMED_VOLUME.test(name.trim()) ? [index] : []));
  return [
    ...of('exact', indexesOfAny(plain, NAMES.volume)),
    ...of('named', named),
    ...of('ticks', indexesOfAny(plain, NAMES.ticks)),
    ...of('amount', indexesOf(plain, 'amount')),
  ];
}

/** Refuses a file of several symbols, such as Polygon's day files. */
function refuseSeveralSymbols(table: Table, names: readonly string[], columns: readonly number[]): void {
  for (const index of columns) {
    const symbols = new Set(table.columns[index].texts ?? []);
    symbols.delete(undefined);
    if (symbols.size < 2) continue;
    const shown = [...symbols].slice(0, 3).join(', ');
    refuse(
      'SEVERAL_INSTRUMENTS',
      `Column "${names[index]}" names ${symbols.size} instruments ` +
        `(${shown}${symbols.size > 3 ? ', …' : ''}). Keep the rows of one, or import the file: an import makes one ` +
        'series for each.',
    );
  }
}
