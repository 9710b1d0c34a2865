// The hash of a result, against one of bytes that are put together plainly from its summary and its trade rows.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FLAT_KEYS } from '../../../src/engine/definitions/statistics/statistics.ts';
import { resultHash, type HashedSummary } from '../../../src/engine/report/resultHash.ts';
import { ROW_NUMBERS, tradeRows, type TradeTable, type TradeWords } from '../../../src/engine/report/tradeTable.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { simulateTask } from '../../../src/engine/backtest.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../support/builders.ts';
import { seededRandom } from '../../support/scale.ts';

const WORDS = ['side', 'exitReason', 'exitMethod', 'exitResolution', 'exitPolicy', 'entryRule', 'exitRule'] as const;

/** With an id of the greatest length, and letters of three bytes. */
const wordsOf = (kind: number): TradeWords => ({
  side: kind % 2 === 0 ? 'long' : 'short',
  exitReason: 'signal',
  exitMethod: 'direct',
  exitResolution: `${kind}h`,
  exitPolicy: kind % 3 === 0 ? null : 'pessimistic',
  entryRule: '金'.repeat(200),
  exitRule: kind % 2 === 0 ? null : `exit ${kind}`,
});

function tableOf(length: number, kinds: number, timeShare: number): TradeTable {
  const random = seededRandom(length + kinds);
  return {
    length,
    numbers: Float64Array.from({ length: length * ROW_NUMBERS }, random),
    fineTimes: Float64Array.from({ length }, () => (random() < timeShare ? Math.floor(random() * 1e12) : NaN)),
    // By first appearance, as tradeTable counts them.
    kinds: Uint32Array.from({ length }, (_, row) => (row < kinds ? row : Math.floor(random() * kinds))),
    words: Array.from({ length: Math.min(length, kinds) }, (_, kind) => wordsOf(kind)),
  };
}

/** What the hash covers of a summary, as objects. */
interface PlainSummary {
  readonly flat: readonly (number | null)[];
  readonly points: readonly (readonly [number, number | null])[];
  readonly months: readonly (readonly [number, number | null])[];
  readonly blocks: object;
}

const doubles = (values: readonly (number | null)[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, at) => bytes.writeDoubleLE(value === null ? NaN : value, 8 * at));
  return bytes;
};

const words = (values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32LE(value, 4 * at));
  return bytes;
};

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

function plainHash({ flat, points, months, blocks }: PlainSummary, table: TradeTable): string {
  const rows = tradeRows(table);
  const times = rows.map(({ exitFineTime }) => exitFineTime);
  const hasTimes = times.some((time) => time !== null);
  const lines: string[] = [];
  const kinds = rows.map((row) => {
    const line = `${JSON.stringify(WORDS.map((name) => row[name]))}\n`;
    if (!lines.includes(line)) lines.push(line);
    return lines.indexOf(line);
  });
  const numbers = rows.flatMap((row) =>
    Object.values({ ...row, exitFineTime: '' }).filter((value) => typeof value === 'number'),
  );
  const parts = [
    doubles([rows.length, hasTimes ? rows.length : 0, points.length, months.length]),
    doubles(numbers),
    doubles(hasTimes ? times : []),
    doubles(flat),
    doubles(points.map(([, mark]) => mark)),
    doubles(months.map(([, equity]) => equity)),
    words(kinds),
    sha256(doubles(points.map(([time]) => time))),
    sha256(doubles(months.map(([month]) => month))),
    Buffer.from(lines.join('')),
    Buffer.from(JSON.stringify(blocks)),
  ];
  return sha256(Buffer.concat(parts)).toString('hex');
}

const FLAT = [1.5, null, 0, -3e300];

/** The first summary as it is hashed: 0 as -0, and null as what JSON has no number for. */
function summaryOf({ flat, points, months, blocks }: PlainSummary): HashedSummary {
  const missing = [NaN, Infinity, -Infinity];
  const unshown = (values: readonly (number | null)[]): Float64Array =>
    Float64Array.from(values, (value, at) => (value === null ? missing[at % 3] : value === 0 ? -0 : value));
  const json = JSON.stringify(blocks);
  return {
    flatNumbers: unshown(flat),
    series: {
      times: Float64Array.from(points, ([time]) => time),
      marks: unshown(points.map(([, mark]) => mark)),
      months: Float64Array.from(months, ([month]) => month),
      monthEquity: unshown(months.map(([, equity]) => equity)),
    },
    thinBlocksJson: [json.slice(0, 3), Buffer.from(json.slice(3))],
  };
}

