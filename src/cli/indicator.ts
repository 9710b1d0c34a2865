// candlepool indicator: computes one indicator, or a file of requests, on bars, in this process.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { createMarket, encodeColumns, openSnapshot, TIMEFRAMES } from '../engine/index.ts';
import type { Bars } from '../engine/index.ts';
import { parseBarsArgument, readBarsFile } from '../market/import/barsFile.ts';
import { oneOf, shortText } from './arguments.ts';
import { answerRequest, type IndicatorAnswer, type IndicatorRequest } from './indicatorRequest.ts';
import { quotedJson } from './invocation.ts';
import { describeSource, openMarketSource, seriesHint, type SeriesSource } from './marketSource.ts';
import { CommandError, printJson, UsageError, withJson } from './output.ts';

interface Options {
  readonly symbol?: string;
  readonly timeframe?: (typeof TIMEFRAMES)[number];
  readonly data?: string;
  readonly bars?: string;
  readonly name?: string;
  readonly talib?: string;
  readonly args?: string;
  readonly inputs?: string;
  readonly batch?: string;
  readonly format?: 'csv' | 'json' | 'arrow';
  readonly json?: boolean;
}

export function register(program: Command): void {
  withJson(
    program
      .command('indicator')
      .description('compute an indicator or a candlestick pattern on bars; docs/indicators.md lists them')
      .option('--symbol <symbol>', 'a series of the catalog, or of --data', shortText(100))
      .option('--timeframe <timeframe>', `one of ${TIMEFRAMES.join(', ')}`, oneOf(TIMEFRAMES))
      .option(
        '--data <folder>',
        'a folder of files named SYMBOL-timeframe.csv.gz (.csv, .parquet, .arrow), in place of the catalog',
      )
      .option('--bars <file>', 'a file of bars in place of a series: CSV, CSV.gz, JSON, Parquet or Arrow')
      .option('--name <id>', 'the id of an indicator or pattern, such as rsi or engulfing')
      .option(
        '--talib <NAME>',
        'a TA-Lib function, such as RSI or CDLDOJI, with the argument names and defaults of TA-Lib',
      )
      .option('--args <json>', 'arguments, such as {"length":14}')
      .option('--inputs <columns>', 'the input columns in call order, such as high,low')
      .option('--batch <file>', 'a file of requests, one JSON object per line (- for stdin), answered line by line')
      .option('--format <format>', 'csv, json or arrow; default: csv', oneOf(['csv', 'json', 'arrow'])),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  const given = [options.name, options.talib, options.batch].filter((value) => value !== undefined);
  if (given.length !== 1) throw new UsageError('Give exactly one of --name, --talib and --batch.');
  const request = options.batch === undefined ? requestOf(options) : undefined;
  const { bars, source } = await openBars(options);
  const answer = request && answerRequest(request, bars);
  if (answer && 'error' in answer) throw new UsageError(answer.error.message, answer.error.code);
  // Stdout is reserved for the values.
  if (source !== null && !(options.json && answer)) process.stderr.write(`${describeSource(source)}\n`);
  if (answer === undefined) return answerBatch(options.batch!, bars);
  print(answer, bars, source, options.json ? 'json' : (options.format ?? 'csv'));
}

function requestOf(options: Options): IndicatorRequest {
  let args: unknown;
  try {
    args = JSON.parse(options.args ?? '{}');
  } catch {
    throw new UsageError(
      `--args is not valid JSON: ${options.args}. Write it like this: ${quotedJson('{"length":14}')}.`,
    );
  }
  const inputs = options.inputs?.split(',');
  return { ...(options.name === undefined ? { talib: options.talib } : { name: options.name }), args, inputs };
}

async function openBars({
  symbol,
  timeframe,
  data,
  bars,
}: Options): Promise<{ readonly bars: Bars; readonly source: SeriesSource | null }> {
  if (bars !== undefined) {
    const { path, ...named } = parseBarsArgument(bars);
    const snapshot = await readBarsFile(path, { ...named, ...(symbol && { symbol }), ...(timeframe && { timeframe }) });
    return { bars: openSnapshot(snapshot), source: null };
  }
  if (symbol === undefined || timeframe === undefined) {
    throw new UsageError('Give --symbol and --timeframe of a series, or a file with --bars.');
  }
  const { catalog, describe } = await openMarketSource([symbol], data);
  const snapshots = await catalog.snapshots(symbol, timeframe);
  if (snapshots.length === 0) {
    const hint = await seriesHint(symbol, data);
    throw new CommandError(
      `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from. ${hint}`,
      'NO_DATA',
    );
  }
  const { base } = createMarket(snapshots, symbol, timeframe);
  const read = snapshots.find(({ meta }) => meta.sha256 === base.sha256);
  return { bars: base, source: read ? describe(symbol, timeframe, read.meta) : null };
}

/** An invalid line is answered with an error in its place; the lines after it are still answered. */
async function answerBatch(file: string, bars: Bars): Promise<void> {
  const lines = createInterface({ input: file === '-' ? process.stdin : createReadStream(file), crlfDelay: Infinity });
  for await (const line of lines) {
    if (line.trim() === '') continue;
    let request: unknown;
    try {
      request = JSON.parse(line);
    } catch {
      printJson({ error: { code: 'INVALID_JSON', message: 'The line is not valid JSON.' } });
      continue;
    }
    const answer = answerRequest(request as IndicatorRequest, bars);
    const outputs = 'error' in answer ? undefined : Object.fromEntries(answer.outputs);
    process.stdout.write(`${JSON.stringify(outputs === undefined ? answer : { ...answer, outputs }, asJson)}\n`);
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

/** Makes lists of columns, in which JSON.stringify writes NaN as null. */
const asJson = (_key: string, value: unknown): unknown => (value instanceof Float64Array ? Array.from(value) : value);

function print(
  answer: IndicatorAnswer,
  bars: Bars,
  source: SeriesSource | null,
  format: 'csv' | 'json' | 'arrow',
): void {
  if (format === 'arrow') {
    process.stdout.write(encodeColumns(bars.time, answer.outputs));
    return;
  }
  if (format === 'json') {
    const { lookback, outputs } = answer;
    process.stdout.write(
      `${JSON.stringify({ lookback, bars: source, time: bars.time, outputs: Object.fromEntries(outputs) }, asJson)}\n`,
    );
    return;
  }
  const names = [...answer.outputs.keys()];
  const columns = [...answer.outputs.values()];
  const lines = [`time,${names.join(',')}`];
  for (let row = 0; row < bars.length; row++) {
    const cells = columns.map((column) => (Number.isNaN(column[row]) ? '' : String(column[row])));
    lines.push(`${new Date(bars.time[row]).toISOString()},${cells.join(',')}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}
