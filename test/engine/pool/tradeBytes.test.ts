// Trades as they are stored: the bytes of a table give its rows back.
import { describe, expect, it } from 'vitest';
import { decodeTrades, tradeTableParts } from '../../../src/engine/pool/result.ts';
import { ROW_NUMBERS, tradeRows, type TradeTable, type TradeWords } from '../../../src/engine/report/tradeTable.ts';
import { jsonTrades } from '../../support/jsonResults.ts';
import { seededRandom } from '../../support/scale.ts';

const WORDS: readonly TradeWords[] = [
  {
    side: 'long',
    exitReason: 'signal',
    exitMethod: 'direct',
    exitResolution: '1h',
    exitPolicy: null,
    entryRule: 'é "quoted"',
    exitRule: 'out',
  },
  {
    side: 'short',
    exitReason: 'stop_loss',
    exitMethod: 'drill',
    exitResolution: '1m',
    exitPolicy: 'pessimistic',
    entryRule: '',
    exitRule: null,
  },
];

function tableOf(length: number): TradeTable {
  const random = seededRandom(length);
  return {
    length,
    numbers: Float64Array.from({ length: length * ROW_NUMBERS }, () => (random() - 0.5) * 10 ** (20 * random() - 10)),
    fineTimes: Float64Array.from({ length }, (_, row) => (row % 3 === 0 ? Date.UTC(2024, 0, 1) + row : NaN)),
    kinds: Uint32Array.from({ length }, () => (random() < 0.5 ? 0 : 1)),
    words: WORDS,
  };
}

const encoded = (table: TradeTable): Uint8Array => Buffer.concat(tradeTableParts(table));
const read = (bytes: Uint8Array) => [...decodeTrades(bytes)].flat();

describe('encoded trades', () => {
  // 91 is the code of the bracket with which JSON begins; 12,001 rows are three parts.
  it.each([0, 1, 91, 12_001])('of %i rows are read back as they were, in parts of at most 5,000', (length) => {
    const table = tableOf(length);
    const bytes = encoded(table);
    expect(read(bytes)).toEqual(tradeRows(table));
    expect([...decodeTrades(bytes)].every((part) => part.length <= 5_000)).toBe(true);
  });

  it('are the same whatever was encoded before', () => {
    const table = tableOf(3);
    const bytes = encoded(table);
    encoded({ ...tableOf(40), words: [{ ...WORDS[0], entryRule: 'x'.repeat(300) }, WORDS[1]] });
    expect(encoded({ ...table, words: WORDS.slice() })).toEqual(bytes);
  });

  it('that were stored as JSON are still read', () => {
    const rows = tradeRows(tableOf(7));
    expect(read(jsonTrades(rows))).toEqual(rows);
  });
});
