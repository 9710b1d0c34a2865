// TA-Lib's answers on the project's own series (test/golden/talib_functions.py), and how far ours lie from them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { resolveTalibArgs } from '../../src/engine/indicators/arguments.ts';
import { findTalib } from '../../src/engine/indicators/registry.ts';
import { computeIndicator } from './indicators.ts';
import { largestDifference } from './tolerances.ts';

export interface GoldenCase {
  readonly fn: string;
  readonly params: Readonly<Record<string, number>>;
  readonly inputs: readonly string[];
  readonly lookback: number;
  readonly outputs: Readonly<Record<string, readonly (number | null)[]>>;
}
interface GoldenSeries {
  readonly name: string;
  readonly cases: readonly GoldenCase[];
}
interface Golden {
  readonly talib: string;
  readonly c: string;
  readonly rows: number;
  readonly step: number;
  readonly series: readonly GoldenSeries[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const unpack = (...path: string[]): string => gunzipSync(readFileSync(join(ROOT, ...path))).toString('utf8');

export const golden = JSON.parse(unpack('test', 'golden', 'talib-functions.json.gz')) as Golden;

/**
 * The columns the cases of a series read: the first rows of data/NAME.csv.gz, and the two that talib_functions.py
 * derives.
 */
export function goldenColumns(name: string): ReadonlyMap<string, Float64Array> {
  const [header, ...lines] = unpack('data', `${name}.csv.gz`).split('\n');
  const rows = lines.slice(0, golden.rows).map((line) => line.split(','));
  const columns = new Map(
    header
      .split(',')
      .slice(1)
      .map((column, at) => [column.trim(), Float64Array.from(rows, (cells) => Number(cells[at + 1]))]),
  );
  return withArtificialInputs(columns);
}

/**
 * Inputs that bars do not have: `scaled` (close over its highest, so that asin and the like are defined) and `periods`
 * (2 to 30, for MAVP).
 */
export function withArtificialInputs(columns: Map<string, Float64Array>): ReadonlyMap<string, Float64Array> {
  const close = columns.get('close')!;
  const top = close.reduce((best, value) => Math.max(best, value));
  columns.set(
    'scaled',
    close.map((value) => value / top),
  );
  columns.set(
    'periods',
    close.map((_, row) => 2 + (row % 29)),
  );
  return columns;
}

/**
 * The largest |a-b|/max(1, |a|, |b|) over the case's outputs; Infinity when only one has a value, or the lookback
 * differs.
 */
export function differenceOf(one: GoldenCase, columns: ReadonlyMap<string, Float64Array>): number {
  const indicator = findTalib(one.fn)!;
  const { args, issues } = resolveTalibArgs(indicator, one.params);
  if (issues.length > 0 || indicator.lookback(args) !== one.lookback) return Infinity;
  const outputs = computeIndicator(
    indicator,
    args,
    one.inputs.map((name) => columns.get(name)!),
  );
  const differences = indicator.talib!.outputs.map((name, at) => {
    const theirs = Float64Array.from(one.outputs[name], (value) => value ?? NaN);
    const ours = outputs[at].subarray(one.lookback).filter((_, row) => row % golden.step === 0);
    return largestDifference(ours, theirs).difference;
  });
  return Math.max(...differences);
}
