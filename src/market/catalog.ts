// The catalog: which series exist, and their snapshots in shared memory.
import { join } from 'node:path';
import type { Instrument, Timeframe } from '../engine/bars/bars.ts';
import { bytesOf, type Snapshot } from '../engine/bars/arrow.ts';
import { coversSpan } from '../engine/bars/coverage.ts';
import { sourceTimeframe } from '../engine/bars/market.ts';
import type { StorageKind } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../log.ts';
import { listSnapshotsWithoutChunks } from '../db/snapshotChunks.ts';
import { deleteUnusedSnapshots, type UnusedSnapshot } from '../db/retention.ts';
import { listRemovedSeries, listSeries, pointSeries, removeSeries } from '../db/series.ts';
import { refuse } from './import/importError.ts';
import type { BarsTable, ImportReport } from './import/importReport.ts';
import { SnapshotFiles } from './snapshotFiles.ts';
import { CopiedStorage, SnapshotFolder, SnapshotTable } from './snapshotStorage.ts';
import { counted, rangeOf } from './formatting.ts';

export interface CatalogEntry {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** The name of the current snapshot. */
  readonly sha256: string;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly missingBars: number;
  readonly instrument: Instrument;
  /** Whether a generator made the bars. */
  readonly synthetic: boolean;
}

/** Answers what runs and the API ask about market data, from Postgres and DATA_DIR or from a folder of files. */
export interface Catalog {
  /** Every stored series, by symbol, then finest timeframe first. */
  list(): Promise<readonly CatalogEntry[]>;
  /** The instruments of all stored series, one per symbol. */
  instruments(): Promise<readonly Instrument[]>;
  /**
   * The stored series that serves (symbol, timeframe): itself, or the one it is resampled from; undefined: not
   * available.
   */
  find(symbol: string, timeframe: Timeframe): Promise<CatalogEntry | undefined>;
  /**
   * What a run on (symbol, timeframe) may read of this symbol: every stored series, since the bars themselves decide
   * which of them covers the base (semantics §1.13). Empty: not available. Nothing is opened.
   */
  readable(symbol: string, timeframe: Timeframe): Promise<readonly CatalogEntry[]>;
  /** The snapshots of `readable`, opened: the input of `createMarket`. */
  snapshots(symbol: string, timeframe: Timeframe): Promise<readonly Snapshot[]>;
  /**
   * Pinned snapshots by name, current or not.
   * @throws MarketDataError FILE_UNREADABLE
   */
  open(sha256s: readonly string[]): Promise<readonly Snapshot[]>;
}

/** A series in Postgres, and the import that its snapshot comes from. */
export interface StoredEntry extends CatalogEntry {
  /** When the snapshot was first stored. */
  readonly importedAt: Date;
  /** Name of the imported file, without its folder; null: a generator made the bars, or it is not known. */
  readonly sourceFile: string | null;
}

/** A catalog that also takes imports. */
export interface StoredCatalog extends Catalog {
  /**
   * Writes a snapshot file, then points the series to it. An import that is killed before the end leaves the old data
   * in effect.
   * @param replaces the snapshot that the bars replace; absent if there is none, or if it is the same
   * @throws MarketDataError SERIES_EXISTS, SERIES_CHANGED when another import came first
   */
  add(symbol: string, bars: BarsTable, instrument: Instrument, replaces?: CatalogEntry): Promise<CatalogEntry>;
  /**
   * Removes a series from the list; false if there is no such series. Backtests that pinned its snapshots can still
   * open them.
   */
  remove(symbol: string, timeframe: Timeframe): Promise<boolean>;
  /**
   * Copies snapshots that are only in the folder of this host to the storage that all hosts share, for an installation
   * that has shared a folder until now. @returns how many
   */
  share(): Promise<number>;
  /** Removes snapshots that nothing refers to any more, and says which. */
  prune(): Promise<readonly UnusedSnapshot[]>;
  /** Series that were removed and not imported again. */
  removed(): Promise<readonly Pick<CatalogEntry, 'symbol' | 'timeframe'>[]>;
}

