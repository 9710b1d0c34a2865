// The comparison of two numbers, with a tolerance and an answer for missing ones.

export const COMPARE_OPS = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;
export type CompareOp = (typeof COMPARE_OPS)[number];

/** Compares two numbers: 1 true, 0 false, 2 unknown. */
export function compareNumbers(op: CompareOp, left: number, right: number, tolerance: number): 0 | 1 | 2 {
  if (left !== left || right !== right) return 2;
  switch (op) {
    case 'gt':
      return left > right + tolerance ? 1 : 0;
    case 'gte':
      return left >= right - tolerance ? 1 : 0;
    case 'lt':
      return left < right - tolerance ? 1 : 0;
    case 'lte':
      return left <= right + tolerance ? 1 : 0;
    case 'eq':
      return Math.abs(left - right) <= tolerance ? 1 : 0;
    case 'neq':
      return Math.abs(left - right) > tolerance ? 1 : 0;
  }
}
