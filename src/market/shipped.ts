// Shipped data: the real series in data/ and the synthetic universe, for the first run and for commands that use no
// database.
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../config.ts';
import { TIMEFRAMES } from '../engine/bars/bars.ts';
import type { Instrument, Timeframe } from '../engine/bars/bars.ts';
import type { Snapshot } from '../engine/bars/arrow.ts';
import { isWarning } from './import/importReport.ts';
import type { BarsTable } from './import/importReport.ts';
import { nameParts } from './import/barsFile.ts';
import { catalogOver, entryOf } from './catalog.ts';
import type { Catalog, CatalogEntry, StoredCatalog } from './catalog.ts';
import { InstrumentFields, makeInstrument } from './instrument.ts';
import { refuse } from './import/importError.ts';
import { listFolder, readInputFile } from './import/inputFiles.ts';
import type { SkippedFile } from './import/inputFiles.ts';
import { joinParts, readParts } from './import/joinedSeries.ts';
import type { JoinedSeries, SeriesPart } from './import/joinedSeries.ts';
import { makeSnapshot } from './snapshotFiles.ts';
import { withUniverse } from './universe/offerUniverse.ts';
import { listUniverse } from './universe/universe.ts';

export const SHIPPED_FOLDER = join(ROOT, 'data');

/** data/series.json, as data/make.py writes it. */
const ShippedSeries = z.array(
  z.object({
    symbol: z.string(),
    timeframe: z.enum(TIMEFRAMES),
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
    for (const { symbol, bars } of await readBarsOf(source))
      added.push(await catalog.add(symbol, bars, instrumentOf(symbol, source.fields, bars)));
  }
  return added;
}

/**
 * A catalog over a folder of files and no database: the shipped one with the synthetic universe, or a user's with files
 * named SYMBOL-timeframe.csv.gz (.csv, .parquet, .arrow, .feather, .json, .zip), of which those of one series are
 * joined. A file is read when it is first asked for.
 * @param onWarning gets what is said of files that may not be what they seem, when they are read
 * @throws MarketDataError FILE_UNREADABLE when there is no such folder
 */
export async function openShippedData(
  folder: string = SHIPPED_FOLDER,
  onWarning: OnWarning = () => {},
): Promise<Catalog> {
  const files = await openFolder(folder, onWarning);
  return folder === SHIPPED_FOLDER ? withUniverse(files) : files;
}

type OnWarning = (text: string) => void;

async function openFolder(folder: string, onWarning: OnWarning): Promise<Catalog> {
  const sources = await sourcesOf(folder);
  const read = new Map<Source, Promise<readonly LoadedSeries[]>>();
  const load = (source: Source): Promise<readonly LoadedSeries[]> => {
    const loading = read.get(source) ?? loadSource(source, onWarning);
    read.set(source, loading);
    return loading;
  };
  const catalogOf = (wanted: readonly Source[]): Catalog => {
    const loadAll = async (): Promise<readonly LoadedSeries[]> => (await Promise.all(wanted.map(load))).flat();
    return catalogOver(
      async () => (await loadAll()).map(({ entry }) => entry),
      async (sha256s) => {
        const loaded = await loadAll();
        return sha256s.map((sha256) => {
          const found = loaded.find(({ entry }) => entry.sha256 === sha256);
          return found?.snapshot ?? refuse('FILE_UNREADABLE', `No file in ${folder} gives the snapshot ${sha256}.`);
        });
      },
    );
  };
  // A run names one symbol; reading the files of the others would take most of its time. Only a file whose name shows
  // no series may hold any symbol.
  const ofSymbol = (symbol: string): Catalog => {
    const named = sources.filter((source) => source.symbol === symbol);
    return catalogOf(named.length > 0 ? named : sources.filter(({ timeframe }) => timeframe === null));
  };
  return {
    ...catalogOf(sources),
    find: (symbol, timeframe) => ofSymbol(symbol).find(symbol, timeframe),
    readable: (symbol, timeframe) => ofSymbol(symbol).readable(symbol, timeframe),
    snapshots: (symbol, timeframe) => ofSymbol(symbol).snapshots(symbol, timeframe),
  };
}

interface LoadedSeries {
  readonly entry: CatalogEntry;
  readonly snapshot: Snapshot;
}

/** The files that hold the same series, by their names. */
interface Source {
  readonly paths: readonly string[];
  readonly symbol: string;
  /** null: the names do not show it. */
  readonly timeframe: Timeframe | null;
  /** What series.json states of the series; nothing in a folder without that file. */
  readonly fields: InstrumentFields;
}

const instrumentOf = (symbol: string, fields: InstrumentFields, { report }: BarsTable): Instrument =>
  makeInstrument(symbol, fields, report.calendar);

/** A series of a folder, by the name of its file. */
interface NamedSeries {
  readonly symbol: string;
  /** null: the name does not show it. */
  readonly timeframe: Timeframe | null;
}

/** The series of a folder by the names of its files, none of which is read; with the shipped ones, the universe. */
export async function listSeriesFiles(folder: string = SHIPPED_FOLDER): Promise<readonly NamedSeries[]> {
  const files = await sourcesOf(folder);
  return folder === SHIPPED_FOLDER ? [...files, ...listUniverse()] : files;
}

/** The files of a folder whose names are not those of bars; none of a folder that says itself what it has. */
export async function listUnusedFiles(folder: string): Promise<readonly SkippedFile[]> {
  const { files, skipped } = await listFolder(folder);
  return files.some((path) => basename(path) === LIST) ? [] : skipped;
}

const LIST = 'series.json';

async function sourcesOf(folder: string): Promise<Source[]> {
  const names = await readdir(folder).catch(() =>
    refuse('FILE_UNREADABLE', `There is no folder at ${folder}. Check the path.`),
  );
  const sources = names.includes(LIST) ? await listedSources(folder) : await namedSources(folder);
  const rank = ({ timeframe }: Source): number => (timeframe === null ? -1 : TIMEFRAMES.indexOf(timeframe));
  return sources.sort((a, b) => (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0) || rank(a) - rank(b));
}

async function listedSources(folder: string): Promise<Source[]> {
  return (await readShippedSeries(folder)).map(({ symbol, timeframe, file, instrument }) => ({
    paths: [join(folder, file)],
    symbol,
    timeframe,
    fields: instrument,
  }));
}

/** Every file of bars: those of one series, such as its days or months, are joined. */
async function namedSources(folder: string): Promise<Source[]> {
  const { files } = await listFolder(folder);
  const groups = Map.groupBy(files, (path) => {
    const { symbol, timeframe } = nameParts(path);
    return `${symbol} ${timeframe ?? ''}`;
  });
  return [...groups.values()].map((paths) => {
    const { symbol, timeframe = null } = nameParts(paths[0]);
    return { paths, symbol, timeframe, fields: {} };
  });
}

async function readBarsOf({ paths, timeframe }: Source): Promise<readonly JoinedSeries[]> {
  const parts: SeriesPart[] = [];
  for (const path of paths)
    for (const file of await readInputFile(path))
      for (const part of await readParts(file, timeframe === null ? {} : { timeframe }, undefined, true))
        parts.push(part);
  return joinParts(parts);
}

async function loadSource(source: Source, onWarning: OnWarning): Promise<readonly LoadedSeries[]> {
  return (await readBarsOf(source)).map(({ symbol, bars }) => {
    const { columns, report } = bars;
    for (const note of report.notes) if (isWarning(note)) onWarning(`${bars.sourceFile ?? symbol}: ${note}`);
    const instrument = instrumentOf(symbol, source.fields, bars);
    const snapshot = makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument });
    return { entry: entryOf(symbol, report, snapshot.meta.sha256, instrument), snapshot };
  });
}
