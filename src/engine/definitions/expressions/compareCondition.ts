// The condition `compare`: two values compared by an operator.
import { z } from 'zod';
import { named, tolerance } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { COMPARE_OPS } from '../words.ts';
import { comparedInLoop, eachSide, needOfPair, sidesOf } from './comparisons.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { valuePlace } from './places.ts';
import { boundsOfComparison, RELATIONS, type Comparison } from './relations.ts';
import { compareStep } from './planSteps.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('compare'),
  op: z.enum(COMPARE_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  tolerance: tolerance.default(0),
  left: valuePlace,
  right: valuePlace,
});

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '=', neq: '≠' } as const;

export const compareCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description: 'Compares two values. Unknown where one of them is missing.',
  nsPerBar: 0.7,
  check: null,
  rewrite: null,
  role: 'leaf',
  sides: { of: sidesOf },
  comparesOrder: true,
  scaled: eachSide,
  infers: {
    assume: (node, isNegated, known) => {
      const comparison = comparisonOf(node);
      return comparison === undefined || known.compare(comparison, isNegated);
    },
    isAlways: (_node, _ranges, canBeFalse) => !canBeFalse(),
    bounds: (node, ranges) => {
      const comparison = comparisonOf(node);
      return comparison && boundsOfComparison(comparison, (value) => ranges.of(value));
    },
  },
  warn: ({ op, tolerance: slack, left, right }, check) => {
    if ((op !== 'eq' && op !== 'neq') || (slack ?? 0) !== 0) return;
    if (check.isInexact(left, right)) check.warn('FLOAT_EQUALITY', 'op', EQUALITY_ADVICE[op]);
  },
  advice: {
    ofOverlap:
      'The ranges of the two sides overlap, so another threshold does not help: they never stand this way on the ' +
      'same bar. Compare with an earlier bar (offset 1 on one side), or relate other values.',
  },
  text: ({ left, op, right, tolerance: slack }, write) =>
    `${write.text(left)} ${SIGNS[op]} ${write.text(right)}${slack ? ` ± ${slack}` : ''}`,
  lookback: needOfPair,
  step: (node, steps, ambient) => compareStep(steps, node.op, [node.left, node.right], node.tolerance, ambient),
  operation: null,
  overState: {
    read: (node, parts) => comparedInLoop(node.op, parts.value(node.left), parts.value(node.right), node.tolerance),
    keeps: () => 1,
  },
};

/** The comparison that a true condition implies on this bar; with a tolerance, none. */
const comparisonOf = ({ op, tolerance: slack, left, right }: z.input<typeof schema>): Comparison | undefined =>
  slack === undefined || slack === 0 ? { left, right, relation: RELATIONS[op] } : undefined;

/** What authors mean by equal numbers differs, so that there is no patch. */
const EQUALITY_ADVICE = {
  eq: {
    message: 'Computed numbers are rarely equal to the last digit, so this is true on few bars or none.',
    suggestion:
      'Use kind "cross" with op "cross_any" for the bar on which one reaches the other, or add a `tolerance` for ' +
      'numbers close to each other.',
  },
  neq: {
    message: 'Computed numbers differ in the last digit on nearly every bar, so this is nearly always true.',
    suggestion: 'Add a `tolerance`: how far apart they must be. Or use gt or lt.',
  },
} as const;
