// The result of a portfolio: what its members leave behind, each and together, gathered once the run has ended.
import type { OrderRole } from '../../config.ts';
import { exitReasonOf } from '../../definitions/exitReasons/exitReasons.ts';
import { countsOf } from '../collectResult.ts';
import type { Trade } from '../trade.ts';
import { TRADE, TRADE_WIDTH } from '../tradeLog.ts';
import { REJECTION_REASONS, type SimulationResult } from '../simulation.ts';
import type { Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';
import type { InstrumentResult, PortfolioResult } from './portfolioSimulation.ts';

type Counts = SimulationResult['counts'];
interface Fees {
  makerFees: number;
  takerFees: number;
  totalNotional: number;
}

/** A class, see `GatheredResult`. */
export class GatheredPortfolio implements PortfolioResult {
  readonly cancelled: boolean;
  readonly tradeLog: PortfolioResult['tradeLog'];
  readonly equity: PortfolioResult['equity'];
  readonly streamed = null;
  readonly inPosition: PortfolioResult['inPosition'];
  readonly orders: PortfolioResult['orders'];
  readonly finalBalance: number;
  readings: PortfolioResult['readings'] = null;
  readonly totals: PortfolioResult['totals'];
  readonly counts: PortfolioResult['counts'];
  readonly ambiguity: PortfolioResult['ambiguity'];
  readonly tradeInstruments: Uint16Array;
  readonly byInstrument: readonly InstrumentResult[];
  readonly grossExposure: Float64Array;
  readonly netExposure: Float64Array;
  readonly openPositions: Uint16Array;
  readonly weights: Float64Array | null;
  readonly rankedOut: PortfolioResult['rankedOut'];
  readonly rebalancing: PortfolioResult['rebalancing'];
  readonly contestedFunds: number;

  constructor(portfolio: Portfolio, cancelled: boolean) {
    const { fees, ledger, members } = portfolio;
    const bySymbol = members.toSorted((a, b) => a.symbolRank - b.symbolRank);
    const sum = (valueOf: (member: Member) => number): number =>
      bySymbol.reduce((total, member) => total + valueOf(member), 0);
    const feesOf = feesByMember(portfolio);
    this.cancelled = cancelled;
    this.tradeLog = portfolio.trades;
    this.equity = portfolio.equity;
    this.inPosition = portfolio.inPosition;
    this.orders = portfolio.input.keepOrders ? ordersOf(members) : null;
    this.finalBalance = ledger.balance;
    this.totals = {
      makerFees: fees.makerFees,
      takerFees: fees.takerFees,
      feeKinds: fees.kinds,
      slippageCost: sum(({ run }) => run.slippageCost),
      fundingPaid: sum(({ run }) => run.fundingPaid),
      borrowPaid: sum(({ run }) => run.borrowPaid),
      dividendsReceived: sum(({ run }) => run.dividendsReceived),
      totalNotional: fees.cumulative,
      tiers: fees.usage,
    };
    this.byInstrument = members.map((member) => instrumentResult(member, feesOf[member.index]));
    this.counts = addedCounts(this.byInstrument.map(({ counts }) => counts));
    this.ambiguity = {
      undecidedBars: sum(({ run }) => run.ambiguous.undecided.count),
      drilledBars: sum(({ run }) => run.ambiguous.drilled.count),
      fallbackBars: sum(({ run }) => run.ambiguous.fallback.count),
      childrenMissingBars: sum(({ run }) => run.ambiguous.childrenMissing.count),
    };
    this.tradeInstruments = Uint16Array.from(portfolio.tradeMembers);
    this.grossExposure = portfolio.grossExposure;
    this.netExposure = portfolio.netExposure;
    this.openPositions = portfolio.openPositions;
    this.weights = portfolio.weights;
    const lost = sum(({ run }) => run.counts.lostSlots);
    this.rankedOut = {
      count: lost,
      atClose: portfolio.lostAtClose,
      atFill: lost - portfolio.lostAtClose,
      mostAtOnce: portfolio.mostLostAtOnce,
      largestLost: Number.isNaN(portfolio.largestLost) ? null : portfolio.largestLost,
      smallestTaken: Number.isNaN(portfolio.smallestTaken) ? null : portfolio.smallestTaken,
      isUnranked: portfolio.isUnranked,
    };
    this.rebalancing = portfolio.rebalances === null ? null : portfolio.rebalancing;
    this.contestedFunds = ledger.contestedFunds;
  }

  get trades(): readonly Trade[] {
    return this.tradeLog.rows();
  }
}

function ordersOf(members: readonly Member[]): NonNullable<PortfolioResult['orders']> {
  const orders = members.flatMap(({ run, index }) => run.orders!.map((order) => ({ ...order, instrument: index })));
  return orders.sort((a, b) => a.orderId - b.orderId);
}

function instrumentResult(member: Member, fees: Fees): InstrumentResult {
  const { run, instantsHeld, weightSum, squaredWeightSum, maxWeight } = member;
  const { undecided, drilled, fallback, childrenMissing } = run.ambiguous;
  return {
    counts: countsOf(run),
    ambiguity: {
      undecidedBars: undecided.count,
      drilledBars: drilled.count,
      fallbackBars: fallback.count,
      childrenMissingBars: childrenMissing.count,
    },
    ...fees,
    slippageCost: run.slippageCost,
    fundingPaid: run.fundingPaid,
    borrowPaid: run.borrowPaid,
    dividendsReceived: run.dividendsReceived,
    rankedOut: run.counts.lostSlots,
    instantsHeld,
    weightSum,
    squaredWeightSum,
    maxWeight,
  };
}

/** What each member traded and paid, read from the trades: all positions are closed at the end. */
function feesByMember({ trades, tradeMembers, members, config }: Portfolio): readonly Fees[] {
  const { entryOrderRole, exitOrderRole, riskOrderRole } = config.execution;
  const fees = members.map((): Fees => ({ makerFees: 0, takerFees: 0, totalNotional: 0 }));
  for (let trade = 0; trade < trades.length; trade++) {
    const at = trade * TRADE_WIDTH;
    const { numbers } = trades;
    const of = fees[tradeMembers[trade]];
    const exitRole = exitReasonOf(trades.reasons[trade]).order === 'risk' ? riskOrderRole : exitOrderRole;
    addFee(of, entryOrderRole, numbers[at + TRADE.entryFee]);
    addFee(of, exitRole, numbers[at + TRADE.exitFee]);
    const prices = numbers[at + TRADE.entryPrice] + numbers[at + TRADE.exitPrice];
    of.totalNotional += numbers[at + TRADE.quantity] * prices;
  }
  return fees;
}

function addFee(fees: Fees, role: OrderRole, fee: number): void {
  if (role === 'maker') fees.makerFees += fee;
  else fees.takerFees += fee;
}

/** The counts of several instruments together. */
function addedCounts(counts: readonly Counts[]): Counts {
  const sum = (valueOf: (counts: Counts) => number): number => counts.reduce((total, each) => total + valueOf(each), 0);
  const byRule = (valuesOf: (counts: Counts) => readonly number[]): number[] =>
    counts.length === 0 ? [] : valuesOf(counts[0]).map((_, rule) => sum((each) => valuesOf(each)[rule]));
  const ordersRejected = { INSUFFICIENT_BALANCE: 0, MIN_NOTIONAL: 0, ZERO_QTY: 0, LEVEL_MISSING: 0 };
  for (const reason of REJECTION_REASONS) ordersRejected[reason] = sum((each) => each.ordersRejected[reason]);
  return {
    entrySignals: sum(({ entrySignals }) => entrySignals),
    blockedInPosition: sum(({ blockedInPosition }) => blockedInPosition),
    blockedCooldown: sum(({ blockedCooldown }) => blockedCooldown),
    blockedMaxPositions: sum(({ blockedMaxPositions }) => blockedMaxPositions),
    ordersRejected,
    ordersExpired: sum(({ ordersExpired }) => ordersExpired),
    ordersReplaced: sum(({ ordersReplaced }) => ordersReplaced),
    entriesFilled: sum(({ entriesFilled }) => entriesFilled),
    signalsByRule: byRule(({ signalsByRule }) => signalsByRule),
    fillsByRule: byRule(({ fillsByRule }) => fillsByRule),
  };
}
