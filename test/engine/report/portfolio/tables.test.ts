// Files and stored bytes of portfolio runs: every format says the same, and what is stored reads back as it was.
import { tableFromIPC } from 'apache-arrow';
import papaparse from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeTable } from '../../../../src/engine/bars/arrowTable.ts';
import { createMarket, createUniverse } from '../../../../src/engine/bars/market.ts';
import { buildArtifact } from '../../../../src/engine/artifacts.ts';
import type { Table } from '../../../../src/engine/bars/table.ts';
import { csvFile, jsonFile } from '../../../../src/engine/bars/tableText.ts';
import { encodeStoredTrades } from '../../../../src/engine/index.ts';
import { decodeDetail, decodeTrades, encodeResult, tradeTableParts } from '../../../../src/engine/pool/result.ts';
import { instrumentsTable, weightsTable } from '../../../../src/engine/report/portfolio/portfolioTables.ts';
import { equityTable, ordersTable, signalsTable, tradesTable } from '../../../../src/engine/report/tables.ts';
import { pageAssets } from '../../../../src/engine/pool/pageAssets.ts';
import type { ArtifactName, BacktestTask } from '../../../../src/engine/task.ts';
import { randomSnapshot, START } from '../../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../../support/builders.ts';
import { separateAccounts, type SeparateAccounts } from '../../../support/separateAccounts.ts';

const hours = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, hour) => START + (first + hour) * 3_600_000);
const marketOf = (symbol: string, seed: number, times: readonly number[]) =>
  createMarket([randomSnapshot({ symbol, seed, times })], symbol, '1h');
const MARKETS = [
  marketOf('600519', 3, hours(0, 300)),
  marketOf('A^B=C', 4, hours(100, 200)),
  marketOf(
    'ZIP',
    5,
    hours(0, 300).filter((_, hour) => hour % 3 !== 0),
  ),
];
const TASK: BacktestTask = {
  id: 'run',
  strategyAst: astOf({
    entry: entry(compare(market(), 'gt', sma(20, { id: 'slow' }))),
    exits: [exit(compare(market(), 'lt', sma(20)))],
  }),
  settings: {},
  strategyHash: '',
  config: { timeframe: '1h', signalInstrument: { symbol: 'ZIP' }, initialBalance: 30_000 },
};

const SOURCES = { pageAssets, storedResult: null };
type Row = Record<string, string | number | boolean | null>;
const bytesOf = (pieces: Iterable<Uint8Array>): Buffer => Buffer.concat([...pieces].map((piece) => piece.slice()));
const jsonOf = (table: Table): Row[] => {
  const file = jsonFile({ open: '\n', close: '\n' });
  return JSON.parse(bytesOf([...file.add(table), ...file.finish()]).toString()) as Row[];
};

let accounts: SeparateAccounts;
let tables: Readonly<Record<string, Table>>;
beforeAll(() => {
  accounts = separateAccounts(TASK, MARKETS);
  const { run } = accounts;
  const portfolio = run.report.portfolio!;
  tables = {
    trades: tradesTable(run),
    equity: equityTable(run),
    orders: ordersTable(run),
    signals: signalsTable(run),
    weights: weightsTable(run.report, portfolio),
    instruments: instrumentsTable(run.report, portfolio),
  };
});

describe('the tables of a portfolio', () => {
  it.each(['trades', 'equity', 'orders', 'signals', 'weights', 'instruments'])(
    'hold the same %s in every format',
    (name) => {
      const rows = jsonOf(tables[name]);
      const arrow = tableFromIPC(bytesOf(encodeTable(tables[name], {})));
      const names = arrow.schema.fields.map((field) => field.name);
      expect(arrow.numRows).toBe(rows.length);
      expect(names.toSorted()).toEqual(Object.keys(rows[0]).toSorted());
      const file = csvFile('\r\n');
      const text = bytesOf([...file.add(tables[name]), ...file.finish()]).toString();
      const csv = papaparse.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true });
      expect(csv.errors).toEqual([]);
      for (const column of names) {
        const vector = arrow.getChild(column)!;
        for (const [index, row] of rows.entries()) {
          expect(vector.get(index)).toEqual(row[column]);
          expect(csv.data[index][column]).toBe(row[column] === null ? '' : String(row[column]));
        }
      }
    },
  );

  it('have weights whose values are those of holdings at the end of each instant', () => {
    const rows = jsonOf(tables.weights);
    expect(rows).toHaveLength(accounts.end - accounts.start);
    for (const [at, row] of rows.entries()) {
      for (const [index, { base }] of MARKETS.entries())
        expect(row[base.symbol]).toBeCloseTo(accounts.values[index][at] / accounts.result.equity[at], 12);
    }
  });

  it('have the value of a named node at the decisions of trades, of the instrument that traded', () => {
    for (const row of jsonOf(tables.trades)) {
      const { base } = MARKETS.find((own) => own.base.symbol === row.symbol)!;
      const decided = base.time.indexOf(row.entryTime as number) - 1;
      const closes = [...base.close.subarray(decided - 19, decided + 1)];
      expect(row['entry.slow']).toBeCloseTo(closes.reduce((sum, close) => sum + close, 0) / 20, 9);
    }
  });

  it('have the signals of each instrument on its own bars', () => {
    const rows = Map.groupBy(jsonOf(tables.signals), ({ symbol }) => symbol);
    expect([...rows.keys()]).toEqual(MARKETS.map(({ base }) => base.symbol));
    for (const { base } of MARKETS) {
      const own = rows.get(base.symbol)!;
      expect(own.at(-1)!.time).toBe(base.time.at(-1));
      for (const row of own) {
        const close = base.close[base.time.indexOf(row.time as number)];
        expect(row['entry /strategyAst/strategy/entry']).toBe(close > (row.slow as number));
      }
    }
  });

  it('have orders at the times of their own bars, and exposures beside equity', () => {
    const filled = jsonOf(tables.orders).filter(({ status, purpose }) => status === 'filled' && purpose === 'entry');
    const entries = accounts.run.trades.map(({ symbol, entryTime }) => `${symbol} ${entryTime}`);
    expect(filled.map(({ symbol, filledTime }) => `${symbol} ${filledTime}`).toSorted()).toEqual(entries.toSorted());
    const equity = jsonOf(tables.equity);
    for (const [at, row] of equity.entries()) {
      const values = accounts.values.map((column) => column[at]);
      expect(row.grossExposure).toBeCloseTo(
        values.reduce((sum, value) => sum + Math.abs(value), 0),
        9,
      );
      expect(row.positions).toBe(values.filter((value) => value !== 0).length);
    }
  });
});

