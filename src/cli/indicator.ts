// candlepool indicator: one indicator, or a file of requests, on bars, in this process and without a database.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { createMarket, encodeColumns, openSnapshot, STORED_TIMEFRAMES } from '../engine/index.ts';
import type { Bars } from '../engine/index.ts';
import { parseBarsArgument, readBarsFile } from '../market/barsFile.ts';
import { openShippedData } from '../market/shipped.ts';
import { oneOf, shortText } from './arguments.ts';
import { answerRequest, type IndicatorAnswer, type IndicatorRequest } from './indicatorRequest.ts';
import { CommandError, printJson, UsageError, withJson } from './output.ts';

interface Options {
  readonly symbol?: string;
  readonly timeframe?: (typeof STORED_TIMEFRAMES)[number];
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
      .option('--symbol <symbol>', 'a series of the shipped data, or of --data', shortText(100))
      .option('--timeframe <timeframe>', `one of ${STORED_TIMEFRAMES.join(', ')}`, oneOf(STORED_TIMEFRAMES))
      .option(
        '--data <folder>',
        'files named SYMBOL-timeframe.csv.gz (.csv, .parquet, .arrow) in place of the shipped data',
      )
      .option('--bars <file>', 'a bars file in place of a series: CSV, CSV.gz, JSON, Parquet or Arrow')
      .option('--name <id>', 'an indicator or pattern by its id, such as rsi or engulfing')
      .option('--talib <NAME>', 'by TA-Lib’s name, with TA-Lib’s argument names and defaults, such as RSI or CDLDOJI')
      .option('--args <json>', 'arguments, such as {"length":14}')
      .option('--inputs <columns>', 'the input columns in call order, such as high,low')
      .option('--batch <file>', 'requests, one JSON a line, - for stdin; the answers come out a line each')
      .option('--format <format>', 'csv, json or arrow; default: csv', oneOf(['csv', 'json', 'arrow'])),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  const asked = [options.name, options.talib, options.batch].filter((value) => value !== undefined);
  if (asked.length !== 1) throw new UsageError('Give one of --name, --talib and --batch.');
  const request = options.batch === undefined ? requestOf(options) : undefined;
  const bars = await openBars(options);
  if (request === undefined) return answerBatch(options.batch!, bars);
  const answer = answerRequest(request, bars);
  if ('error' in answer) throw new CommandError(answer.error.message, answer.error.code);
  print(answer, bars, options.json ? 'json' : (options.format ?? 'csv'));
}

function requestOf(options: Options): IndicatorRequest {
  let args: unknown;
  try {
    args = JSON.parse(options.args ?? '{}');
  } catch {
    throw new UsageError(`--args is no JSON: ${options.args}. Write it as '{"length":14}'.`);
  }
  const inputs = options.inputs?.split(',');
  return { ...(options.name === undefined ? { talib: options.talib } : { name: options.name }), args, inputs };
}

async function openBars({ symbol, timeframe, data, bars }: Options): Promise<Bars> {
  if (bars !== undefined) {
    const { path, ...named } = parseBarsArgument(bars);
    const snapshot = await readBarsFile(path, { ...named, ...(symbol && { symbol }), ...(timeframe && { timeframe }) });
    return openSnapshot(snapshot.buffer, snapshot.meta);
  }
  if (symbol === undefined || timeframe === undefined) {
    throw new UsageError('Give --symbol and --timeframe of a series, or --bars and a file.');
  }
  const catalogue = await openShippedData(data);
  const snapshots = await catalogue.snapshots(symbol, timeframe);
  if (snapshots.length === 0) {
    throw new CommandError(
      `No series of ${symbol} can be read at ${timeframe}; candlepool data list shows those there are.`,
      'NO_DATA',
    );
  }
  return createMarket(snapshots, symbol, timeframe).base;
}

/** A bad line is answered in its place; the lines after it are answered too. */
async function answerBatch(file: string, bars: Bars): Promise<void> {
  const lines = createInterface({ input: file === '-' ? process.stdin : createReadStream(file), crlfDelay: Infinity });
  for await (const line of lines) {
    if (line.trim() === '') continue;
    let request: unknown;
    try {
      request = JSON.parse(line);
    } catch {
      printJson({ error: { code: 'INVALID_JSON', message: 'The line is no JSON.' } });
      continue;
    }
    const answer = answerRequest(request as IndicatorRequest, bars);
    const outputs = 'error' in answer ? undefined : Object.fromEntries(answer.outputs);
    process.stdout.write(`${JSON.stringify(outputs === undefined ? answer : { ...answer, outputs }, asJson)}\n`);
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

/** Columns as lists; JSON.stringify writes NaN as null of itself. */
const asJson = (_key: string, value: unknown): unknown => (value instanceof Float64Array ? Array.from(value) : value);

function print(answer: IndicatorAnswer, bars: Bars, format: 'csv' | 'json' | 'arrow'): void {
  if (format === 'arrow') {
    process.stdout.write(encodeColumns(bars.time, answer.outputs));
    return;
  }
  if (format === 'json') {
    const { lookback, outputs } = answer;
    process.stdout.write(
      `${JSON.stringify({ lookback, time: bars.time, outputs: Object.fromEntries(outputs) }, asJson)}\n`,
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
