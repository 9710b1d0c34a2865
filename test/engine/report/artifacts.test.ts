// Artifacts: what the files say is what the result said, in every format.
import { tableFromIPC } from 'apache-arrow';
import papaparse from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Summary, TradeRow } from '../../../src/engine/index.ts';
import { HOSTILE_ID, runCross, type CrossRun } from '../../support/crossRun.ts';

type Row = Record<string, string | number | boolean | null>;
let run: CrossRun;
let trades: readonly TradeRow[];
let summary: Summary;
beforeAll(async () => {
  run = await runCross();
  trades = run.outcome.trades as readonly TradeRow[];
  summary = run.outcome.summaryJson as Summary;
});
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const json = (name: 'trades' | 'equity' | 'orders' | 'signals'): Row[] =>
  JSON.parse(text(run.artifact({ name, format: 'json' }))) as Row[];

describe('artifacts', () => {
  it('trades are the rows of the result, and what every named node was when they were decided', () => {
    const rows = json('trades');
    expect(rows.length).toBe(trades.length);
    for (const [index, trade] of trades.entries()) expect(rows[index]).toMatchObject({ ...trade });
    expect(rows.every((row) => row[`entry.${HOSTILE_ID}`] === true)).toBe(true);
    expect(rows.filter((row) => row.exitReason === 'signal').every((row) => row['exit.death'] === true)).toBe(true);
    for (const row of rows) expect(row['entry.fast']).toBeGreaterThan(row['entry.slow'] as number);
  });

  it('equity begins at the first evaluated bar, ends at the final equity, and holds the largest drawdown', () => {
    const rows = json('equity');
    expect(rows.length).toBe((summary.evaluationWindow as { bars: number }).bars);
    expect(rows.at(-1)!.equity).toBe(summary.finalEquity);
    expect(Math.max(...rows.map((row) => row.drawdown as number))).toBeCloseTo(summary.maxDrawdown, 12);
    expect(rows.filter((row) => row.inPosition).length / rows.length).toBeCloseTo(summary.exposurePct!, 12);
  });

  it('orders tell every fill and its fee', () => {
    const filled = json('orders').filter((row) => row.status === 'filled');
    const fees = filled.reduce((sum, row) => sum + (row.fee as number), 0);
    expect(fees).toBeCloseTo(summary.totalFees, 6);
    expect(filled.filter((row) => row.purpose === 'entry').length).toBe(summary.totalPositions);
  });

  it('signals have a column a named node, and a signal where the fast mean has just crossed the slow one', () => {
    const rows = json('signals');
    for (const [index, row] of rows.entries()) {
      if (index === 0) continue;
      const before = rows[index - 1];
      const crossed = (before.fast as number) <= (before.slow as number) && (row.fast as number) > (row.slow as number);
      expect(row['entry /strategy/entry/0']).toBe(crossed);
    }
  });

  it.each(['trades', 'equity', 'orders', 'signals'] as const)('%s say the same as Arrow and as CSV', (name) => {
    const rows = json(name);
    const table = tableFromIPC(run.artifact({ name, format: 'arrow' }));
    const names = table.schema.fields.map((field) => field.name);
    expect(table.numRows).toBe(rows.length);
    expect(names).toEqual(Object.keys(rows[0]));
    const csv = papaparse.parse<Record<string, string>>(text(run.artifact({ name, format: 'csv' })), {
      header: true,
      skipEmptyLines: true,
    });
    expect(csv.errors).toEqual([]);
    for (const column of names) {
      const vector = table.getChild(column)!;
      for (const [index, row] of rows.entries()) {
        expect(vector.get(index)).toEqual(row[column]);
        expect(csv.data[index][column]).toBe(row[column] === null ? '' : String(row[column]));
      }
    }
  });

  it('the report is one file in which no name can end a script', () => {
    const page = text(run.artifact({ name: 'report', format: 'html' }));
    const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)![1];
    expect(JSON.parse(data)).toMatchObject({ tradeCount: trades.length, initialBalance: 10_000 });
    expect(page).not.toContain(HOSTILE_ID);
    expect(page.match(/<script/g)!.length).toBe(3);
    expect(page).not.toMatch(/(src|href)="(?!https:\/\/www\.tradingview\.com\/")/);
  });
});
