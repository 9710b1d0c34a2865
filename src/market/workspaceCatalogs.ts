// Catalogs of workspaces: each reads the shared series and those that it has uploaded, and never those of another.
import type { Instrument } from '../engine/bars/bars.ts';
import { TIMEFRAMES } from '../engine/bars/bars.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { listWorkspaceSeries, pointWorkspaceSeries, reserveSnapshot } from '../db/workspaceSeries.ts';
import { catalogOver, entryOf, refuseOccupied } from './catalog.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { SeriesStore } from './import/importSeries.ts';
import type { BarsTable } from './import/importReport.ts';
import type { SnapshotFiles } from './snapshotFiles.ts';

/** What one workspace can read. It is for one request: its own series are looked up once. */
interface WorkspaceCatalog extends Catalog {
  /** The symbols whose series are the workspace's own; all of them are then. */
  ownSymbols(): Promise<ReadonlySet<string>>;
}

/**
 * Where a workspace has a series of its own, all series of that symbol are its own: a run never mixes two sources of
 * one symbol, whoever adds what later.
 */
export class WorkspaceCatalogs {
  readonly #sql: Sql;
  readonly #shared: Catalog;
  readonly #files: SnapshotFiles;

  constructor(sql: Sql, shared: Catalog, files: SnapshotFiles) {
    this.#sql = sql;
    this.#shared = shared;
    this.#files = files;
  }

  of(workspaceId: string): WorkspaceCatalog {
    const shared = this.#shared;
    let reading: Promise<readonly CatalogEntry[]> | undefined;
    const listOwn = (): Promise<readonly CatalogEntry[]> => (reading ??= ownEntries(this.#sql, workspaceId));
    const open: Catalog['open'] = (sha256s) => shared.open(sha256s);
    const own = catalogOver(listOwn, open);
    const ownSymbols = async (): Promise<ReadonlySet<string>> => new Set((await listOwn()).map(({ symbol }) => symbol));
    const pick = async (symbol: string): Promise<Catalog> =>
      (await listOwn()).some((entry) => entry.symbol === symbol) ? own : shared;
    return {
      ownSymbols,
      open,
      list: async () => mergedBySymbol(await listOwn(), await shared.list()),
      instruments: async () => mergedBySymbol<Instrument>(await own.instruments(), await shared.instruments()),
      find: async (symbol, timeframe) => (await pick(symbol)).find(symbol, timeframe),
      readable: async (symbol, timeframe) => (await pick(symbol)).readable(symbol, timeframe),
      snapshots: async (symbol, timeframe) => (await pick(symbol)).snapshots(symbol, timeframe),
    };
  }

  /** Symbols that every workspace without series of its own reads. */
  async sharedSymbols(): Promise<ReadonlySet<string>> {
    return new Set((await this.#shared.list()).map(({ symbol }) => symbol));
  }

  /** Pinned snapshots by name, for whoever has found the names among what a workspace may read. */
  open(sha256s: readonly string[]): ReturnType<Catalog['open']> {
    return this.#shared.open(sha256s);
  }

  /**
   * Takes imports of a workspace, among its own series only. They are stored with the transaction.
   * @param requireRoom throws when the workspace may not store so many bytes
   */
  importing(workspaceId: string, tx: Transaction, requireRoom: (bytes: number) => void): SeriesStore {
    const list = (): Promise<readonly CatalogEntry[]> => ownEntries(tx, workspaceId);
    return {
      list,
      open: (sha256s) => this.#shared.open(sha256s),
      add: async (symbol, bars: BarsTable, instrument, replaces) => {
        const { timeframe } = bars.report;
        const snapshot = this.#files.encode(bars.columns, { symbol, timeframe, instrument });
        const entry = entryOf(symbol, bars.report, snapshot.sha256, instrument);
        const row = { ...entry, byteLength: snapshot.bytes.length, sourceFile: null };
        await reserveSnapshot(this.#sql, workspaceId, row, requireRoom);
        await this.#files.keep(snapshot);
        if (!(await pointWorkspaceSeries(tx, workspaceId, entry, replaces?.sha256 ?? null)))
          refuseOccupied(await list(), entry, replaces);
        return entry;
      },
    };
  }
}

const rank = ({ timeframe }: CatalogEntry): number => TIMEFRAMES.indexOf(timeframe);
const byName = (a: { readonly symbol: string }, b: { readonly symbol: string }): number =>
  a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0;

async function ownEntries(
  sql: Parameters<typeof listWorkspaceSeries>[0],
  workspaceId: string,
): Promise<readonly CatalogEntry[]> {
  const rows = await listWorkspaceSeries(sql, workspaceId);
  return rows
    .map((row): CatalogEntry => ({ ...row, synthetic: row.instrument.synthetic }))
    .toSorted((a, b) => byName(a, b) || rank(a) - rank(b));
}

/** The own ones, and those of the shared ones whose symbol is not among them. */
function mergedBySymbol<Each extends { readonly symbol: string }>(
  own: readonly Each[],
  shared: readonly Each[],
): readonly Each[] {
  // The same list, which others have indexed.
  if (own.length === 0) return shared;
  const symbols = new Set(own.map(({ symbol }) => symbol));
  return [...own, ...shared.filter(({ symbol }) => !symbols.has(symbol))].toSorted(byName);
}
