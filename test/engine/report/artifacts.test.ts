// Artifacts: what the files say is what the result said, in every format.
import { tableFromIPC } from 'apache-arrow';
import papaparse from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_VERSION, encodeStoredTrades } from '../../../src/engine/index.ts';
import type { ArtifactRequest, StoredResult, Summary, TradeRow } from '../../../src/engine/index.ts';
import { buildArtifact } from '../../../src/engine/pool/engineRunner.ts';
import { HOSTILE_ID, runCross, type CrossRun } from '../../support/crossRun.ts';
import { jsonDetail, jsonTrades } from '../../support/jsonResults.ts';

type Row = Record<string, string | number | boolean | null>;
const CONTROL = { isCancelled: () => false, report: () => {} };
const nowhere = (): void => {};
let run: CrossRun;
let trades: readonly TradeRow[];
let summary: Summary;
beforeAll(async () => {
  run = await runCross();
  trades = run.outcome.trades;
  summary = run.outcome.summary;
});
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const json = (name: 'trades' | 'equity' | 'orders' | 'signals'): Row[] =>
  JSON.parse(text(run.artifact({ name, format: 'json' }))) as Row[];

describe('an artifact', () => {
  it('lists as trades the rows of the result, with the values of named nodes at their decisions', () => {
    const rows = json('trades');
    expect(rows.length).toBe(trades.length);
    for (const [index, trade] of trades.entries()) expect(rows[index]).toMatchObject({ ...trade });
    expect(rows.every((row) => row[`entry.${HOSTILE_ID}`] === true)).toBe(true);
    expect(rows.filter((row) => row.exitReason === 'signal').every((row) => row['exit.death'] === true)).toBe(true);
    for (const row of rows) expect(row['entry.fast']).toBeGreaterThan(row['entry.slow'] as number);
  });

  it('lists equity from the first evaluated bar to the final equity, including the largest drawdown', () => {
    const rows = json('equity');
    expect(rows.length).toBe((summary.evaluationWindow as { bars: number }).bars);
    expect(rows.at(-1)!.equity).toBe(summary.finalEquity);
    expect(Math.max(...rows.map((row) => row.drawdown as number))).toBeCloseTo(summary.maxDrawdown, 12);
    expect(rows.filter((row) => row.inPosition).length / rows.length).toBeCloseTo(summary.exposurePct!, 12);
  });

  it('lists as orders every fill and its fee', () => {
    const filled = json('orders').filter((row) => row.status === 'filled');
    const fees = filled.reduce((sum, row) => sum + (row.fee as number), 0);
    expect(fees).toBeCloseTo(summary.totalFees, 6);
    expect(filled.filter((row) => row.purpose === 'entry').length).toBe(summary.totalPositions);
  });

  it('lists signals with one column per named node, and a signal where the fast mean crosses the slow one', () => {
    const rows = json('signals');
    for (const [index, row] of rows.entries()) {
      if (index === 0) continue;
      const before = rows[index - 1];
      const crossed = (before.fast as number) <= (before.slow as number) && (row.fast as number) > (row.slow as number);
      expect(row['entry /strategyAst/strategy/entry']).toBe(crossed);
    }
  });

  it.each(['trades', 'equity', 'orders', 'signals'] as const)('holds the same %s as Arrow and as CSV', (name) => {
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

  it.each([
    ['trades', ['positionId', 'entryBar', 'exitBar', 'barsHeld']],
    ['orders', ['orderId', 'bar', 'filledBar', 'positionId']],
  ] as const)('holds the counts of %s as integers in Arrow, so that they can be used as indexes', (name, counts) => {
    const { fields } = tableFromIPC(run.artifact({ name, format: 'arrow' })).schema;
    const integers = fields.filter(({ type }) => type.toString() === 'Int32').map((field) => field.name);
    expect(integers).toEqual(counts);
  });

  it('writes the report as one file in which no name can end a script', () => {
    const page = text(run.artifact({ name: 'report', format: 'html' }));
    const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)![1];
    expect(JSON.parse(data)).toMatchObject({ tradeCount: trades.length, initialBalance: 10_000 });
    expect(page).not.toContain(HOSTILE_ID);
    // The data, the chart library, the kit, the four parts of the page, and that it is ready.
    expect(page.match(/<script/g)!.length).toBe(8);
    expect(page).not.toMatch(/(src|href)="(?!https:\/\/www\.tradingview\.com\/")/);
  });

  it.each([
    ['trades', 'html'],
    ['equity', 'xml'],
    ['report', 'csv'],
  ])('rejects for %s the format %s instead of writing JSON', (name, format) => {
    const request = { name, format } as unknown as ArtifactRequest;
    const made = buildArtifact(run.task, run.market, CONTROL, request, nowhere);
    expect(made).toMatchObject({ ok: false, error: { code: 'ARTIFACT_FORMAT_UNKNOWN', path: '/format' } });
    expect(made).toHaveProperty('error.message', expect.stringMatching(`"${name}" has no format "${format}".*Ask for`));
  });

  it('rejects an artifact that does not exist, and names those that do', () => {
    const request = { name: 'positions', format: 'json' } as unknown as ArtifactRequest;
    const made = buildArtifact(run.task, run.market, CONTROL, request, nowhere);
    expect(made).toMatchObject({ ok: false, error: { code: 'ARTIFACT_UNKNOWN' } });
  });
});

