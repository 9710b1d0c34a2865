// Offering the synthetic universe: a catalog that also lists its series, and has their bars made when they are read.
import type { Timeframe } from '../../engine/bars/bars.ts';
import { catalogOver } from '../catalog.ts';
import type { Catalog, CatalogEntry, StoredCatalog } from '../catalog.ts';
import { findUniverseEntry, listUniverse, universeBars, universeSnapshot } from './universe.ts';

const bySymbol = (a: CatalogEntry, b: CatalogEntry): number => (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0);

/** A catalog without a database that has the universe as well, in memory. */
export function withUniverse(files: Catalog): Catalog {
  const universe = catalogOver(
    async () => listUniverse(),
    async (sha256s) => sha256s.map((sha256) => universeSnapshot(universeSymbol(sha256)!)),
  );
  const pick = (symbol: string): Catalog => (findUniverseEntry(symbol) === undefined ? files : universe);
  return {
    list: async () => [...(await files.list()), ...listUniverse()].toSorted(bySymbol),
    instruments: async () =>
      [...(await files.instruments()), ...(await universe.instruments())].toSorted((a, b) =>
        a.symbol < b.symbol ? -1 : 1,
      ),
    find: (symbol, timeframe) => pick(symbol).find(symbol, timeframe),
    readable: (symbol, timeframe) => pick(symbol).readable(symbol, timeframe),
    snapshots: (symbol, timeframe) => pick(symbol).snapshots(symbol, timeframe),
    open: async (sha256s) => {
      const others = sha256s.filter((sha256) => universeSymbol(sha256) === undefined);
      const opened = new Map((await files.open(others)).map((snapshot) => [snapshot.meta.sha256, snapshot]));
      return sha256s.map((sha256) => opened.get(sha256) ?? universeSnapshot(universeSymbol(sha256)!));
    },
  };
}

const universeSymbol = (sha256: string): string | undefined =>
  listUniverse().find((entry) => entry.sha256 === sha256)?.symbol;

/**
 * A catalog over Postgres that lists the universe as well. A series is stored when it is first read, so that the start
 * of a service does not wait for it and a pinned snapshot always is a stored one. A symbol that has stored series, or
 * whose series an operator removed, is not offered.
 */
export function offerUniverse(stored: StoredCatalog): StoredCatalog {
  const offered = offeredBeside(stored);
  const list = async (): Promise<readonly CatalogEntry[]> => {
    const entries = await stored.list();
    return [...entries, ...(await offered(entries)).values()].toSorted(bySymbol);
  };
  const isOffered = async (symbol: string): Promise<boolean> => (await offered(await stored.list())).has(symbol);
  const store = async (symbol: string): Promise<void> => {
    if (!(await isOffered(symbol))) return;
    const { instrument, timeframe, sha256 } = findUniverseEntry(symbol)!;
    await stored.add(symbol, universeBars(symbol), instrument).catch(async (error: unknown) => {
      // Another process may have stored bars of its own in the meantime, which then are the series.
      const [now] = (await stored.list()).filter((entry) => entry.symbol === symbol && entry.timeframe === timeframe);
      if (now === undefined || now.sha256 === sha256) throw error;
    });
  };
  const readable = async (symbol: string, timeframe: Timeframe): Promise<readonly CatalogEntry[]> => {
    await store(symbol);
    return stored.readable(symbol, timeframe);
  };
  const open: Catalog['open'] = async (sha256s) => {
    for (const sha256 of sha256s) {
      const symbol = universeSymbol(sha256);
      if (symbol !== undefined) await store(symbol);
    }
    return stored.open(sha256s);
  };
  return {
    ...stored,
    ...catalogOver(list, open),
    readable,
    snapshots: async (symbol, timeframe) => open((await readable(symbol, timeframe)).map(({ sha256 }) => sha256)),
    add: async (symbol, bars, instrument, replaces) => {
      if (replaces !== undefined) await store(symbol);
      return stored.add(symbol, bars, instrument, replaces);
    },
    remove: async (symbol, timeframe) => {
      await store(symbol);
      return stored.remove(symbol, timeframe);
    },
  };
}

/**
 * Says which members of the universe a list of stored entries leaves to be offered. The answer is kept as long as the
 * catalog answers the same list, so that it costs a query per second at most.
 */
function offeredBeside(
  stored: StoredCatalog,
): (entries: readonly CatalogEntry[]) => Promise<ReadonlyMap<string, CatalogEntry>> {
  const kept = new WeakMap<readonly CatalogEntry[], Promise<Map<string, CatalogEntry>>>();
  const find = async (entries: readonly CatalogEntry[]): Promise<Map<string, CatalogEntry>> => {
    const taken = new Set([...entries, ...(await stored.removed())].map(({ symbol }) => symbol));
    return new Map(listUniverse().flatMap((entry) => (taken.has(entry.symbol) ? [] : [[entry.symbol, entry]])));
  };
  return (entries) => {
    let offered = kept.get(entries);
    if (offered === undefined) {
      kept.set(entries, (offered = find(entries)));
      offered.catch(() => kept.delete(entries));
    }
    return offered;
  };
}
