// Stand-in of the language stage until it lands: schema faults only. To be deleted.
import { StrategyAst, Settings } from '../engine/language/strategy.ts';
import type { ValidationIssue } from '../engine/language/index.ts';
import type { TierLimits } from '../tiers.ts';

export interface CheckOutcome {
  readonly valid: boolean;
  readonly summary: { readonly errors: number; readonly warnings: number };
  readonly issues: readonly ValidationIssue[];
  readonly analysis: Readonly<Record<string, unknown>> | null;
  readonly compiled: { readonly strategyAst: StrategyAst; readonly canonical: StrategyAst } | null;
  readonly requiresConfirmation: boolean;
}
export function checkStrategy(
  payloads: { settings: unknown; strategyAst?: unknown; signalGraph?: unknown },
  _context: { limits: TierLimits; knownSymbols?: ReadonlySet<string> },
): CheckOutcome {
  const settings = Settings.safeParse(payloads.settings);
  const ast = StrategyAst.safeParse(payloads.strategyAst);
  const issues = [
    ...(settings.error?.issues ?? []).map((issue) => ({ ...issue, path: ['settings', ...issue.path] })),
    ...(ast.error?.issues ?? []).map((issue) => ({ ...issue, path: ['strategyAst', ...issue.path] })),
  ].map((issue) => ({
    code: 'TYPE_MISMATCH' as const,
    path: `/${issue.path.join('/')}`,
    field: String(issue.path[0]),
    severity: 'error' as const,
    message: issue.message,
  }));
  const compiled = ast.success ? { strategyAst: ast.data, canonical: ast.data } : null;
  const valid = issues.length === 0;
  return {
    valid,
    summary: { errors: issues.length, warnings: 0 },
    issues,
    analysis: {},
    compiled,
    requiresConfirmation: false,
  };
}
export const describeCapabilities = (): Record<string, unknown> => ({
  indicators: [],
  signalGraph: {},
  strategyAst: {},
  operators: {},
  enums: {},
  validationIssue: {},
});
export const compileTokens = (
  _body: unknown,
): { valid: boolean; issues: ValidationIssue[]; strategyAst: object | null } => ({
  valid: false,
  issues: [],
  strategyAst: null,
});
