// The catalog that the data commands read and change, and the series that their options name.
import { openSnapshot } from '../engine/index.ts';
import type { Bars, Timeframe } from '../engine/index.ts';
import { openCatalog } from '../market/catalog.ts';
import type { CatalogEntry, StoredCatalog } from '../market/catalog.ts';
import { importShipped } from '../market/shipped.ts';
import { offerUniverse } from '../market/universe/offerUniverse.ts';
import { openDatabase } from './database.ts';
import { hintAmong } from './marketSource.ts';
import { CommandError } from './output.ts';

export interface SeriesOptions {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly json?: boolean;
}

/** The catalog of this machine. Even the first call finds the shipped series in it, as after `serve`. */
export async function openData(): Promise<AsyncDisposable & { readonly catalog: StoredCatalog }> {
  const database = await openDatabase();
  const dispose = (): Promise<void> => Promise.resolve(database[Symbol.asyncDispose]());
  try {
    const { dataDir, snapshotStorage: storage } = database.config;
    const catalog = offerUniverse(openCatalog(database.sql, dataDir, { storage }));
    await importShipped(catalog);
    return { catalog, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** @throws CommandError SERIES_UNKNOWN */
export async function findEntry(catalog: StoredCatalog, { symbol, timeframe }: SeriesOptions): Promise<CatalogEntry> {
  const entries = await catalog.list();
  const entry = entries.find((each) => each.symbol === symbol && each.timeframe === timeframe);
  if (entry) return entry;
  const hint = hintAmong(entries, symbol);
  throw new CommandError(`There is no stored series ${symbol} ${timeframe}. ${hint}`, 'SERIES_UNKNOWN');
}

/** @throws CommandError SERIES_UNKNOWN */
export async function openBars(
  catalog: StoredCatalog,
  options: SeriesOptions,
): Promise<{ entry: CatalogEntry; bars: Bars }> {
  const entry = await findEntry(catalog, options);
  const [snapshot] = await catalog.open([entry.sha256]);
  return { entry, bars: openSnapshot(snapshot) };
}
