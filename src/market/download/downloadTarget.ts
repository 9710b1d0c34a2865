// Download targets: where downloaded bars are kept, in the catalog or in a folder of files.
import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { TIMEFRAMES } from '../../engine/bars/bars.ts';
import type { Snapshot } from '../../engine/bars/arrow.ts';
import { entryOf } from '../catalog.ts';
import type { StoredCatalog } from '../catalog.ts';
import { EXPORT_FORMATS, exportChunks } from '../exportBars.ts';
import type { ExportFormat } from '../exportBars.ts';
import { openShippedData } from '../shipped.ts';
import type { SeriesStore } from '../import/importSeries.ts';
import { makeSnapshot } from '../snapshotFiles.ts';

export interface DownloadTarget {
  /** The stored series of this symbol, at every timeframe. */
  readonly storeOf: (symbol: string) => SeriesStore;
  /** The folder of journals. */
  readonly journals: string;
  /** Whether the metadata of instruments is kept beside the bars. */
  readonly keepsInstruments: boolean;
}

export function catalogTarget(catalog: StoredCatalog, dataDir: string): DownloadTarget {
  return { storeOf: () => catalog, journals: join(dataDir, 'downloads'), keepsInstruments: true };
}

/**
 * A folder as `--data` reads it: BTCUSDT-1m.csv, or the file of that name in another format that is there already.
 * @throws MarketDataError FILE_UNREADABLE when there is no such folder
 */
export async function folderTarget(folder: string): Promise<DownloadTarget> {
  const files = await openShippedData(folder);
  const coarsest = TIMEFRAMES[TIMEFRAMES.length - 1];
  const storeOf = (symbol: string): SeriesStore => {
    const written = new Map<string, Snapshot>();
    return {
      list: () => files.readable(symbol, coarsest),
      open: (sha256s) =>
        Promise.all(sha256s.map(async (sha256) => written.get(sha256) ?? (await files.open([sha256]))[0])),
      add: async (name, { columns, report }, instrument) => {
        const snapshot = makeSnapshot(columns, { symbol: name, timeframe: report.timeframe, instrument });
        await writeSeriesFile(folder, `${name}-${report.timeframe}`, snapshot);
        written.set(snapshot.meta.sha256, snapshot);
        return entryOf(name, report, snapshot.meta.sha256, instrument);
      },
    };
  };
  return { storeOf, journals: join(folder, '.downloads'), keepsInstruments: false };
}

/** Puts the file in place in one step: a command that is killed leaves the old file. */
async function writeSeriesFile(folder: string, stem: string, snapshot: Snapshot): Promise<void> {
  const names = EXPORT_FORMATS.flatMap((format) => [
    { format, name: `${stem}.${format}` },
    { format, name: `${stem}.${format}.gz` },
  ]);
  const found = await Promise.all(names.map(({ name }) => stat(join(folder, name)).catch(() => null)));
  const { format, name }: { format: ExportFormat; name: string } = names[found.findIndex((each) => each !== null)] ?? {
    format: 'csv',
    name: `${stem}.csv`,
  };
  const chunks = Readable.from(exportChunks(snapshot, format));
  const part = join(folder, `.${name}.part`);
  await writeFile(part, name.endsWith('.gz') ? chunks.compose(createGzip()) : chunks);
  await rename(part, join(folder, name));
}