/** The catalog over Postgres. */
interface PostgresCatalog extends StoredCatalog {
  readonly files: SnapshotFiles;
  list(): Promise<readonly StoredEntry[]>;
}

/**
 * How long `list` may answer from memory: thousands of backtests must not each query Postgres. An import by another
 * process is seen this much later.
 */
const LIST_KEPT_MS = 1000;

interface CatalogOptions {
  /** Where snapshots are shared with other hosts; by default in the folder. */
  readonly storage?: StorageKind;
  /** Gets a warning when this host cannot keep copies of shared snapshots; absent: nothing is logged. */
  readonly log?: Log;
  /** Limit of the shared memory that opened snapshots take. */
  readonly maxBytes?: number;
  /** ms; for tests. */
  readonly now?: () => number;
}

/**
 * Snapshots are in DATA_DIR/snapshots, a folder that processes on several hosts must share, or in Postgres, with a copy
 * in that folder.
 */
export function openCatalog(sql: Sql, dataDir: string, options: CatalogOptions = {}): PostgresCatalog {
  const folder = new SnapshotFolder(join(dataDir, 'snapshots'));
  const table = options.storage === 'postgres' ? new SnapshotTable(sql) : null;
  const storage = table ? new CopiedStorage(table, folder, noteFailedCopy(options.log)) : folder;
  const files = new SnapshotFiles(storage, options.maxBytes);
  const { list, forget } = keptList(sql, options.now ?? Date.now);
  const open = (sha256s: readonly string[]): Promise<readonly Snapshot[]> =>
    Promise.all(sha256s.map((sha256) => files.open(sha256)));
  return {
    ...catalogOver(list, open),
    list,
    files,
    add: async (symbol, { columns, report, sourceFile }, instrument, replaces) => {
      const { sha256, byteLength, writeAgain } = await files.write(columns, {
        symbol,
        timeframe: report.timeframe,
        instrument,
      });
      const entry = entryOf(symbol, report, sha256, instrument);
      const isPointed = await pointSeries(
        sql,
        { ...entry, byteLength, sourceFile: sourceFile ?? null },
        replaces?.sha256 ?? null,
      );
      forget();
      // An unused snapshot of the same name may have been removed before the series pointed to it.
      if (isPointed) await writeAgain();
      if (!isPointed) refuseOccupied(await list(), entry, replaces);
      return entry;
    },
    remove: async (symbol, timeframe) => {
      const isRemoved = await removeSeries(sql, symbol, timeframe);
      forget();
      return isRemoved;
    },
    removed: () => listRemovedSeries(sql),
    prune: () => deleteUnusedSnapshots(sql, (sha256) => files.remove(sha256)),
    share: async () => (table === null ? 0 : copySnapshots(await listSnapshotsWithoutChunks(sql), folder, table)),
  };
}

/** Lists the stored series, from memory for LIST_KEPT_MS; after `forget`, the next call reads them again. */
function keptList(
  sql: Sql,
  now: () => number,
): { readonly list: () => Promise<readonly StoredEntry[]>; readonly forget: () => void } {
  let kept: { at: number; entries: Promise<readonly StoredEntry[]> } | null = null;
  const forget = (): void => {
    kept = null;
  };
  const list = (): Promise<readonly StoredEntry[]> => {
    if (kept && now() - kept.at < LIST_KEPT_MS) return kept.entries;
    const entries = listSeries(sql).then((rows) =>
      rows.map((row) => ({ ...row, synthetic: row.instrument.synthetic })),
    );
    kept = { at: now(), entries };
    entries.catch(forget);
    return entries;
  };
  return { list, forget };
}

/** Copies the snapshots that the folder has; returns how many. */
async function copySnapshots(sha256s: readonly string[], from: SnapshotFolder, to: SnapshotTable): Promise<number> {
  let copied = 0;
  for (const sha256 of sha256s) {
    const found = await from.read(sha256);
    if (typeof found === 'string') continue;
    await to.write(sha256, bytesOf(found));
    copied++;
  }
  return copied;
}

