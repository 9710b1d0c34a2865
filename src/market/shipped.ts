// Shipped data: the real series in data/, for the first run and for commands without a database.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../config.ts';
import { STORED_TIMEFRAMES } from '../engine/columns/bars.ts';
import type { Instrument } from '../engine/columns/bars.ts';
import type { Snapshot } from '../engine/columns/arrow.ts';
import { readBars } from './barsTable.ts';
import type { BarsTable } from './barsTable.ts';
import { nameParts } from './barsFile.ts';
import { catalogueOver, entryOf } from './catalogue.ts';
import type { Catalogue, CatalogueEntry, StoredCatalogue } from './catalogue.ts';
import { InstrumentFields, makeInstrument } from './instrument.ts';
import { refuse } from './refusal.ts';
import { makeSnapshot } from './snapshotFiles.ts';
import { readSourceFile } from './sourceFile.ts';

export const SHIPPED_FOLDER = join(ROOT, 'data');

/** data/series.json, as data/make.py writes it. */
const ShippedSeries = z.array(
  z.object({
    symbol: z.string(),
    timeframe: z.enum(STORED_TIMEFRAMES),
    file: z.string(),
    bars: z.int(),
    sha256: z.string(),
    csvSha256: z.string(),
    source: z.object({ package: z.string(), version: z.string(), licence: z.string(), path: z.string() }),
    instrument: InstrumentFields,
  }),
);
export type ShippedSeries = z.infer<typeof ShippedSeries>;

export async function readShippedSeries(folder: string = SHIPPED_FOLDER): Promise<ShippedSeries> {
  return ShippedSeries.parse(JSON.parse(await readFile(join(folder, 'series.json'), 'utf8')));
}

/** Imports every shipped series that the catalogue does not hold; what an operator imported under the same name stays. */
export async function importShipped(
  catalogue: StoredCatalogue,
  folder: string = SHIPPED_FOLDER,
): Promise<readonly CatalogueEntry[]> {
  const held = new Set((await catalogue.list()).map((entry) => `${entry.symbol} ${entry.timeframe}`));
  const added: CatalogueEntry[] = [];
  for (const source of await sourcesOf(folder)) {
    if (held.has(`${source.symbol} ${source.timeframe}`)) continue;
    const bars = await readBarsOf(source);
    added.push(await catalogue.add(source.symbol, bars, source.instrument));
  }
  return added;
}

/**
 * A catalogue over a folder of files and no database: the shipped one, or a user's with files named SYMBOL-timeframe.csv.gz (.csv, .parquet, .arrow,
 * .feather, .json). A file is read when it is first asked for.
 * @throws MarketDataError FILE_UNREADABLE when there is no such folder
 */
export async function openShippedData(folder: string = SHIPPED_FOLDER): Promise<Catalogue> {
  const sources = await sourcesOf(folder);
  const read = new Map<string, Promise<{ entry: CatalogueEntry; snapshot: Snapshot }>>();
  const load = (source: Source): Promise<{ entry: CatalogueEntry; snapshot: Snapshot }> => {
    const loading = read.get(source.path) ?? loadSource(source);
    read.set(source.path, loading);
    return loading;
  };
  const list = async (): Promise<readonly CatalogueEntry[]> =>
    (await Promise.all(sources.map(load))).map(({ entry }) => entry);
  const open = async (sha256s: readonly string[]): Promise<readonly Snapshot[]> => {
    const loaded = await Promise.all(sources.map(load));
    return sha256s.map((sha256) => {
      const found = loaded.find(({ entry }) => entry.sha256 === sha256);
      return found?.snapshot ?? refuse('FILE_UNREADABLE', `No file in ${folder} gives the snapshot ${sha256}.`);
    });
  };
  // A run names one symbol: reading the files of the others would be most of its time.
  const narrowed = (symbol: string): Catalogue => {
    const ofSymbol = sources.filter((source) => source.symbol === symbol);
    return catalogueOver(
      async () => (await Promise.all(ofSymbol.map(load))).map(({ entry }) => entry),
      async (sha256s) => {
        const loaded = await Promise.all(ofSymbol.map(load));
        return sha256s.map((sha256) => loaded.find(({ entry }) => entry.sha256 === sha256)!.snapshot);
      },
    );
  };
  return {
    ...catalogueOver(list, open),
    find: (symbol, timeframe) => narrowed(symbol).find(symbol, timeframe),
    readable: (symbol, timeframe) => narrowed(symbol).readable(symbol, timeframe),
    snapshots: (symbol, timeframe) => narrowed(symbol).snapshots(symbol, timeframe),
  };
}

interface Source {
  readonly path: string;
  readonly symbol: string;
  readonly timeframe: (typeof STORED_TIMEFRAMES)[number];
  readonly instrument: Instrument;
}

async function sourcesOf(folder: string): Promise<Source[]> {
  const names = await readdir(folder).catch(() => refuse('FILE_UNREADABLE', `No folder at ${folder}.`));
  const sources = names.includes('series.json') ? await listedSources(folder) : namedSources(folder, names);
  return sources.sort(
    (a, b) =>
      (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0) ||
      STORED_TIMEFRAMES.indexOf(a.timeframe) - STORED_TIMEFRAMES.indexOf(b.timeframe),
  );
}

async function listedSources(folder: string): Promise<Source[]> {
  return (await readShippedSeries(folder)).map(({ symbol, timeframe, file, instrument }) => ({
    path: join(folder, file),
    symbol,
    timeframe,
    instrument: makeInstrument(symbol, instrument),
  }));
}

/** The same series in two formats: the first by name is taken. */
function namedSources(folder: string, names: readonly string[]): Source[] {
  const sources = new Map<string, Source>();
  for (const name of names.toSorted()) {
    const { symbol, timeframe } = nameParts(name);
    if (!timeframe || !/\.(csv|csv\.gz|json|json\.gz|parquet|arrow|feather)$/i.test(name)) continue;
    const key = `${symbol} ${timeframe}`;
    if (!sources.has(key))
      sources.set(key, { path: join(folder, name), symbol, timeframe, instrument: makeInstrument(symbol) });
  }
  return [...sources.values()];
}

const readBarsOf = async ({ path, timeframe }: Source): Promise<BarsTable> =>
  readBars(await readSourceFile(path), { timeframe });

async function loadSource(source: Source): Promise<{ entry: CatalogueEntry; snapshot: Snapshot }> {
  const { symbol, instrument } = source;
  const { columns, report } = await readBarsOf(source);
  const snapshot = makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument });
  return { entry: entryOf(symbol, report, snapshot.meta.sha256, instrument), snapshot };
}