const SMALL: PlainSummary = { flat: FLAT, points: [], months: [], blocks: { a: 1 } };

it.each([
  [0, 1, 0],
  [1, 1, 0],
  [3, 2, 0],
  [200, 5, 0.5],
  [255, 4, 0],
  [503, 5, 0],
  [1000, 3, 0.5],
  [1000, 1, 0],
  [1000, 1, 1],
  [3000, 2, 0.001],
])('covers the numbers and words of %i trades of %i kinds, %d of them with a time', (length, kinds, timeShare) => {
  const table = tableOf(length, kinds, timeShare);
  expect(resultHash(summaryOf(SMALL), table)).toBe(plainHash(SMALL, table));
});

it.each([1, 43_690, 43_691, 131_072, 200_000])('covers a summary of %i letters of three bytes', (letters) => {
  const table = tableOf(3, 1, 0);
  const blocks = { text: '金'.repeat(letters), lone: '\ud800' };
  const { thinBlocksJson: _, ...others } = summaryOf(SMALL);
  const json = JSON.stringify(blocks);
  expect(resultHash({ ...others, thinBlocksJson: [json] }, table)).toBe(plainHash({ ...SMALL, blocks }, table));
});

it.each([1, 499, 512, 513, 40_000])('covers %i marks and as many months, with zeros and missing ones', (count) => {
  const random = seededRandom(count);
  const value = (at: number): number | null => (at % 7 === 3 ? null : at % 5 === 2 ? 0 : random() * 1e5);
  const points = Array.from({ length: count }, (_, at) => [at * 3_600_000, value(at)] as const);
  const months = Array.from({ length: count }, (_, at) => [24_000 + at, value(at + 1)] as const);
  const summary = { ...SMALL, points, months };
  const table = tableOf(5, 2, 0);
  expect(resultHash(summaryOf(summary), table)).toBe(plainHash(summary, table));
});

describe('the hash of a run', () => {
  const bars = createMarket([randomSnapshot({ count: 600 })], 'TEST', '1h');
  const strategyAst = astOf({
    entry: entry(compare(market(), 'gt', sma(10))),
    exits: [exit(compare(market(), 'lt', sma(20)))],
    risk: { stopLoss: { mode: 'percent', value: 1 } },
  });
  const config = { timeframe: '1h', signalInstrument: { symbol: 'TEST' }, initialBalance: 10_000 } as const;

  it('is that of the summary and the trades that it shows', () => {
    const run = simulateTask({ id: 'run', strategyAst, settings: {}, config, strategyHash: '' }, bars, null, false);
    if (!run.ok) throw new Error(JSON.stringify(run));
    const shown = JSON.parse(JSON.stringify(run.summary)) as Record<string, never>;
    const isBlock = ([name]: [string, unknown]): boolean => !(FLAT_KEYS as readonly string[]).includes(name);
    const blocks = Object.fromEntries(Object.entries(shown).filter(isBlock));
    const byMonth = blocks.byMonth as { month: string; equity: number }[];
    const plain: PlainSummary = {
      flat: FLAT_KEYS.map((key) => shown[key]),
      points: shown.equityPreview,
      months: byMonth.map(({ month, equity }) => {
        const [year, number] = month.split('-').map(Number);
        return [12 * year + number - 1, equity];
      }),
      blocks: { ...blocks, byMonth: [], equityPreview: [] },
    };
    expect(run.trades.length).toBeGreaterThan(10);
    expect(plain.points).toHaveLength(500);
    expect(run.resultHash).toBe(plainHash(plain, run.tradeTable));
  });

  it.each(['equityPreview', 'byMonth'] as const)('depends on every member of %s', (name) => {
    const [points, months] = [
      [[1, 2] as const, [3, 4] as const],
      [[5, 6] as const, [7, 8] as const],
    ];
    const summary = { ...SMALL, points, months };
    const list = name === 'byMonth' ? 'months' : 'points';
    const table = tableOf(0, 0, 0);
    const changed = [0, 1].flatMap((row) =>
      [0, 1].map((member) => {
        const rows = summary[list].map((values) => [...values] as [number, number]);
        rows[row][member] += 0.5;
        return resultHash(summaryOf({ ...summary, [list]: rows }), table);
      }),
    );
    expect(new Set([resultHash(summaryOf(summary), table), ...changed]).size).toBe(5);
  });
});
