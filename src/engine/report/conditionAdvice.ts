// Advice on a condition that was never true: what its two sides did, and what to change.
import { conditionKind } from '../definitions/expressions/expressionRegistry.ts';
import type { ConditionStats, SideStats } from './conditionStatistics.ts';

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
