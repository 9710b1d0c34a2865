// Rejected orders: the most frequent reason of a run, and what helps against it.
import { sizingModeOf } from '../definitions/sizing/sizingModes.ts';
import { REJECTION_REASONS, type RejectionReason } from '../simulate/simulation.ts';
import type { Funnel } from './funnel.ts';
import type { ReportInput } from './reportInput.ts';

interface Rejections {
  readonly reason: RejectionReason;
  readonly count: number;
}

/** The most frequent reason, or undefined when no order was rejected. */
export function mostRejected(funnel: Funnel): Rejections | undefined {
  return REJECTION_REASONS.map((reason) => ({ reason, count: funnel.ordersRejected[reason] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)[0];
}

/** What helps depends on how orders are sized: when sizes grow with the balance, a larger balance does not help. */
export function rejectionAdvice(reason: RejectionReason, { strategy }: ReportInput): string {
  switch (reason) {
    case 'INSUFFICIENT_BALANCE':
      // An allocation has no entries: its additions are scaled to the cash there is.
      if (strategy.entries.length === 0) return 'Use a larger initialBalance, or a smaller grossPercent.';
      return strategy.entries
        .map((entry) => sizingModeOf(entry.action.sizing.mode).unaffordable)
        .reduce((a, b) => (b.rank > a.rank ? b : a)).text;
    case 'MIN_NOTIONAL':
      return "Use a larger size: the orders are below the instrument's minNotional.";
    case 'ZERO_QTY':
      return "Use a larger size: the quantity rounds down to zero at the instrument's qtyStep.";
    case 'LEVEL_MISSING':
      return 'The stop or target price was missing at the signal: use a longer warm-up or another level.';
  }
}
