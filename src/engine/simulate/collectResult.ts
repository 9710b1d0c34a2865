// The result: what a run leaves behind, gathered once it has ended.
import { countBits } from '../kernels/bits.ts';
import type { SimulationResult } from './simulation.ts';
import type { Trade } from './trade.ts';
import type { Run } from './run.ts';
import { StreamedMarks } from './streamedMarks.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * A class: V8 puts the getters of an object literal into its old generation, where everything that they can reach would
 * outlive the run.
 */
export class GatheredResult implements SimulationResult {
  readonly cancelled: boolean;
  readonly tradeLog: SimulationResult['tradeLog'];
  readonly equity: SimulationResult['equity'];
  readonly streamed: SimulationResult['streamed'];
  readonly inPosition: SimulationResult['inPosition'];
  readonly orders: SimulationResult['orders'];
  readonly finalBalance: number;
  readings: SimulationResult['readings'] = null;
  readonly totals: SimulationResult['totals'];
  readonly counts: SimulationResult['counts'];
  readonly ambiguity: SimulationResult['ambiguity'];

  constructor(run: Run, cancelled: boolean) {
    const { fees, ambiguous } = run;
    this.cancelled = cancelled;
    this.tradeLog = run.trades;
    this.equity = run.equity;
    this.streamed = run.marks instanceof StreamedMarks && !cancelled ? run.marks.finish(run.end) : null;
    this.inPosition = run.inPosition;
    this.orders = run.orders?.sort((a, b) => a.orderId - b.orderId) ?? null;
    this.finalBalance = run.ledger.balance;
    this.totals = {
      makerFees: fees.makerFees,
      takerFees: fees.takerFees,
      feeKinds: fees.kinds,
      slippageCost: run.slippageCost,
      fundingPaid: run.fundingPaid,
      borrowPaid: run.borrowPaid,
      dividendsReceived: run.dividendsReceived,
      totalNotional: fees.cumulative,
      tiers: fees.usage,
    };
    this.counts = countsOf(run);
    this.ambiguity = {
      undecidedBars: ambiguous.undecided.count,
      drilledBars: ambiguous.drilled.count,
      fallbackBars: ambiguous.fallback.count,
      childrenMissingBars: ambiguous.childrenMissing.count,
    };
  }

  get trades(): readonly Trade[] {
    return this.tradeLog.rows();
  }
}

export function countsOf({ input, entries, counts }: Run): SimulationResult['counts'] {
  const signalsByRule = entries.map(({ signal }, rule) =>
    signal.kind === 'bits' ? countBits(signal.isTrue, input.start, input.end) : counts.statefulSignals[rule],
  );
  return {
    entrySignals: sum(signalsByRule),
    blockedInPosition: counts.blockedInPosition,
    blockedCooldown: counts.blockedCooldown,
    blockedMaxPositions: counts.blockedMaxPositions,
    ordersRejected: counts.ordersRejected,
    ordersExpired: counts.ordersExpired,
    ordersReplaced: counts.ordersReplaced,
    entriesFilled: sum(counts.fillsByRule),
    signalsByRule,
    fillsByRule: counts.fillsByRule,
  };
}
