// Runnable form: canonical sections with numbers for parameters, and the issues that only numbers show.
import type { RunnableStrategy, Settings, StrategyAst } from '../grammar/ast.ts';
import { canonicalSections, type CanonicalSections } from '../canonical/canonical.ts';
import { Canonicalizer, type ParamValues } from '../canonical/canonicalizer.ts';
import type { ParamSlots } from '../canonical/paramSlots.ts';
import type { IssueLog } from '../issues/issues.ts';
import { checkAllocation } from './allocationChecks.ts';
import { checkSections, sectionsOf, type PointerOf } from './sectionChecks.ts';

/**
 * The sections of a strategy without errors, its params replaced by `values`. A value that does not fit its place is
 * reported.
 * @param sources filled with the object of `ast` that each rewritten expression and section was made from
 * @param slots what stands for params instead of their values, where that is possible
 */
export function runnableSections(
  ast: StrategyAst,
  values: ParamValues,
  log: IssueLog,
  pointerOf: PointerOf,
  sources?: Map<object, object>,
  slots?: ParamSlots,
): CanonicalSections {
  const canonicalizer = new Canonicalizer({
    keepNames: true,
    params: values,
    ...(sources && { sources }),
    ...(slots && { slots }),
    timezone: ast.strategy.defaults?.timezone ?? 'UTC',
    onIssue: (owner, member, code, message) => log.add(code, pointerOf(owner, ...member), { message }),
  });
  const rules = canonicalSections(ast, canonicalizer);
  checkSections(sectionsOf(ast.strategy), { log, pointerOf, values });
  checkAllocation(ast.strategy, { log, pointerOf, values });
  return rules;
}

/** The runnable strategy of these sections; `settings` take precedence over the strategy's own defaults. */
export function runnableStrategy(rules: CanonicalSections, ast: StrategyAst, settings: Settings): RunnableStrategy {
  const { defaults } = ast.strategy;
  return {
    entries: rules.entry,
    exits: rules.exits,
    allocation: rules.allocation,
    risk: rules.risk,
    timezone: defaults?.timezone ?? 'UTC',
    maxConcurrentPositions: settings.maxConcurrentPositions ?? defaults?.maxConcurrentPositions ?? 1,
    warmupBars: settings.warmupPeriod ?? defaults?.warmupBars ?? null,
    // The canonicalizer rewrites by shape, which types cannot follow; RunnableStrategy states what it writes.
  } as unknown as RunnableStrategy;
}
