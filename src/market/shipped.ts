// Shipped data: the real series in data/ and the synthetic universe, for the first run and for commands that use no
// database.
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../config.ts';
import { STORED_TIMEFRAMES } from '../engine/bars/bars.ts';
import type { Instrument } from '../engine/bars/bars.ts';
import type { Snapshot } from '../engine/bars/arrow.ts';
import { readBars } from './barsTable.ts';
import type { BarsTable } from './importReport.ts';
import { nameParts } from './barsFile.ts';
import { catalogOver, entryOf } from './catalog.ts';
import type { Catalog, CatalogEntry, StoredCatalog } from './catalog.ts';
import { InstrumentFields, makeInstrument } from './instrument.ts';
import { refuse } from './importError.ts';
import { makeSnapshot } from './snapshotFiles.ts';
import { readSourceFile } from './sourceFile.ts';
import { withUniverse } from './universe/offerUniverse.ts';
import { listUniverse } from './universe/universe.ts';

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
    source: z.object({ package: z.string(), version: z.string(), license: z.string(), path: z.string() }),
    instrument: InstrumentFields,
  }),
);
type ShippedSeries = z.infer<typeof ShippedSeries>;

/** What the folder of shipped data says about its series. */
export async function readShippedSeries(folder: string = SHIPPED_FOLDER): Promise<ShippedSeries> {
  return ShippedSeries.parse(JSON.parse(await readFile(join(folder, 'series.json'), 'utf8')));
}

/**
 * Imports every shipped series that the catalog does not have. A series that an operator imported under the same name
 * stays, and one that was removed does not return.
 */
export async function importShipped(
  catalog: StoredCatalog,
  folder: string = SHIPPED_FOLDER,
): Promise<readonly CatalogEntry[]> {
  const known = [...(await catalog.list()), ...(await catalog.removed())];
  const held = new Set(known.map((entry) => `${entry.symbol} ${entry.timeframe}`));
  const added: CatalogEntry[] = [];
  for (const source of await sourcesOf(folder)) {
    if (held.has(`${source.symbol} ${source.timeframe}`)) continue;
    const bars = await readBarsOf(source);
    added.push(await catalog.add(source.symbol, bars, instrumentOf(source, bars)));
  }
  return added;
}

/**
 * A catalog over a folder of files and no database: the shipped one with the synthetic universe, or a user's with files
 * named SYMBOL-timeframe.csv.gz (.csv, .parquet, .arrow, .feather, .json). A file is read when it is first asked for.
 * @throws MarketDataError FILE_UNREADABLE when there is no such folder
 */
export async function openShippedData(folder: string = SHIPPED_FOLDER): Promise<Catalog> {
  const files = await openFolder(folder);
  return folder === SHIPPED_FOLDER ? withUniverse(files) : files;
}

async function openFolder(folder: string): Promise<Catalog> {
  const sources = await sourcesOf(folder);
  const read = new Map<string, Promise<{ entry: CatalogEntry; snapshot: Snapshot }>>();
  const load = (source: Source): Promise<{ entry: CatalogEntry; snapshot: Snapshot }> => {
    const loading = read.get(source.path) ?? loadSource(source);
    read.set(source.path, loading);
    return loading;
  };
  const catalogOf = (wanted: readonly Source[]): Catalog =>
    catalogOver(
      async () => (await Promise.all(wanted.map(load))).map(({ entry }) => entry),
      async (sha256s) => {
        const loaded = await Promise.all(wanted.map(load));
        return sha256s.map((sha256) => {
          const found = loaded.find(({ entry }) => entry.sha256 === sha256);
          return found?.snapshot ?? refuse('FILE_UNREADABLE', `No file in ${folder} gives the snapshot ${sha256}.`);
        });
      },
    );
  // A run names one symbol; reading the files of the others would take most of its time.
  const ofSymbol = (symbol: string): Catalog => catalogOf(sources.filter((source) => source.symbol === symbol));
  return {
    ...catalogOf(sources),
    find: (symbol, timeframe) => ofSymbol(symbol).find(symbol, timeframe),
    readable: (symbol, timeframe) => ofSymbol(symbol).readable(symbol, timeframe),
    snapshots: (symbol, timeframe) => ofSymbol(symbol).snapshots(symbol, timeframe),
  };
}

interface Source {
  readonly path: string;
  readonly symbol: string;
  readonly timeframe: (typeof STORED_TIMEFRAMES)[number];
  /** What series.json states of the series; nothing in a folder without that file. */
  readonly fields: InstrumentFields;
}

const instrumentOf = ({ symbol, fields }: Source, { report }: BarsTable): Instrument =>
  makeInstrument(symbol, fields, report.calendar);

/** The series of a folder by the names of its files, none of which is read; with the shipped ones, the universe. */
export async function listSeriesFiles(
  folder: string = SHIPPED_FOLDER,
): Promise<readonly Pick<CatalogEntry, 'symbol' | 'timeframe'>[]> {
  const files = await sourcesOf(folder);
  return folder === SHIPPED_FOLDER ? [...files, ...listUniverse()] : files;
}

async function sourcesOf(folder: string): Promise<Source[]> {
  const names = await readdir(folder).catch(() =>
    refuse('FILE_UNREADABLE', `There is no folder at ${folder}. Check the path.`),
  );
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
    fields: instrument,
  }));
}

/** If a series exists in two formats, the first by name is used. */
function namedSources(folder: string, names: readonly string[]): Source[] {
  const sources = new Map<string, Source>();
  for (const name of names.toSorted()) {
    const { symbol, timeframe } = nameParts(name);
    if (!timeframe || !/\.(csv|csv\.gz|json|json\.gz|parquet|arrow|feather)$/i.test(name)) continue;
    const key = `${symbol} ${timeframe}`;
    if (!sources.has(key)) sources.set(key, { path: join(folder, name), symbol, timeframe, fields: {} });
  }
  return [...sources.values()];
}

const readBarsOf = async ({ path, timeframe }: Source): Promise<BarsTable> => ({
  ...readBars(await readSourceFile(path), { timeframe }),
  sourceFile: basename(path),
});

async function loadSource(source: Source): Promise<{ entry: CatalogEntry; snapshot: Snapshot }> {
  const { symbol } = source;
  const bars = await readBarsOf(source);
  const { columns, report } = bars;
  const instrument = instrumentOf(source, bars);
  const snapshot = makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument });
  return { entry: entryOf(symbol, report, snapshot.meta.sha256, instrument), snapshot };
}
