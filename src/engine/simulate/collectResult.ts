// The result: what a run leaves behind, gathered once it has ended.
import { countBits } from '../kernels/bits.ts';
import type { SimulationResult } from './simulation.ts';
import type { Run } from './run.ts';

export function gatherResult(run: Run, cancelled: boolean): SimulationResult {
  const { input, counts, fees } = run;
  const signalsByRule = run.entries.map(({ signal }, rule) =>
    signal.kind === 'bits' ? countBits(signal.isTrue, input.start, input.end) : counts.statefulSignals[rule],
  );
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    cancelled,
    tradeLog: run.trades,
    get trades() {
      return run.trades.rows();
    },
    equity: run.equity,
    inPosition: run.inPosition,
    orders: run.orders?.sort((a, b) => a.orderId - b.orderId) ?? null,
    finalBalance: run.ledger.balance,
    readings: null,
    totals: {
      makerFees: fees.makerFees,
      takerFees: fees.takerFees,
      slippageCost: run.slippageCost,
      fundingPaid: run.fundingPaid,
      totalNotional: fees.cumulative,
      tiers: fees.usage,
    },
    counts: {
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
    },
    ambiguity: {
      undecidedBars: run.ambiguous.undecided.count,
      drilledBars: run.ambiguous.drilled.count,
      fallbackBars: run.ambiguous.fallback.count,
      childrenMissingBars: run.ambiguous.childrenMissing.count,
    },
  };
}