const noteFailedCopy = (log: Log | undefined) => (error: unknown) =>
  log?.warn({ err: error }, 'no copy of a snapshot could be kept in DATA_DIR, so it is read from Postgres each time');

export function refuseOccupied(
  entries: readonly CatalogEntry[],
  offered: CatalogEntry,
  replaces: CatalogEntry | undefined,
): never {
  const { symbol, timeframe } = offered;
  const stored = entries.find((entry) => entry.symbol === symbol && entry.timeframe === timeframe);
  if (replaces || !stored)
    refuse('SERIES_CHANGED', `${symbol} ${timeframe} was changed by another command. Run this one again.`);
  refuseExisting(stored, offered);
}

/** @throws MarketDataError SERIES_EXISTS */
export function refuseExisting(stored: CatalogEntry, offered: Pick<CatalogEntry, 'bars' | 'start' | 'end'>): never {
  refuse(
    'SERIES_EXISTS',
    `${stored.symbol} ${stored.timeframe} is already stored: ${counted(stored.bars, 'bar')}, ${rangeOf(stored)}. The ` +
      `new series has ${counted(offered.bars, 'bar')}, ${rangeOf(offered)}. Give --append to add its bars to the ` +
      `stored ones (where both have a bar, they must agree), or --replace to replace them.`,
  );
}

/** The answers of every catalog, given its list of entries and a way to open them. */
export function catalogOver(list: Catalog['list'], open: Catalog['open']): Catalog {
  const ofSymbol = async (symbol: string): Promise<readonly CatalogEntry[]> =>
    entriesBySymbol(await list()).get(symbol) ?? [];
  const readable = async (symbol: string, timeframe: Timeframe): Promise<readonly CatalogEntry[]> => {
    const stored = await ofSymbol(symbol);
    return sourceEntry(stored, timeframe) ? stored : [];
  };
  return {
    list,
    open,
    instruments: async () => {
      const bySymbol = new Map((await list()).toReversed().map((entry) => [entry.symbol, entry.instrument]));
      return [...bySymbol.values()].reverse();
    },
    find: async (symbol, timeframe) => sourceEntry(await ofSymbol(symbol), timeframe),
    readable,
    snapshots: async (symbol, timeframe) => open((await readable(symbol, timeframe)).map((entry) => entry.sha256)),
  };
}

const indexes = new WeakMap<readonly CatalogEntry[], ReadonlyMap<string, readonly CatalogEntry[]>>();

/** The entries of each symbol, made once per list: the check of a portfolio looks up a thousand symbols. */
function entriesBySymbol(entries: readonly CatalogEntry[]): ReadonlyMap<string, readonly CatalogEntry[]> {
  const known = indexes.get(entries);
  if (known) return known;
  const bySymbol = Map.groupBy(entries, ({ symbol }) => symbol);
  indexes.set(entries, bySymbol);
  return bySymbol;
}

/** The stored series that serves a timeframe, judged by its ends; gaps are found when the run opens the bars. */
function sourceEntry(stored: readonly CatalogEntry[], timeframe: Timeframe): CatalogEntry | undefined {
  const byTimeframe = new Map(stored.map((entry) => [entry.timeframe, entry]));
  const source = sourceTimeframe([...byTimeframe.keys()], timeframe, (finer, coarser) =>
    coversSpan(byTimeframe.get(finer)!, byTimeframe.get(coarser)!),
  );
  return source && byTimeframe.get(source);
}

/** The entry of a series whose bars `report` describes and whose snapshot is `sha256`. */
export function entryOf(symbol: string, report: ImportReport, sha256: string, instrument: Instrument): CatalogEntry {
  const { timeframe, bars, start, end, gaps, missingBars } = report;
  return {
    symbol,
    timeframe,
    sha256,
    bars,
    start,
    end,
    gaps,
    missingBars,
    instrument,
    synthetic: instrument.synthetic,
  };
}
