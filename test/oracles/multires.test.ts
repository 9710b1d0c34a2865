// 66 scenarios per symbol of a brute-force walk over real 1m bars: every trade, its prices, its reason and how it was
// decided.
import { describe, expect, it } from 'vitest';
import type { Bars, Timeframe } from '../../src/engine/bars/bars.ts';
import { simulateTask } from '../../src/engine/backtest.ts';
import { checkStrategy } from '../../src/engine/index.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import type { Trade } from '../../src/engine/simulate/trade.ts';
import type { EntryRule, RiskRules } from '../../src/engine/evaluate/tradingRules.ts';
import {
  barsFrom,
  configOf,
  entryAt,
  exitAt,
  flatFee,
  inputOf,
  NO_RISK,
  takeProfit,
} from '../engine/simulate/input.ts';
import * as write from '../support/builders.ts';
import { readSeries } from './series.ts';
import { readOracle } from './shared.ts';
import { lengthOf } from '../support/timeGrid.ts';

interface Scenario {
  readonly id: string;
  readonly coarse: '1h' | '4h';
  readonly fine: '1m' | '15m' | null;
  readonly signal: 'trend' | 'cross' | 'long';
  readonly params: {
    readonly sl?: number;
    readonly tp: number;
    readonly trail?: number;
    readonly qty: number;
    readonly fee: number;
    readonly slip: number;
    readonly fallback: 'pessimistic' | 'optimistic';
    readonly resolution: 'none' | 'multi_resolution';
    readonly sides: readonly (1 | -1)[];
    readonly exit_signal: boolean;
  };
  /** dir entryTime entryPrice entryFill sl tp exitTime exitFineTime exitPrice exitFill reason ambiguous fees pnl */
  readonly trades: readonly [
    1 | -1,
    number,
    number,
    number,
    number,
    number,
    number,
    number | null,
    number,
    number,
    string,
    string | null,
    number,
    number,
  ][];
  readonly summary: { readonly trades: number; readonly netPnl: number };
}

/** UTC buckets; a bucket without a minute is absent. */
function bucket(minutes: Bars, timeframe: Timeframe): Bars {
  const size = lengthOf(timeframe);
  const rows: { time: number; open: number; high: number; low: number; close: number }[] = [];
  for (let row = 0; row < minutes.length; row++) {
    const time = Math.floor(minutes.time[row] / size) * size;
    let last = rows.at(-1);
    if (last === undefined || last.time !== time) {
      last = { time, open: minutes.open[row], high: -Infinity, low: Infinity, close: NaN };
      rows.push(last);
    }
    last.high = Math.max(last.high, minutes.high[row]);
    last.low = Math.min(last.low, minutes.low[row]);
    last.close = minutes.close[row];
  }
  const column = (field: 'time' | 'open' | 'high' | 'low' | 'close') => rows.map((row) => row[field]);
  return barsFrom(
    { time: column('time'), open: column('open'), high: column('high'), low: column('low'), close: column('close') },
    timeframe,
  );
}

/** Prices are at least 2^-8, so that times 2^60 every double is a whole number. */
const UNITS = 2 ** 60;

/** The mean of each window of closes, its sum exact and rounded once, as the oracle's fsum has it. */
function exactMeans(close: Float64Array, length: number): number[] {
  const units = Array.from(close, (price) => BigInt(price * UNITS));
  const means: number[] = [];
  let sum = 0n;
  for (let row = 0; row < units.length; row++) {
    sum += units[row];
    if (row >= length) sum -= units[row - length];
    means.push(row >= length - 1 ? Number(sum) / UNITS / length : NaN);
  }
  return means;
}

function signalRows(bars: Bars, kind: Scenario['signal']): { long: number[]; short: number[] } {
  const slow = exactMeans(bars.close, 20);
  const fast = exactMeans(bars.close, 10);
  const rows = Array.from({ length: bars.length - 20 }, (_, index) => index + 20);
  const isUp = (row: number) => {
    if (kind === 'long') return true;
    if (kind === 'trend') return bars.close[row] > slow[row];
    return fast[row - 1] <= slow[row - 1] && fast[row] > slow[row];
  };
  const isDown = (row: number) => {
    if (kind === 'long') return false;
    if (kind === 'trend') return bars.close[row] < slow[row];
    return fast[row - 1] >= slow[row - 1] && fast[row] < slow[row];
  };
  return { long: rows.filter(isUp), short: rows.filter(isDown) };
}

