// Trade columns: one table behind the rows, the files and the hash.
import { beforeAll, describe, expect, it } from 'vitest';
import { TRADE_COLUMNS, type TradeRow } from '../../../src/engine/index.ts';
import { resultHash } from '../../../src/engine/report/resultHash.ts';
import { tradeRows, type TradeTable } from '../../../src/engine/report/tradeTable.ts';
import { runCross, type CrossRun } from '../../support/crossRun.ts';

let run: CrossRun;
let trades: readonly TradeRow[];
beforeAll(async () => {
  run = await runCross();
  trades = run.outcome.trades;
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

const NONE = new Float64Array();
const NO_SUMMARY = {
  flatNumbers: NONE,
  series: { times: NONE, marks: NONE, months: NONE, monthEquity: NONE },
  thinBlocksJson: ['{}'],
};

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
    expect(resultHash(NO_SUMMARY, tableOf([changed, ...rest]))).not.toBe(resultHash(NO_SUMMARY, tableOf(trades)));
  });
});
