// Tier limits on the size of a strategy, counted on the payload as it is written.
import type { Expression } from '../grammar/ast.ts';
import type { IssueLog } from '../issues/issues.ts';
import { conditionKindIfAny } from '../../definitions/expressions/expressionRegistry.ts';
import { childSlots } from '../grammar/visit.ts';

/** What the caller's tier allows; the numbers are the caller's. */
export interface LanguageLimits {
  /** Leaf conditions of all entries together, and of all exits together. */
  readonly entryConditions: number;
  readonly exitConditions: number;
  readonly exits: number;
  /** Expression nodes, and how deep they nest. */
  readonly nodes: number;
  readonly depth: number;
}

/** The limits of the largest tier, for callers without one (the command line). */
export const WIDEST_LIMITS: LanguageLimits = {
  entryConditions: 100,
  exitConditions: 100,
  exits: 20,
  nodes: 1_024,
  depth: 32,
};

export interface Census {
  readonly entryConditions: number;
  readonly exitConditions: number;
  readonly nodes: number;
  readonly depth: number;
  readonly exits: number;
}

/** Counts expressions, each object once: a node that is used twice is one node. */
export function countExpressions(
  entries: readonly Expression[],
  exits: readonly Expression[],
  others: readonly Expression[],
  exitCount: number,
): Census {
  const all = new Set<Expression>();
  const depths = new Map<Expression, number>();
  const leavesOf = (roots: readonly Expression[]): number => {
    const seen = new Set<Expression>();
    const walk = (expression: Expression): number => {
      const known = depths.get(expression);
      if (seen.has(expression)) return known!;
      seen.add(expression);
      const depth = childSlots(expression).reduce((deepest, child) => Math.max(deepest, walk(child.expression)), 0) + 1;
      depths.set(expression, depth);
      return depth;
    };
    for (const root of roots) walk(root);
    for (const expression of seen) all.add(expression);
    return [...seen].filter(isLeafCondition).length;
  };
  const entryConditions = leavesOf(entries);
  const exitConditions = leavesOf(exits);
  leavesOf(others);
  const depth = [...depths.values()].reduce((deepest, one) => Math.max(deepest, one), 0);
  return { entryConditions, exitConditions, nodes: all.size, depth, exits: exitCount };
}

const isLeafCondition = (expression: Expression): boolean => conditionKindIfAny(expression)?.role === 'leaf';

/** The places at which exceeded limits are reported. */
interface LimitPlaces {
  readonly entry: string;
  readonly exits: string;
  readonly nodes: string;
  readonly root: string;
}

/** Reports every limit that a strategy exceeds, at the place that exceeds it. */
export function checkLimits(census: Census, limits: LanguageLimits, places: LimitPlaces, log: IssueLog): void {
  const over = (
    code: 'TIER_LIMIT_CONDITIONS' | 'TIER_LIMIT_NODES' | 'TIER_LIMIT_EXITS' | 'PAYLOAD_TOO_DEEP',
    path: string,
    what: string,
    name: keyof LanguageLimits,
  ): void => {
    if (census[name] <= limits[name]) return;
    log.add(code, path, {
      message: `The strategy has ${census[name]} ${what}, and this tier allows ${limits[name]}.`,
      suggestion:
        limits[name] < WIDEST_LIMITS[name] ? 'Simplify the strategy, or upgrade the plan.' : 'Simplify the strategy.',
    });
  };
  over('TIER_LIMIT_CONDITIONS', places.entry, 'entry conditions', 'entryConditions');
  over('TIER_LIMIT_CONDITIONS', places.exits, 'exit conditions', 'exitConditions');
  over('TIER_LIMIT_EXITS', places.exits, 'exits', 'exits');
  over('TIER_LIMIT_NODES', places.nodes, 'nodes', 'nodes');
  over('PAYLOAD_TOO_DEEP', places.root, 'levels of nested expressions', 'depth');
}
