// A portfolio run put together from single runs: one account per instrument, each with an equal part of the money. Its
// numbers are those of a portfolio whose instruments share nothing, made without the loop of portfolios.
import { prepareRun, type PreparedRun } from '../../src/engine/backtest.ts';
import type { Bars, Market } from '../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../src/engine/bars/timeAxis.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { hasBit, wordCount } from '../../src/engine/kernels/bits.ts';
import { SharedSpan } from '../../src/engine/kernels/sharedBuffer.ts';
import type { RunnableAllocation } from '../../src/engine/language/grammar/ast.ts';
import { completedPortfolio } from '../../src/engine/report/portfolio/completedPortfolio.ts';
import type { CompletedRun } from '../../src/engine/report/simulatedRun.ts';
import type { PortfolioResult } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import type { SimulationInput, SimulationResult } from '../../src/engine/simulate/simulation.ts';
import { TRADE, TRADE_WIDTH, TradeLog } from '../../src/engine/simulate/tradeLog.ts';
import type { BacktestTask } from '../../src/engine/task.ts';

interface Account {
  readonly prepared: PreparedRun;
  readonly input: SimulationInput;
  readonly result: SimulationResult;
  readonly instants: Int32Array;
}

export interface SeparateAccounts {
  readonly run: CompletedRun;
  readonly result: PortfolioResult;
  /** Start and end on the axis. */
  readonly start: number;
  readonly end: number;
  /** Per instrument and instant of the run: the value of its holding at the end. */
  readonly values: readonly Float64Array[];
}

interface Options {
  /** Reports it as the run of an allocation. */
  readonly isRotation?: boolean;
  readonly benchmark?: Bars | null;
  readonly changed?: (result: PortfolioResult) => PortfolioResult;
}

/** The one in the report of a rotation, which asks only whether there is any. */
const ALLOCATION: RunnableAllocation = {
  kind: 'allocation',
  when: { kind: 'schedule', everyBars: 1 },
  long: {},
  weights: { mode: 'equal', grossPercent: 100 },
  bandPercent: 0,
};

/** @param task whose config is that of a single run; its symbol is replaced by that of each market. */
export function separateAccounts(
  task: BacktestTask,
  markets: readonly Market[],
  { isRotation = false, benchmark = null, changed = (result) => result }: Options = {},
): SeparateAccounts {
  const axis = timeAxisOf(markets.map(({ base }) => base));
  const accounts = markets.map((market, index): Account => {
    const signalInstrument = { symbol: market.base.symbol };
    const initialBalance = task.config.initialBalance / markets.length;
    const own = { ...task, config: { ...task.config, signalInstrument, initialBalance } };
    const prepared = preparedRun(own, market);
    const input = { ...prepared.input, keepOrders: true };
    return { prepared, input, result: simulate(input), instants: axis.instants[index] };
  });
  const running = accounts.filter(({ input }) => input.end > input.start);
  const start = Math.min(...running.map(({ input, instants }) => instants[input.start]));
  const end = Math.max(...running.map(({ input, instants }) => instants[input.end - 1] + 1));
  const values = accounts.map((account) => valuesOf(account, start, end));
  const result = changed(merged(accounts, values, start, end));
  const [{ prepared }] = accounts;
  const { signalInstrument, ...common } = prepared.input.config;
  const symbols = markets.map(({ base }) => ({ symbol: base.symbol }));
  const isList = markets.length > 1 || isRotation;
  const named = isList || signalInstrument === undefined ? { instruments: symbols } : { signalInstrument };
  const config = { ...common, ...named, initialBalance: task.config.initialBalance };
  const instruments = accounts.map(({ prepared: own, input }) => ({
    symbol: input.bars.symbol,
    evaluated: own.evaluated,
    boundRules: own.boundRules,
    input: { ...input, config },
    firstRow: own.firstRow,
    endRow: own.endRow,
  }));
  const own = result.finalBalance / config.initialBalance - 1;
  const simulated = {
    strategy: isRotation ? { ...prepared.strategy, allocation: ALLOCATION } : prepared.strategy,
    warmup: prepared.warmup,
    band: { low: own, high: own, pessimistic: own, optimistic: own },
    instruments,
    axis,
    start,
    end,
    simulation: result,
    benchmark,
  };
  const run = completedPortfolio(task, { instruments: markets }, simulated, new SharedSpan());
  return { run, result, start, end, values };
}

