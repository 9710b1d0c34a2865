// Where `backtest`, `explain` and `indicator` find bars: in the catalog under DATA_DIR if series were imported into
// it, in the shipped series, or in a folder of files. Also says which import a run has read.
import { basename } from 'node:path';
import { readConfig } from '../config.ts';
import { hasEmbedded } from '../db/embedded.ts';
import type { SnapshotMeta, Timeframe } from '../engine/index.ts';
import { catalogOver, openCatalog } from '../market/catalog.ts';
import type { Catalog, CatalogEntry, StoredEntry } from '../market/catalog.ts';
import { skippedText } from '../market/import/inputFiles.ts';
import { listSeriesFiles, listUnusedFiles, openShippedData, readShippedSeries } from '../market/shipped.ts';
import { similarSymbol } from '../market/similarSymbol.ts';
import type { Snapshot } from '../engine/index.ts';
import { listSnapshotFiles } from '../market/snapshotFiles.ts';
import type { CommandDatabase } from './database.ts';
import { databaseCommandName } from './invocation.ts';

/** Which bars were read, and where they came from. */
export interface SeriesSource {
  readonly symbol: string;
  readonly timeframe: string;
  /** The stored series; coarser timeframes are resampled from it. */
  readonly storedTimeframe: Timeframe;
  readonly sha256: string;
  readonly origin: 'import' | 'synthetic' | 'shipped' | 'file';
  /** Name of the file; null if unknown. */
  readonly file: string | null;
  /** ISO 8601; null unless the series is in the catalog. */
  readonly importedAt: string | null;
}

export interface MarketSource {
  readonly catalog: Catalog;
  readonly describe: (symbol: string, timeframe: string, snapshot: SnapshotMeta) => SeriesSource;
}

/** @param folder files in place of the catalog (`--data`). */
export async function openMarketSource(symbols: readonly string[], folder: string | undefined): Promise<MarketSource> {
  const shipped = await openShippedData(folder, (text) => process.stderr.write(`${text}\n`));
  if (folder !== undefined) {
    const unused = skippedText(await listUnusedFiles(folder));
    if (unused !== '') process.stderr.write(`${unused}\n`);
    return { catalog: shipped, describe: (...series) => sourceOf(...series, { origin: 'file', file: folder }) };
  }
  const shippedFiles = new Map(
    (await readShippedSeries()).map((each) => [`${each.symbol} ${each.timeframe}`, each.file]),
  );
  const describeShipped: MarketSource['describe'] = (symbol, timeframe, meta) => {
    const file = shippedFiles.get(`${meta.symbol} ${meta.timeframe}`) ?? null;
    return sourceOf(symbol, timeframe, meta, { origin: file === null ? 'synthetic' : 'shipped', file });
  };
  if (!(await isImported(symbols, shipped))) return { catalog: shipped, describe: describeShipped };
  const stored = await readStored();
  const isStored = (symbol: string): boolean =>
    [...stored.entries, ...stored.removed].some((entry) => entry.symbol === symbol);
  const shippedHashes = await hashesOf(symbols, shipped);
  const pick = (symbol: string): Catalog => (isStored(symbol) ? stored.catalog : shipped);
  return {
    catalog: {
      ...stored.catalog,
      find: (symbol, timeframe) => pick(symbol).find(symbol, timeframe),
      readable: (symbol, timeframe) => pick(symbol).readable(symbol, timeframe),
      snapshots: (symbol, timeframe) => pick(symbol).snapshots(symbol, timeframe),
    },
    describe: (symbol, timeframe, meta) => {
      const entry = stored.entries.find((each) => each.sha256 === meta.sha256);
      if (entry === undefined || shippedHashes.has(meta.sha256)) return describeShipped(symbol, timeframe, meta);
      return sourceOf(symbol, timeframe, meta, {
        origin: entry.synthetic ? 'synthetic' : 'import',
        file: entry.sourceFile,
        importedAt: entry.importedAt.toISOString(),
      });
    },
  };
}

/** Bars of a file named with `--bars`. */
export const fileSource = (path: string, timeframe: string, meta: SnapshotMeta): SeriesSource =>
  sourceOf(meta.symbol, timeframe, meta, { origin: 'file', file: basename(path) });

function sourceOf(
  symbol: string,
  timeframe: string,
  { sha256, timeframe: storedTimeframe }: SnapshotMeta,
  { importedAt = null, ...origin }: Pick<SeriesSource, 'origin' | 'file'> & { importedAt?: string | null },
): SeriesSource {
  return { symbol, timeframe, storedTimeframe, sha256, ...origin, importedAt };
}

