// Stand-in of what the language stage still lacks. To be deleted.
import type { ValidationIssue } from '../engine/index.ts';

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
