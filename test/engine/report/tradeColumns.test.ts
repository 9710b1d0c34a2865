// Trade columns: one table behind the rows, the files and the hash.
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { TRADE_COLUMNS, type TradeRow } from '../../../src/engine/index.ts';
import { resultHash } from '../../../src/engine/report/resultHash.ts';
import { tradeRows, type TradeTable } from '../../../src/engine/report/tradeTable.ts';
import { runCross, type CrossRun } from '../../support/crossRun.ts';

let run: CrossRun;
let trades: readonly TradeRow[];
beforeAll(async () => {
  run = await runCross();
  trades = run.outcome.trades as readonly TradeRow[];
});
const names = Object.keys(TRADE_COLUMNS) as (keyof TradeRow)[];

/** The table whose rows are these, written from the declared columns. */
function tableOf(rows: readonly TradeRow[]): TradeTable {
  const numbers = names.filter((name) => TRADE_COLUMNS[name].type !== 'text' && name !== 'exitFineTime');
  return {
    length: rows.length,
    numbers: Float64Array.from(rows.flatMap((row) => numbers.map((name) => Number(row[name])))),
    fineTimes: Float64Array.from(rows, ({ exitFineTime }) => exitFineTime ?? NaN),
    kinds: Uint32Array.from(rows.keys()),
    words: rows,
  };
}

describe('the table of trade columns', () => {
  it('lists the members of a row, in the same order and with the declared types', () => {
    for (const trade of trades) {
      expect(Object.keys(trade)).toEqual(names);
      for (const name of names) {
        const value = trade[name];
        const type = TRADE_COLUMNS[name].type === 'text' ? 'string' : 'number';
        if (value !== null) expect(typeof value, name).toBe(type);
      }
    }
  });

  it('reads the rows back that it was written from', () => {
    expect(tradeRows(tableOf(trades))).toEqual(trades);
  });

  it('supplies the first columns of the trades file', () => {
    const header = new TextDecoder().decode(run.artifact({ name: 'trades', format: 'csv' })).split('\r\n')[0];
    expect(header.split(',').slice(0, names.length)).toEqual(names);
  });

  it.each(names)('makes the result hash depend on %s', (name) => {
    const [first, ...rest] = trades;
    const value = first[name];
    const other = typeof value === 'number' ? value + 1 : `${value}, changed`;
    const changed = { ...first, [name]: TRADE_COLUMNS[name].type === 'text' ? other : Number(value) + 1 } as TradeRow;
    expect(resultHash(['{}'], tableOf([changed, ...rest]))).not.toBe(resultHash(['{}'], tableOf(trades)));
  });
});

describe('resultHash', () => {
  const row: TradeRow = {
    positionId: 1,
    side: 'long',
    entryTime: 2,
    entryBar: 3,
    entryPrice: 4.5,
    quantity: 5,
    exitTime: 6,
    exitBar: 7,
    exitPrice: 8,
    entryFee: 9,
    exitFee: 10,
    slippage: 11,
    pnl: 12,
    returnPct: 13,
    maePct: -14,
    mfePct: 15,
    barsHeld: 16,
    exitReason: 'stop_loss',
    exitMethod: 'drill',
    exitResolution: '1h',
    exitPolicy: null,
    exitFineTime: 17,
    entryRule: '/strategy/entry',
    exitRule: null,
  };

  // Written down byte by byte: hashes that are stored must stay comparable.
  it('covers doubles, then lines of words, then the summary', () => {
    const doubles = Float64Array.of(1, 2, 3, 4.5, 5, 6, 7, 8, 9, 10, 11, 12, 13, -14, 15, 16, 17);
    const words = ['long', 'stop_loss', 'drill', '1h', '', '/strategy/entry', ''].join('\n');
    const expected = createHash('sha256').update(doubles).update(words).update('{"a":1}').digest('hex');
    expect(resultHash(['{"a"', ':1}'], tableOf([row]))).toBe(expected);
  });

  it('uses an empty line for a missing child time', () => {
    const doubles = Float64Array.of(1, 2, 3, 4.5, 5, 6, 7, 8, 9, 10, 11, 12, 13, -14, 15, 16);
    const words = ['long', 'stop_loss', 'drill', '1h', 'pessimistic', '', '/strategy/entry', 'out'].join('\n');
    const expected = createHash('sha256').update(doubles).update(words).update('{}').digest('hex');
    const other: TradeRow = { ...row, exitPolicy: 'pessimistic', exitFineTime: null, exitRule: 'out' };
    expect(resultHash(['{}'], tableOf([other]))).toBe(expected);
  });
});