function riskOf({ sl, tp, trail }: Scenario['params']): RiskRules {
  return {
    ...NO_RISK,
    stopLoss: sl === undefined ? null : { mode: 'percent', value: sl * 100 },
    takeProfits: [takeProfit({ mode: 'percent', value: tp * 100 })],
    trailingStop:
      trail === undefined ? null : { distance: { mode: 'percent', value: trail * 100 }, activateAfterPercent: null },
  };
}

function inputFor(scenario: Scenario, bars: Bars, fine: Bars | null): SimulationInput {
  const { params } = scenario;
  const { long, short } = signalRows(bars, scenario.signal);
  const sizing = { mode: 'fixed', value: params.qty } as const;
  const entries: EntryRule[] = [entryAt(bars, long, { id: 'long', sizing })];
  if (params.sides.includes(-1)) entries.push(entryAt(bars, short, { id: 'short', side: -1, sizing }));
  const exits = params.exit_signal
    ? [exitAt(bars, short, { appliesTo: 1 }), exitAt(bars, long, { appliesTo: -1 })]
    : [];
  return inputOf(bars, {
    fine,
    entries,
    exits,
    risk: riskOf(params),
    config: configOf({
      initialBalance: 1e9,
      ambiguityResolution: params.resolution === 'none' ? params.fallback : 'multi_resolution',
      ambiguityFallback: params.fallback,
      execution: { feeModel: flatFee(params.fee), slippage: { kind: 'fixed', unit: 'bps', value: params.slip * 1e4 } },
    }),
  });
}

/** The scenario as an author would write it; a warm-up of 20 bars, so that signals start at row 20. */
function strategyFor({ signal, params }: Scenario): Record<string, unknown> {
  const condition = (isLong: boolean) => {
    if (signal === 'long') return write.compare(write.market(), 'gt', 0);
    if (signal === 'trend') return write.compare(write.market(), isLong ? 'gt' : 'lt', write.sma(20));
    return write.cross(write.sma(10), isLong ? 'cross_up' : 'cross_down', write.sma(20));
  };
  const entry = (isLong: boolean) => ({
    kind: 'entry',
    trigger: condition(isLong),
    action: { side: isLong ? 'long' : 'short', sizing: { mode: 'fixed', value: params.qty } },
  });
  const exit = (isLong: boolean) => ({
    kind: 'exit',
    when: condition(!isLong),
    appliesTo: isLong ? 'long' : 'short',
  });
  const { sl, tp, trail } = params;
  return {
    kind: 'strategy',
    entry: params.sides.map((side) => entry(side === 1)),
    ...(params.exit_signal && { exits: [exit(true), exit(false)] }),
    risk: {
      ...(sl !== undefined && { stopLoss: { mode: 'percent', value: sl * 100 } }),
      takeProfits: [{ triggerPercent: tp * 100, closePercent: 100 }],
      ...(trail !== undefined && { trailingStop: { distancePercent: trail * 100 } }),
    },
  };
}

/** The same scenario through the whole engine: payload, plan, columns, fills. */
function tradesOfStrategy(scenario: Scenario, bars: Bars, fine: Bars | null): readonly Trade[] {
  const { params } = scenario;
  const settings = { warmupPeriod: 20 };
  const payload = { protocol: 'svc.strategy', version: 1, strategy: strategyFor(scenario) };
  const checked = checkStrategy({ settings, strategyAst: payload });
  expect(checked.issues.filter((issue) => issue.severity === 'error')).toEqual([]);
  const { instrument } = inputFor(scenario, bars, fine);
  const task = {
    id: scenario.id,
    strategyAst: checked.compiled!.strategyAst,
    settings,
    strategyHash: '',
    config: {
      timeframe: scenario.coarse,
      signalInstrument: { symbol: bars.symbol },
      initialBalance: 1e9,
      execution: {
        feeModel: flatFee(params.fee),
        slippage: { kind: 'fixed' as const, unit: 'bps' as const, value: params.slip * 1e4 },
      },
      ambiguityResolution: params.resolution === 'none' ? params.fallback : ('multi_resolution' as const),
      ambiguityFallback: params.fallback,
    },
  };
  const market = { base: bars, instrument, fine: fine ?? undefined, bars: () => undefined };
  const run = simulateTask(task, market, null, false);
  if (!run.ok) throw new Error(run.error.message);
  return run.report.simulation.trades;
}