/** "SPY 1d: imported from SPY.csv on 2026-03-01T10:00Z (snapshot 1a2b3c4d5e6f)" */
export function describeSource(source: SeriesSource): string {
  const { symbol, timeframe, storedTimeframe, sha256, origin, file, importedAt } = source;
  const from = file === null ? '' : ` from ${file}`;
  const when = importedAt === null ? '' : ` on ${importedAt.slice(0, '2026-03-01T10:00'.length)}Z`;
  const snapshot = ` (snapshot ${sha256.slice(0, 12)})`;
  const how: Record<SeriesSource['origin'], string> = {
    import: `imported${from}${when}${snapshot}`,
    synthetic: `synthesized${when}${snapshot}`,
    // A file that ships with the program needs no further description.
    shipped: `shipped with Candlepool (${file})`,
    file: `read${from}${snapshot}`,
  };
  const resampled = timeframe === storedTimeframe ? '' : ` made from ${storedTimeframe}`;
  return `${symbol} ${timeframe}${resampled}: ${how[origin]}`;
}

/** A stored series, or a file whose name may not show the timeframe. */
interface SeriesKey {
  readonly symbol: string;
  readonly timeframe: Timeframe | null;
}

/** The hint for a series that is not among the known ones: what was probably meant, and what lists them all. */
export function hintAmong(
  known: readonly SeriesKey[],
  symbol: string,
  list = `"${databaseCommandName()} data list" shows the stored series.`,
): string {
  const ofSymbol = known.filter((each) => each.symbol === symbol).map(({ timeframe }) => timeframe);
  const timeframes = [...new Set(ofSymbol.filter((timeframe) => timeframe !== null))];
  if (timeframes.length > 0) return `${symbol} is stored at ${timeframes.join(' and ')}. ${list}`;
  const similar = similarSymbol(symbol, [...new Set(known.map((each) => each.symbol))]);
  return similar === undefined ? list : `Did you mean ${similar.symbol}? ${list}`;
}

/** The same where bars are read without a database: the names are those of files. */
export async function seriesHint(symbol: string, folder: string | undefined): Promise<string> {
  const files = await listSeriesFiles(folder);
  if (folder === undefined)
    return hintAmong([...files, ...(await listSnapshotFiles(`${readConfig().dataDir}/snapshots`))], symbol);
  const shown = files
    .slice(0, FILES_SHOWN)
    .map(({ symbol: name, timeframe }) => (timeframe === null ? name : `${name} ${timeframe}`));
  const list = `${folder} has ${shown.join(', ') || 'no series'}${files.length > FILES_SHOWN ? ', …' : ''}.`;
  return hintAmong(files, symbol, list);
}
const FILES_SHOWN = 20;

/**
 * Whether DATA_DIR holds snapshots of these symbols other than the shipped ones, according to the footers of the files.
 * Only then is a database queried, which may have to be started.
 */
async function isImported(symbols: readonly string[], shipped: Catalog): Promise<boolean> {
  const { dataDir, databaseUrl } = readConfig();
  if (databaseUrl === undefined && !hasEmbedded(dataDir)) return false;
  const files = await listSnapshotFiles(`${dataDir}/snapshots`);
  const ofSymbols = files.filter(({ symbol }) => symbols.includes(symbol));
  if (ofSymbols.length === 0) return false;
  const known = await hashesOf(symbols, shipped);
  return ofSymbols.some(({ sha256 }) => !known.has(sha256));
}

async function hashesOf(symbols: readonly string[], shipped: Catalog): Promise<Set<string>> {
  // Every series of a symbol is readable at the coarsest timeframe.
  const entries = await Promise.all(symbols.map((symbol) => shipped.readable(symbol, '1d')));
  return new Set(entries.flat().map(({ sha256 }) => sha256));
}

/** Imports the module only when there are stored series: loading it takes longer than a small backtest, or its help. */
const openStoredDatabase = async (): Promise<CommandDatabase> => (await import('./database.ts')).openDatabase();

/** Reads the stored series and closes the database again: snapshots are read from files, or in their own session. */
async function readStored(): Promise<{
  readonly catalog: Catalog;
  readonly entries: readonly StoredEntry[];
  readonly removed: readonly Pick<CatalogEntry, 'symbol'>[];
}> {
  await using database = await openStoredDatabase();
  const { dataDir, snapshotStorage: storage } = database.config;
  const stored = openCatalog(database.sql, dataDir, { storage });
  const [entries, removed] = [await stored.list(), await stored.removed()];
  return {
    catalog: catalogOver(
      async () => entries,
      storage === 'folder' ? (hashes) => stored.open(hashes) : openFromDatabase,
    ),
    entries,
    removed,
  };
}

async function openFromDatabase(hashes: readonly string[]): Promise<readonly Snapshot[]> {
  await using database = await openStoredDatabase();
  const { dataDir, snapshotStorage: storage } = database.config;
  return openCatalog(database.sql, dataDir, { storage }).open(hashes);
}
