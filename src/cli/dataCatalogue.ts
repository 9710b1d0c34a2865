// The catalogue that the data commands read and change, and the series that their options name.
import { openSnapshot } from '../engine/index.ts';
import type { Bars, StoredTimeframe } from '../engine/index.ts';
import { openCatalogue } from '../market/catalogue.ts';
import type { CatalogueEntry, StoredCatalogue } from '../market/catalogue.ts';
import { importShipped } from '../market/shipped.ts';
import { openDatabase } from './database.ts';
import { listHint } from './marketSource.ts';
import { CommandError } from './output.ts';

export interface SeriesOptions {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
  readonly json?: boolean;
}

/** The catalogue of this machine. Even the first call finds the shipped series in it, as after `serve`. */
export async function openData(): Promise<AsyncDisposable & { readonly catalogue: StoredCatalogue }> {
  const database = await openDatabase();
  const dispose = (): Promise<void> => Promise.resolve(database[Symbol.asyncDispose]());
  try {
    const { dataDir, snapshotStorage: storage } = database.config;
    const catalogue = openCatalogue(database.sql, dataDir, { storage });
    await importShipped(catalogue);
    return { catalogue, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** @throws CommandError SERIES_UNKNOWN */
export async function findEntry(
  catalogue: StoredCatalogue,
  { symbol, timeframe }: SeriesOptions,
): Promise<CatalogueEntry> {
  const entry = (await catalogue.list()).find((each) => each.symbol === symbol && each.timeframe === timeframe);
  if (entry) return entry;
  throw new CommandError(`There is no stored series ${symbol} ${timeframe}. ${listHint()}`, 'SERIES_UNKNOWN');
}

/** @throws CommandError SERIES_UNKNOWN */
export async function openBars(
  catalogue: StoredCatalogue,
  options: SeriesOptions,
): Promise<{ entry: CatalogueEntry; bars: Bars }> {
  const entry = await findEntry(catalogue, options);
  const [snapshot] = await catalogue.open([entry.sha256]);
  return { entry, bars: openSnapshot(snapshot) };
}
