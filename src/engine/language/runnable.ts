// Runnable form: canonical rules with numbers for parameters, and the faults that only show once the numbers are known.
import type { RunnableStrategy, Settings, StrategyAst } from './ast.ts';
import { canonicalRules, Canonicaliser, type CanonicalRules, type ParamValues } from './canonical.ts';
import type { IssueLog } from './issues.ts';
import { checkRules, sectionsOf, type PointerOf } from './rules.ts';

/** The rules of a strategy without errors, its params replaced by `values`. What a value breaks is logged. */
export function concreteRules(
  ast: StrategyAst,
  values: ParamValues,
  log: IssueLog,
  pointerOf: PointerOf,
): CanonicalRules {
  const canonicaliser = new Canonicaliser({
    keepNames: true,
    params: values,
    timezone: ast.strategy.defaults?.timezone ?? 'UTC',
    onFault: (owner, member, code, message) => log.add(code, pointerOf(owner, ...member), { message }),
  });
  const rules = canonicalRules(ast, canonicaliser);
  checkRules(sectionsOf(ast.strategy), { log, pointerOf, values });
  return rules;
}

export function runnableStrategy(rules: CanonicalRules, ast: StrategyAst, settings: Settings): RunnableStrategy {
  const { defaults } = ast.strategy;
  return {
    entries: rules.entry,
    exits: rules.exits,
    risk: rules.risk,
    timezone: defaults?.timezone ?? 'UTC',
    maxConcurrentPositions: settings.maxConcurrentPositions ?? defaults?.maxConcurrentPositions ?? 1,
    warmupBars: settings.warmupPeriod ?? defaults?.warmupBars ?? null,
  } as unknown as RunnableStrategy;
}
