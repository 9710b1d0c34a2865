// candlepool data export: a stored series as a file, or on stdout.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { EXPORT_FORMATS, exportChunks } from '../market/exportBars.ts';
import type { ExportFormat } from '../market/exportBars.ts';
import { isoTime } from '../market/formatting.ts';
import { findEntry, openData } from './dataCatalog.ts';
import type { SeriesOptions } from './dataCatalog.ts';
import { checkOutputs, writeOutputs } from './outputFiles.ts';
import { printJson, printLine, UsageError } from './output.ts';

interface ExportOptions extends SeriesOptions {
  readonly out?: string;
  readonly format?: ExportFormat;
}

export async function exportSeries(options: ExportOptions): Promise<void> {
  const { out } = options;
  if (out === undefined && options.json)
    throw new UsageError('--json describes the file that --out names. Give --out, or --format json for bars as JSON.');
  const format = options.format ?? (out === undefined ? 'csv' : formatOf(out));
  if (out !== undefined) await checkOutputs([out]);
  await using opened = await openData();
  const entry = await findEntry(opened.catalog, options);
  const [snapshot] = await opened.catalog.open([entry.sha256]);
  const chunks = Readable.from(exportChunks(snapshot, format));
  if (out === undefined) return pipeline(chunks, process.stdout, { end: false });
  const content = out.endsWith('.gz') ? chunks.compose(createGzip()) : chunks;
  await writeOutputs([{ path: out, content }]);
  const { symbol, timeframe, bars, start, end } = entry;
  if (options.json) return printJson({ symbol, timeframe, bars, start, end, file: out, format });
  printLine(`Wrote ${bars} bars of ${symbol} ${timeframe}, ${isoTime(start)} to ${isoTime(end)}, to ${out}.`);
}

function formatOf(path: string): ExportFormat {
  const [, extension = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(path) ?? [];
  const format = EXPORT_FORMATS.find((candidate) => candidate === extension.toLowerCase());
  if (format) return format;
  throw new UsageError(
    `The name ${path} shows no format. End it with .csv, .csv.gz, .json or .arrow, or give --format.`,
  );
}
