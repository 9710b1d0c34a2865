// The language stage: from a payload as sent to a strategy that can run. Other areas import from here.
export type * from './grammar/ast.ts';
export { Settings, StrategyAst } from './grammar/ast.ts';
export { describeCapabilities } from './capabilities.ts';
export { canonicalize } from './canonical/canonical.ts';
export {
  checkStrategy,
  type CheckContext,
  type CheckOutcome,
  type Payloads,
  type StrategyAnalysis,
} from './check/checkStrategy.ts';
export { strategyHash } from './canonical/content.ts';
export { SignalGraph } from './grammar/graph.ts';
export { ISSUE_CODES, severityOf, type IssueCode, type ValidationIssue } from './check/issues.ts';
export { type PatchOperation } from './check/patch.ts';
export { inferLookback, lookbackOf } from './canonical/lookback.ts';
export { lowerGraph } from './convert/lowerGraph.ts';
export { prepareStrategy, type PrepareContext, type Prepared, type RunInputs } from './canonical/prepare.ts';
export { compileTokens, Token, TOKEN_TYPES, type CompiledTokens, type TokenPayloads } from './convert/compileTokens.ts';
export { WIDEST_LIMITS, type LanguageLimits } from './check/tierLimits.ts';
export { childrenOf, rootsOf, type Root, type RootRole } from './grammar/visit.ts';
export { canonicalField } from './grammar/words.ts';
export { nearestName } from './check/nearest.ts';
export { pointerTo } from './pointer.ts';
