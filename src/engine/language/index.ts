// The language stage: from a payload as sent to a strategy that can run. Others import from here.
export type * from './ast.ts';
export { canonicalise } from './canonical.ts';
export { strategyHash } from './content.ts';
export { ISSUE_CODES, severityOf, type IssueCode, type PatchOperation, type ValidationIssue } from './issues.ts';
export { inferLookback, lookbackOf } from './lookback.ts';
export { prepareStrategy, type PrepareContext, type Prepared, type RunInputs } from './prepare.ts';
export { childrenOf, rootsOf, visitExpressions, type Root, type RootRole } from './visit.ts';