const reasonOf = ({ exitReason }: Trade) =>
  ({ stop_loss: 'sl', trailing_stop: 'sl', take_profit: 'tp', signal: 'signal', end_of_data: 'end' })[
    exitReason as string
  ];

const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** What a trade says, in the oracle's words; the first difference fails with both rows in view. */
function compare(trade: Trade, expected: Scenario['trades'][number], bars: Bars, isTrailing: boolean): string[] {
  const [side, entryTime, , entryFill, , , exitTime, exitFineTime, , exitFill, reason, ambiguous, fees, pnl] = expected;
  const wrong: string[] = [];
  const check = (name: string, isRight: boolean, ours: unknown, theirs: unknown) => {
    if (!isRight) wrong.push(`${name}: ${String(ours)} instead of ${String(theirs)}`);
  };
  check('side', trade.side === side, trade.side, side);
  check('entryTime', bars.time[trade.entryRow] === entryTime, bars.time[trade.entryRow], entryTime);
  check('entryPrice', isNear(trade.entryPrice, entryFill), trade.entryPrice, entryFill);
  check('exitTime', bars.time[trade.exitRow] === exitTime, bars.time[trade.exitRow], exitTime);
  check('exitPrice', isNear(trade.exitPrice, exitFill), trade.exitPrice, exitFill);
  check('reason', reasonOf(trade) === reason.replace('_gap', ''), trade.exitReason, reason);
  check('fees', isNear(trade.entryFee + trade.exitFee, fees), trade.entryFee + trade.exitFee, fees);
  check('pnl', isNear(trade.pnl, pnl), trade.pnl, pnl);
  const isFallback = ambiguous === 'fallback' || ambiguous === 'fallback_fine_bar';
  if (isFallback) check('method', trade.exitMethod === 'fallback', trade.exitMethod, ambiguous);
  if (ambiguous === 'resolved') check('method', trade.exitMethod === 'drill', trade.exitMethod, ambiguous);
  if (ambiguous !== null && !isTrailing) {
    check('exitFineTime', trade.exitFineTime === exitFineTime, trade.exitFineTime, exitFineTime);
  }
  return wrong;
}

function expectTrades(trades: readonly Trade[], scenario: Scenario, bars: Bars): void {
  const isTrailing = scenario.params.trail !== undefined;
  scenario.trades.forEach((expected, index) => {
    const trade = trades[index];
    const wrong = trade === undefined ? ['no such trade'] : compare(trade, expected, bars, isTrailing);
    expect(wrong, `trade ${index}: ${JSON.stringify(trade)} against ${JSON.stringify(expected)}`).toEqual([]);
  });
  expect(trades.length).toBe(scenario.trades.length);
}

for (const symbol of ['BTCUSDT', 'SOLUSDT']) {
  const oracle = readOracle<{ scenarios: Scenario[] }>(`multires-${symbol}-1m`);
  const minutes = barsFrom(readSeries(`${symbol}-1m`), '1m', symbol);
  const series: Record<string, Bars> = { '1m': minutes };
  for (const timeframe of ['15m', '1h', '4h'] as const) series[timeframe] = bucket(minutes, timeframe);

  describe(`the engine, compared with a multi-resolution oracle on ${symbol},`, () => {
    it.each(oracle.scenarios.map((scenario) => [scenario.id, scenario] as const))(
      'gives the same trades for %s, from signals and as a strategy',
      (_, scenario) => {
        const bars = series[scenario.coarse];
        const fine = scenario.fine === null ? null : series[scenario.fine];
        expectTrades(simulate(inputFor(scenario, bars, fine)).trades, scenario, bars);
        expectTrades(tradesOfStrategy(scenario, bars, fine), scenario, bars);
      },
    );
  });
}