describe('a trades file from stored trades', () => {
  it('equals the file of a run, except for the values of the nodes', () => {
    const stored = JSON.parse(JSON.stringify(trades)) as object[];
    const fileOf = (parts: object[][], format: 'json' | 'csv' | 'arrow') =>
      Buffer.concat([...encodeStoredTrades(parts, format)]);
    const rows = JSON.parse(text(fileOf([stored], 'json'))) as Row[];
    expect(rows).toEqual(JSON.parse(JSON.stringify(trades)));
    const table = tableFromIPC(fileOf([stored], 'arrow'));
    expect(table.getChild('pnl')!.toArray()).toEqual(Float64Array.from(trades, ({ pnl }) => pnl));
    for (const format of ['json', 'csv', 'arrow'] as const) {
      expect(fileOf([stored.slice(0, 2), stored.slice(2)], format)).toEqual(fileOf([stored], format));
    }
    expect(text(fileOf([], 'json'))).toBe('[]\n');
  });
});

describe('an artifact whose stored result differs', () => {
  /** The result of the run as an older engine would have stored it. */
  function storedResult(change: (summary: Record<string, unknown>, trades: Row[]) => void): StoredResult {
    const summary = JSON.parse(JSON.stringify(run.outcome.summary)) as Record<string, unknown>;
    const rows = JSON.parse(JSON.stringify(trades)) as Row[];
    change(summary, rows);
    const isFlat = (value: unknown): boolean => typeof value !== 'object' || value === null;
    const part = (flat: boolean) =>
      Object.fromEntries(Object.entries(summary).filter(([, value]) => isFlat(value) === flat));
    const { warnings, resolvedConfig, reproducibility } = run.outcome;
    const detail = jsonDetail({ summary: part(false), warnings, resolvedConfig, reproducibility });
    const older = { engineVersion: '0.9.0', resultHash: 'older' };
    return { ...older, summary: part(true), detail, trades: jsonTrades(rows) };
  }
  const build = (name: ArtifactRequest['name'], format: ArtifactRequest['format'], stored: StoredResult) => {
    const pieces: Uint8Array[] = [];
    const write = (piece: Uint8Array) => pieces.push(piece.slice());
    const made = buildArtifact(run.task, run.market, CONTROL, { name, format, stored }, write);
    if (!made.ok) throw new Error(made.error.message);
    return { ...made, bytes: Buffer.concat(pieces) };
  };

  it('says that all trades are equal, and which members of the summary are not', () => {
    const stored = storedResult((summary) => {
      summary.sharpeRatio = 99;
      (summary.strategyTrace as Record<string, unknown>).samples = [];
      delete summary.kurtosis;
    });
    const { notice } = build('equity', 'json', stored);
    expect(notice).toMatchObject({
      code: 'RESULT_DIFFERS',
      stored: { engineVersion: '0.9.0', resultHash: 'older' },
      recomputed: { engineVersion: ENGINE_VERSION, resultHash: run.outcome.reproducibility.resultHash },
      tradesDiffering: 0,
      summaryDiffering: ['sharpeRatio', 'strategyTrace.samples'],
      added: ['kurtosis'],
    });
    expect(notice!.message).toBe(
      `This file was recomputed with engine ${ENGINE_VERSION}; the backtest ran with engine 0.9.0. ` +
        `All ${trades.length} trades are the same. ` +
        'Different in the summary: sharpeRatio, strategyTrace.samples. Added since: kurtosis.',
    );
  });

  it('counts the trades that differ, ignoring a column that was added later', () => {
    const stored = storedResult((_, rows) => {
      rows[0].exitPrice = 1;
      rows.pop();
      for (const row of rows) delete row.exitPolicy;
    });
    const { notice } = build('orders', 'csv', stored);
    expect(notice).toMatchObject({ tradesDiffering: 2, summaryDiffering: [], added: ['trades.exitPolicy'] });
    expect(notice!.message).toContain(`2 of ${trades.length} trades differ`);
  });

  it('distinguishes rounding in the last digits from a difference', () => {
    const stored = storedResult((summary, rows) => {
      summary.sharpeRatio = (summary.sharpeRatio as number) * (1 + 1e-14);
      (summary.byMonth as { returnPct: number }[])[0].returnPct += 1e-17;
      rows[3].quantity = (rows[3].quantity as number) * (1 + 4e-16);
    });
    const { notice } = build('equity', 'json', stored);
    expect(notice).toMatchObject({ tradesDiffering: 0, tradesRounded: 1, summaryDiffering: [], added: [] });
    expect(notice!.summaryRounded).toContain('sharpeRatio');
    expect(notice!.message).toMatch(/trades are the same up to rounding. Every stored member .* up to rounding\.$/);
  });

  it('carries the notice in JSON, in the Arrow schema and in the report', () => {
    const stored = storedResult((summary) => (summary.sharpeRatio = 99));
    const body = JSON.parse(text(build('equity', 'json', stored).bytes)) as { notice: object; rows: Row[] };
    expect(body.notice).toMatchObject({ summaryDiffering: ['sharpeRatio'] });
    expect(body.rows).toEqual(json('equity'));
    const { bytes, notice } = build('signals', 'arrow', stored);
    expect(tableFromIPC(bytes).schema.metadata.get('notice')).toBe(notice!.message);
    expect(text(build('report', 'html', stored).bytes)).toContain(notice!.message);
  });

  it('has no notice when an older engine hashed an equal result in another way', () => {
    const made = build(
      'equity',
      'json',
      storedResult(() => {}),
    );
    expect(made.notice).toBeNull();
    expect(JSON.parse(text(made.bytes))).toEqual(json('equity'));
  });

  it('has a notice when this engine stored an equal result under another hash', () => {
    const stored = { ...storedResult(() => {}), engineVersion: ENGINE_VERSION };
    expect(build('equity', 'json', stored).notice!.message).toMatch(/not byte for byte equal .* is the same\.$/);
  });

  it('has no notice when the stored result has the same hash', () => {
    const { resultHash } = run.outcome.reproducibility;
    const stored = { ...storedResult(() => {}), resultHash };
    const made = build('equity', 'json', stored);
    expect(made.notice).toBeNull();
    expect(JSON.parse(text(made.bytes))).toEqual(json('equity'));
  });
});
