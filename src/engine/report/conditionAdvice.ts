// Advice on what never happened: a condition that was never true, with what its two sides did, and orders that were
// rejected, with the most frequent reason.
import { conditionKind } from '../definitions/expressions/expressionRegistry.ts';
import type { ConditionStats, SideStats } from './conditionStatistics.ts';
import { sizingModeOf } from '../definitions/sizing/sizingModes.ts';
import { REJECTION_REASONS, type RejectionReason } from '../simulate/simulation.ts';
import type { Funnel } from './funnel.ts';
import type { ReportInput } from './reportInput.ts';

/** Why a condition was never known: the reasons for missing values in docs/language.md. */
export const MISSING_ADVICE =
  'Fields of a position are missing without one, and so are quotients by zero and values whose period is longer than ' +
  'the data: use values that are known before the entry.';

/** What both sides of a comparison or cross did. */
export function movements({ leftStats, rightStats }: ConditionStats): string {
  if (leftStats?.min == null) return '';
  const left = `: the left side ${movement(leftStats)}`;
  return rightStats?.min == null ? left : `${left}, and the right side ${movement(rightStats)}`;
}

/** How to change a condition that was never true. */
export function conditionAdvice({ kind, nodeId, leftStats, rightStats }: ConditionStats): string {
  const loosen = `Loosen ${nodeId} or take it out.`;
  const { advice } = conditionKind({ kind });
  if (advice?.always !== undefined) return `${loosen} ${advice.always}`;
  if (leftStats?.min == null || rightStats?.min == null) return loosen;
  const isFixed = ({ min, max }: SideStats): boolean => min === max;
  if (isFixed(leftStats) && isFixed(rightStats)) return 'Compare a value that changes.';
  if (Math.max(leftStats.min, rightStats.min) <= Math.min(leftStats.max!, rightStats.max!))
    return advice?.ofOverlap ?? loosen;
  if (isFixed(rightStats)) return 'Move the right side into the range of the left.';
  if (isFixed(leftStats)) return 'Move the left side into the range of the right.';
  return 'These ranges do not meet. Compare values of the same scale.';
}

/** What a side did over the run, as a predicate. */
const movement = ({ min, max }: SideStats): string =>
  min === max ? `was always ${text(min)}` : `moved between ${text(min)} and ${text(max)}`;

export const text = (value: number | null): string => (value === null ? '–' : String(Number(value.toPrecision(6))));

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