/** A run without bars in its range is one whose window is empty. */
function preparedRun(task: BacktestTask, market: Market): PreparedRun {
  const prepared = prepareRun(task, market, new ColumnStore(1 << 26), true);
  if (prepared.ok) return prepared;
  if (prepared.error.code !== 'RANGE_NO_DATA') throw new Error(prepared.error.message);
  const { range: _, ...config } = task.config;
  const whole = preparedRun({ ...task, config }, market);
  return { ...whole, firstRow: 0, endRow: 0, input: { ...whole.input, start: 0, end: 0 } };
}

/** The value of what is held at the end of each instant: |shares| · last close · side. */
function valuesOf({ input, result, instants }: Account, start: number, end: number): Float64Array {
  const values = new Float64Array(end - start);
  for (const { side, quantity, entryRow, exitRow } of result.trades) {
    for (let row = entryRow; row < exitRow; row++) {
      const next = instants[row + 1];
      for (let at = instants[row]; at < next; at++) values[at - start] += side * quantity * input.bars.close[row];
    }
  }
  return values;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);

function merged(
  accounts: readonly Account[],
  values: readonly Float64Array[],
  start: number,
  end: number,
): PortfolioResult {
  const instants = end - start;
  const equity = new Float64Array(instants);
  const inPosition = new Uint32Array(wordCount(instants));
  const bySymbol = accounts.toSorted((a, b) => (a.input.bars.symbol < b.input.bars.symbol ? -1 : 1));
  for (const { input, result, instants: own } of bySymbol) {
    let last = input.config.initialBalance;
    let row = input.start;
    for (let at = start; at < end; at++) {
      if (row < input.end && own[row] === at) {
        last = result.equity[row - input.start];
        if (hasBit(result.inPosition, row - input.start)) inPosition[(at - start) >> 5] |= 1 << ((at - start) & 31);
        row++;
      }
      equity[at - start] += last;
    }
  }
  const { tradeLog, tradeInstruments } = mergedTrades(accounts);
  const weights = new Float64Array(instants * accounts.length);
  values.forEach((column, index) =>
    column.forEach((value, at) => (weights[at * accounts.length + index] = value / equity[at])),
  );
  const weightsOf = (index: number): number[] => Array.from(values[index], (value, at) => Math.abs(value / equity[at]));
  const results = accounts.map(({ result }) => result);
  const counts = results.map((result) => result.counts);
  const perRule = (read: (each: SimulationResult['counts']) => readonly number[]): number[] =>
    read(counts[0]).map((_, rule) => sum(counts.map((each) => read(each)[rule])));
  const total = (read: (result: SimulationResult) => number): number => sum(bySymbol.map(({ result }) => read(result)));
  return {
    cancelled: false,
    tradeLog,
    tradeInstruments,
    trades: tradeLog.rows(),
    equity,
    streamed: null,
    inPosition,
    orders: results.flatMap(({ orders }, instrument) => orders!.map((order) => ({ ...order, instrument }))),
    finalBalance: total(({ finalBalance }) => finalBalance),
    readings: null,
    totals: {
      feeKinds: {
        rates: total(({ totals }) => totals.feeKinds.rates),
        perUnit: total(({ totals }) => totals.feeKinds.perUnit),
        perOrder: total(({ totals }) => totals.feeKinds.perOrder),
        toMinimum: total(({ totals }) => totals.feeKinds.toMinimum),
        toMaximum: total(({ totals }) => totals.feeKinds.toMaximum),
      },
      makerFees: total(({ totals }) => totals.makerFees),
      takerFees: total(({ totals }) => totals.takerFees),
      slippageCost: total(({ totals }) => totals.slippageCost),
      fundingPaid: total(({ totals }) => totals.fundingPaid),
      borrowPaid: total(({ totals }) => totals.borrowPaid),
      dividendsReceived: total(({ totals }) => totals.dividendsReceived),
      totalNotional: total(({ totals }) => totals.totalNotional),
      tiers: results[0].totals.tiers.map((_, tier) => ({
        notional: total(({ totals }) => totals.tiers[tier].notional),
        fees: total(({ totals }) => totals.tiers[tier].fees),
        fills: total(({ totals }) => totals.tiers[tier].fills),
      })),
    },
    counts: {
      entrySignals: sum(counts.map((each) => each.entrySignals)),
      blockedInPosition: sum(counts.map((each) => each.blockedInPosition)),
      blockedCooldown: sum(counts.map((each) => each.blockedCooldown)),
      blockedMaxPositions: sum(counts.map((each) => each.blockedMaxPositions)),
      ordersRejected: {
        INSUFFICIENT_BALANCE: sum(counts.map((each) => each.ordersRejected.INSUFFICIENT_BALANCE)),
        MIN_NOTIONAL: sum(counts.map((each) => each.ordersRejected.MIN_NOTIONAL)),
        ZERO_QTY: sum(counts.map((each) => each.ordersRejected.ZERO_QTY)),
        LEVEL_MISSING: sum(counts.map((each) => each.ordersRejected.LEVEL_MISSING)),
      },
      ordersExpired: sum(counts.map((each) => each.ordersExpired)),
      ordersReplaced: sum(counts.map((each) => each.ordersReplaced)),
      entriesFilled: sum(counts.map((each) => each.entriesFilled)),
      signalsByRule: perRule((each) => each.signalsByRule),
      fillsByRule: perRule((each) => each.fillsByRule),
    },
    ambiguity: {
      undecidedBars: total(({ ambiguity }) => ambiguity.undecidedBars),
      drilledBars: total(({ ambiguity }) => ambiguity.drilledBars),
      fallbackBars: total(({ ambiguity }) => ambiguity.fallbackBars),
      childrenMissingBars: total(({ ambiguity }) => ambiguity.childrenMissingBars),
    },
    byInstrument: results.map((result, index) => ({
      counts: result.counts,
      ambiguity: result.ambiguity,
      feeKinds: {
        rates: total(({ totals }) => totals.feeKinds.rates),
        perUnit: total(({ totals }) => totals.feeKinds.perUnit),
        perOrder: total(({ totals }) => totals.feeKinds.perOrder),
        toMinimum: total(({ totals }) => totals.feeKinds.toMinimum),
        toMaximum: total(({ totals }) => totals.feeKinds.toMaximum),
      },
      makerFees: result.totals.makerFees,
      takerFees: result.totals.takerFees,
      slippageCost: result.totals.slippageCost,
      fundingPaid: result.totals.fundingPaid,
      borrowPaid: result.totals.borrowPaid,
      dividendsReceived: result.totals.dividendsReceived,
      totalNotional: result.totals.totalNotional,
      rankedOut: 0,
      instantsHeld: weightsOf(index).filter((weight) => weight > 0).length,
      weightSum: sum(weightsOf(index)),
      squaredWeightSum: sum(weightsOf(index).map((weight) => weight ** 2)),
      maxWeight: Math.max(...weightsOf(index)),
    })),
    grossExposure: equity.map((_, at) => sum(values.map((column) => Math.abs(column[at])))),
    netExposure: equity.map((_, at) => sum(values.map((column) => column[at]))),
    openPositions: Uint16Array.from(equity, (_, at) => values.filter((column) => column[at] !== 0).length),
    weights,
    rankedOut: {
      count: 0,
      atClose: 0,
      atFill: 0,
      mostAtOnce: 0,
      largestLost: null,
      smallestTaken: null,
      isUnranked: false,
    },
    rebalancing: null,
    contestedFunds: 0,
  };
}

