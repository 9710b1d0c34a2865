// The language stage: from a payload as sent to a strategy that can run. Other areas import from here.
export type * from './grammar/ast.ts';
export { Settings, StrategyAst } from './grammar/ast.ts';
export { describeCapabilities } from './capabilities.ts';
export { canonicalize } from './canonical/canonical.ts';
export { checkStrategy, type CheckContext, type CheckOutcome } from './check/checkStrategy.ts';
export { strategyHash } from './canonical/content.ts';
export { SignalGraph } from './grammar/graph.ts';
export { ISSUE_CODES, severityOf, type ValidationIssue } from './check/issues.ts';
export { type PatchOperation } from './check/patch.ts';
export { inferLookback } from './canonical/lookback.ts';
export { lowerGraph } from './convert/lowerGraph.ts';
export { prepareStrategy, type PrepareContext, type RunInputs } from './canonical/prepare.ts';
export { compileTokens } from './convert/compileTokens.ts';
export { canonicalField } from './grammar/words.ts';
export { nearestName } from './check/nearest.ts';
export { parsePointer, pointerTo } from './pointer.ts';