describe('the stored result of a portfolio', () => {
  it('gives back its trades with their symbols, and the blocks of its instruments', () => {
    const { run } = accounts;
    const trades = JSON.parse(JSON.stringify(run.trades)) as object[];
    const blocks = JSON.parse(JSON.stringify(run.summary)) as Record<string, unknown>;
    const parts = bytesOf(tradeTableParts(run.tradeTable));
    expect([...decodeTrades(parts)].flat()).toEqual(trades);
    const stored = encodeResult(separateAccounts(TASK, MARKETS).run);
    expect([...decodeTrades(stored.trades)].flat()).toEqual(trades);
    const { summary, resolvedConfig } = decodeDetail(stored.detail);
    for (const name of ['instruments', 'portfolio', 'strategyTrace', 'byMonth', 'equityPreview', 'ambiguity'])
      expect(summary[name]).toEqual(blocks[name]);
    expect(resolvedConfig.instruments).toHaveLength(3);
  });

  it('writes symbols as the first column of a trades file, even of one without trades', () => {
    const { run } = accounts;
    const csvOf = (parts: object[][], isNamed?: boolean): string[] =>
      bytesOf(encodeStoredTrades(parts, 'csv', isNamed))
        .toString()
        .trim()
        .split('\r\n');
    expect(csvOf([[...run.trades]])[0]).toMatch(/^symbol,positionId,/);
    expect(csvOf([[...run.trades]])).toHaveLength(run.trades.length + 1);
    expect(csvOf([], true)[0]).toMatch(/^symbol,positionId,/);
    expect(csvOf([])[0]).toMatch(/^positionId,/);
  });

  it('has another result hash where only a symbol differs', () => {
    const renamed = MARKETS.map((own, index) => (index === 1 ? marketOf('A', 4, hours(100, 200)) : own));
    const { run } = separateAccounts(TASK, renamed);
    expect(run.trades.map(({ pnl }) => pnl)).toEqual(accounts.run.trades.map(({ pnl }) => pnl));
    expect(run.resultHash).not.toBe(accounts.run.resultHash);
  });
});

describe('an artifact of a run through the pipeline', () => {
  const snapshots = ['A', 'B'].map((symbol, seed) => randomSnapshot({ symbol, seed: seed + 7, count: 300 }));
  const universe = createUniverse(snapshots, ['A', 'B'], '1h');
  const { signalInstrument: _, ...config } = TASK.config;
  const task = { ...TASK, config: { ...config, instruments: [{ symbol: 'A' }, { symbol: 'B' }] } };
  const rowsOf = (name: ArtifactName): Row[] => {
    const pieces: Uint8Array[] = [];
    const made = buildArtifact(task, universe, null, { name, format: 'json' }, SOURCES, (piece) => pieces.push(piece));
    if (!made.ok) throw new Error(made.error.message);
    return JSON.parse(bytesOf(pieces).toString()) as Row[];
  };

  it('has weights of every instant whose means are those of the instruments', () => {
    const weights = rowsOf('weights');
    const instruments = rowsOf('instruments');
    expect(instruments).toHaveLength(2);
    expect(weights.length).toBeGreaterThan(250);
    for (const { symbol, averageWeightPct } of instruments) {
      const sum = weights.reduce((total, row) => total + Math.abs(row[symbol as string] as number), 0);
      expect(averageWeightPct).toBeCloseTo(sum / weights.length, 10);
      expect(averageWeightPct).toBeGreaterThan(0);
    }
  });

  it('is refused for a run of one instrument, with the artifacts that it has', () => {
    const single = createMarket(snapshots.slice(0, 1), 'A', '1h');
    const own = { ...TASK, config: { ...TASK.config, signalInstrument: { symbol: 'A' } } };
    for (const name of ['weights', 'instruments'] as const) {
      const made = buildArtifact(own, single, null, { name, format: 'csv' }, SOURCES, () => {});
      expect(made).toMatchObject({ ok: false, error: { code: 'ARTIFACT_NEEDS_PORTFOLIO', path: '/name' } });
      expect(made).toHaveProperty('error.message', expect.stringContaining('config.instruments'));
    }
  });
});
