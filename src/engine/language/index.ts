// The language stage: from a payload as sent to a strategy that can run. Others import from here.
export type * from './ast.ts';
export { Settings, StrategyAst } from './ast.ts';
export { describeCapabilities } from './capabilities.ts';
export { canonicalise } from './canonical.ts';
export { checkStrategy, type CheckContext, type CheckOutcome, type Payloads, type StrategyAnalysis } from './check.ts';
export { strategyHash } from './content.ts';
export { UNAVAILABLE_KINDS } from './expressionChecks.ts';
export { SignalGraph } from './graph.ts';
export { ISSUE_CODES, severityOf, type IssueCode, type PatchOperation, type ValidationIssue } from './issues.ts';
export { inferLookback, lookbackOf } from './lookback.ts';
export { lowerGraph } from './lower.ts';
export { prepareStrategy, type PrepareContext, type Prepared, type RunInputs } from './prepare.ts';
export { compileTokens, Token, TOKEN_TYPES, type CompiledTokens, type TokenPayloads } from './tokens.ts';
export { WIDEST_LIMITS, type LanguageLimits } from './tiers.ts';
export { childrenOf, rootsOf, visitExpressions, type Root, type RootRole } from './visit.ts';
export { canonicalField } from './words.ts';
