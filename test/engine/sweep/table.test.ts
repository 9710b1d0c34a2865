// Every row of a sweep as a file: written shard by shard, and the same rows in every format, read by Arrow's own
// reader.
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { symbolsOf } from '../../../src/engine/config.ts';
import { runShard } from '../../../src/engine/sweep/shard.ts';
import { paramsOf } from '../../../src/engine/sweep/space.ts';
import type { SweepRows } from '../../../src/engine/sweep/sweepRows.ts';
import { encodeSweepRows, type SweepFormat } from '../../../src/engine/sweep/sweepTable.ts';
import { compiled, CONFIG, CROSSING, finished, marketOf, rowsOf, sweepContextFor } from '../../support/sweeps.ts';

const { params } = CROSSING.strategy;
const context = sweepContextFor(
  compiled({
    ...CROSSING,
    strategy: { ...CROSSING.strategy, params: [...params, { name: 'isOn', type: 'bool', default: false }] },
  }),
  {
    space: {
      symbol: { values: symbolsOf(CONFIG) },
      fast: { min: 2, max: 9 },
      stop: { min: 1, max: 9 },
      isOn: {},
    },
    method: 'random',
    budget: 30,
  },
  marketOf(260, 2),
);
const whole = rowsOf(context);
/** Shards of unequal length, one of them without a row. */
const shards: SweepRows[] = [
  [0, 1],
  [1, 1],
  [1, 20],
  [20, 30],
].map(([first, last]) => runShard(context, { first, last }, null)!);

async function fileOf(format: SweepFormat): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeSweepRows(context.space, shards, format)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const paramsAt = (row: number) =>
  paramsOf(
    context.space,
    whole.coordinates.map((column) => column[row]),
  );

describe('the rows as a file', () => {
  it('are an Arrow table, a batch per shard, of counts, times, flags and numbers, null where missing', async () => {
    const table = tableFromIPC(await fileOf('arrow'));
    expect(table.numRows).toBe(30);
    expect(table.batches.map(({ numRows }) => numRows).filter((rows) => rows > 0)).toEqual([1, 19, 10]);
    expect([...table.getChild('variant')!]).toEqual([...whole.indexes]);
    expect(new Set(table.getChild('symbol'))).toEqual(new Set(symbolsOf(CONFIG)));
    const typeOf = (column: string) => table.schema.fields.find(({ name }) => name === column)!.type.toString();
    expect(['variant', 'fast', 'stop', 'isOn'].map(typeOf)).toEqual(['Int32', 'Int32', 'Float64', 'Bool']);
    expect([...table.getChild('isOn')!]).toEqual([...whole.indexes].map((_, at) => paramsAt(at).isOn));
    expect(new Set(table.getChild('isOn'))).toEqual(new Set([false, true]));
    const counts = [
      'maxDrawdownDurationBars',
      'totalPositions',
      'longPositions',
      'shortPositions',
      'maxConsecutiveWins',
      'maxConsecutiveLosses',
    ];
    expect([...new Set(counts.map(typeOf))]).toEqual(['Int32']);
    const times = ['maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt'];
    expect([...new Set(times.map(typeOf))]).toEqual(['Timestamp<MILLISECOND, UTC>']);
    expect(['returnPct', 'avgBarsHeld'].map(typeOf)).toEqual(['Float64', 'Float64']);
    expect([...table.getChild('fast')!]).toEqual([...whole.indexes].map((_, at) => paramsAt(at).fast));
    for (const { key, values } of whole.metrics)
      expect([...table.getChild(key)!], key).toEqual([...values].map((value) => (Number.isNaN(value) ? null : value)));
    expect(whole.metrics.some(({ values }) => values.some(Number.isNaN))).toBe(true);
  });

  it('are the same in CSV and in JSON', async () => {
    const json = JSON.parse((await fileOf('json')).toString()) as Record<string, number | string | null>[];
    expect(json).toHaveLength(30);
    json.forEach((row, at) => {
      expect(row).toMatchObject({ variant: whole.indexes[at], ...paramsAt(at) });
    });
    for (const time of ['maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt'] as const) {
      const { values } = whole.metrics.find(({ key }) => key === time)!;
      expect(
        json.map((row) => row[time]),
        time,
      ).toEqual([...values].map((value) => (Number.isNaN(value) ? null : value)));
      expect(values.some((value) => !Number.isNaN(value))).toBe(true);
    }
    const [head, ...lines] = (await fileOf('csv')).toString().trimEnd().split('\n');
    const names = head.split(',');
    expect(names).toEqual(Object.keys(json[0]));
    expect(lines).toEqual(json.map((row) => names.map((name) => String(row[name] ?? '')).join(',')));
  });
});

describe('the result', () => {
  it('is the same of shards as of all rows', () => {
    expect(finished(context, ...shards)).toEqual(finished(context, whole));
    expect(finished(context, ...shards.toReversed())).toEqual(finished(context, whole));
  });
});