/** All trades by the instant of their exit, in the order of the list; positions count in the order of their entries. */
function mergedTrades(accounts: readonly Account[]): Pick<PortfolioResult, 'tradeLog' | 'tradeInstruments'> {
  const found = accounts.flatMap(({ result, instants }, instrument) =>
    result.trades.map((trade, index) => ({
      instrument,
      index,
      id: trade.positionId,
      entry: instants[trade.entryRow],
      exit: instants[trade.exitRow],
    })),
  );
  const keyOf = ({ instrument, id }: (typeof found)[number]): string => `${instrument} ${id}`;
  const byEntry = found.toSorted((a, b) => a.entry - b.entry || a.instrument - b.instrument || a.id - b.id);
  const ids = new Map([...new Set(byEntry.map(keyOf))].map((key, index) => [key, index + 1]));
  const tradeLog = new TradeLog();
  const byExit = found.toSorted((a, b) => a.exit - b.exit);
  for (const trade of byExit) {
    const { tradeLog: from } = accounts[trade.instrument].result;
    const at = tradeLog.add(from.reasons[trade.index], from.decisions[trade.index]);
    const first = trade.index * TRADE_WIDTH;
    tradeLog.numbers.set(from.numbers.subarray(first, first + TRADE_WIDTH), at);
    tradeLog.numbers[at + TRADE.positionId] = ids.get(keyOf(trade))!;
  }
  return { tradeLog, tradeInstruments: Uint16Array.from(byExit, ({ instrument }) => instrument) };
}
