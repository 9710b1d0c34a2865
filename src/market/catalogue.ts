// The catalogue: which series there are, and their snapshots in shared memory.
import { join } from 'node:path';
import { STORED_TIMEFRAMES, TIMEFRAME_MS } from '../engine/columns/bars.ts';
import type { Instrument, StoredTimeframe } from '../engine/columns/bars.ts';
import type { Snapshot } from '../engine/columns/arrow.ts';
import { sourceTimeframe } from '../engine/columns/market.ts';
import type { Sql } from '../db/connect.ts';
import { listSeries, pointSeries } from '../db/series.ts';
import type { BarsTable, ImportReport } from './barsTable.ts';
import { SnapshotFiles } from './snapshotFiles.ts';

export interface CatalogueEntry {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
  /** Of the current snapshot. */
  readonly sha256: string;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly missingBars: number;
  readonly instrument: Instrument;
  /** Made by a generator, not traded anywhere. */
  readonly synthetic: boolean;
}

/** What a run and the API ask of market data; it answers from Postgres and DATA_DIR, or from a folder of files. */
export interface Catalogue {
  /** Every stored series, by symbol, then finest timeframe first. */
  list(): Promise<readonly CatalogueEntry[]>;
  /** One entry a symbol. */
  instruments(): Promise<readonly Instrument[]>;
  /** The stored series that answers for (symbol, timeframe): itself, or the one it is resampled from; undefined: not available. */
  find(symbol: string, timeframe: StoredTimeframe): Promise<CatalogueEntry | undefined>;
  /**
   * What a run on (symbol, timeframe) may read of this symbol: the base or what it is resampled from, the finest one to drill into, and every
   * coarser one. Empty: not available. Nothing is opened.
   */
  readable(symbol: string, timeframe: StoredTimeframe): Promise<readonly CatalogueEntry[]>;
  /** The snapshots of `readable`, opened: the input of `createMarket`. */
  snapshots(symbol: string, timeframe: StoredTimeframe): Promise<readonly Snapshot[]>;
  /**
   * Pinned snapshots by name, current or not.
   * @throws MarketDataError FILE_UNREADABLE
   */
  open(sha256s: readonly string[]): Promise<readonly Snapshot[]>;
}

/** The catalogue over Postgres, which also takes imports. */
export interface StoredCatalogue extends Catalogue {
  /** Writes a snapshot file, then moves the pointer; an import killed before the end leaves the old data in force. */
  add(symbol: string, bars: BarsTable, instrument: Instrument): Promise<CatalogueEntry>;
}

/** How long `list` may answer from memory: backtests by the thousand must not each ask Postgres, and an import elsewhere is seen this much later. */
const LIST_KEPT_MS = 1000;

export interface CatalogueOptions {
  /** Bound of the shared memory of opened snapshots. */
  readonly maxBytes?: number;
  /** ms; for tests. */
  readonly now?: () => number;
}

/** Snapshots lie in DATA_DIR/snapshots; processes on several hosts need that folder in common. */
export function openCatalogue(sql: Sql, dataDir: string, options: CatalogueOptions = {}): StoredCatalogue {
  const files = new SnapshotFiles(join(dataDir, 'snapshots'), options.maxBytes);
  const now = options.now ?? Date.now;
  let kept: { at: number; entries: Promise<readonly CatalogueEntry[]> } | null = null;
  const list = (): Promise<readonly CatalogueEntry[]> => {
    if (kept && now() - kept.at < LIST_KEPT_MS) return kept.entries;
    const entries = listSeries(sql).then((rows) =>
      rows.map((row) => ({ ...row, synthetic: row.instrument.synthetic })),
    );
    kept = { at: now(), entries };
    entries.catch(() => (kept = null));
    return entries;
  };
  const open = (sha256s: readonly string[]): Promise<readonly Snapshot[]> =>
    Promise.all(sha256s.map((sha256) => files.open(sha256)));
  return {
    ...catalogueOver(list, open),
    add: async (symbol, { columns, report }, instrument) => {
      const { sha256, byteLength } = await files.write(columns, { symbol, timeframe: report.timeframe, instrument });
      const entry = entryOf(symbol, report, sha256, instrument);
      await pointSeries(sql, { ...entry, byteLength });
      kept = null;
      return entry;
    },
  };
}

/** What every catalogue answers from its list of entries and a way to open them. */
export function catalogueOver(list: Catalogue['list'], open: Catalogue['open']): Catalogue {
  const ofSymbol = async (symbol: string): Promise<Map<StoredTimeframe, CatalogueEntry>> => {
    const entries = (await list()).filter((entry) => entry.symbol === symbol);
    return new Map(entries.map((entry) => [entry.timeframe, entry]));
  };
  const readable = async (symbol: string, timeframe: StoredTimeframe): Promise<readonly CatalogueEntry[]> => {
    const stored = await ofSymbol(symbol);
    const source = sourceTimeframe([...stored.keys()], timeframe);
    if (!source) return [];
    const finest = STORED_TIMEFRAMES.find((candidate) => stored.has(candidate));
    const isRead = (candidate: StoredTimeframe): boolean =>
      candidate === source || candidate === finest || TIMEFRAME_MS[candidate] > TIMEFRAME_MS[timeframe];
    return [...stored.values()].filter((entry) => isRead(entry.timeframe));
  };
  return {
    list,
    open,
    instruments: async () => {
      const bySymbol = new Map((await list()).toReversed().map((entry) => [entry.symbol, entry.instrument]));
      return [...bySymbol.values()].reverse();
    },
    find: async (symbol, timeframe) => {
      const stored = await ofSymbol(symbol);
      const source = sourceTimeframe([...stored.keys()], timeframe);
      return source && stored.get(source);
    },
    readable,
    snapshots: async (symbol, timeframe) => open((await readable(symbol, timeframe)).map((entry) => entry.sha256)),
  };
}

export function entryOf(symbol: string, report: ImportReport, sha256: string, instrument: Instrument): CatalogueEntry {
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
