// Checking: every issue of a strategy's payloads in one pass, and what they compile to when there is no error among them.
import type { Settings, StrategyAst } from './ast.ts';
import { canonicalise } from './canonical.ts';
import { contentOf, strategyHash } from './content.ts';
import { firstDifference } from './difference.ts';
import { IssueLog, type ValidationIssue } from './issues.ts';
import { checkPayload, NO_ANALYSIS, type CheckContext, type CheckedPayload, type StrategyAnalysis } from './judge.ts';
import { SETTINGS_SHAPE } from './shapes.ts';
import { Structure } from './structure.ts';

export type { CheckContext, StrategyAnalysis } from './judge.ts';

/** The members of a strategy write that are checked here; whether they may be there at all is the caller's envelope. */
export interface Payloads {
  readonly settings?: unknown;
  readonly strategyAst?: unknown;
  readonly signalGraph?: unknown;
}
export interface Compiled {
  /** The payload's AST as sent, or what its graph lowers to. */
  readonly strategyAst: StrategyAst;
  readonly canonical: StrategyAst;
  readonly strategyHash: string;
}
export interface CheckOutcome {
  /** No issue is an error. */
  readonly valid: boolean;
  /** Of all issues found, also those past the hundredth. */
  readonly summary: { readonly errors: number; readonly warnings: number };
  /** Errors first, at most 100. */
  readonly issues: readonly ValidationIssue[];
  readonly issueCount: number;
  readonly analysis: StrategyAnalysis;
  readonly compiled: Compiled | null;
  /** An entry can never be true: finalizing asks for `ignoreWarnings`. */
  readonly requiresConfirmation: boolean;
}

/** All issues of the payloads, however wrong they are; it never throws. */
export function checkStrategy(payloads: Payloads, context: CheckContext = {}): CheckOutcome {
  const log = new IssueLog();
  const { settings = {}, strategyAst, signalGraph } = payloads;
  new Structure(log).check(SETTINGS_SHAPE, settings, '/settings');
  const rightSettings: Settings = log.errorCount === 0 ? (settings as Settings) : {};
  if (strategyAst === undefined && signalGraph === undefined) {
    log.add('PAYLOAD_REQUIRED', '', {
      message: 'neither strategyAst nor signalGraph is given',
      suggestion: 'send at least one of the two',
    });
  }
  const check = (member: 'strategyAst' | 'signalGraph', value: unknown): CheckedPayload | undefined =>
    value === undefined ? undefined : checkPayload(member, value, { ...context, settings: rightSettings, log });
  const ast = check('strategyAst', strategyAst);
  const graph = check('signalGraph', signalGraph);
  const isAgreed = agree(ast, graph, log);
  const checked = ast ?? graph;
  const isValid = log.errorCount === 0;
  const chosen = isValid && isAgreed ? checked?.ast : undefined;
  return {
    valid: isValid,
    summary: { errors: log.errorCount, warnings: log.warningCount },
    issues: log.list(),
    issueCount: log.errorCount + log.warningCount,
    analysis: checked?.analysis ?? NO_ANALYSIS,
    compiled:
      chosen == null
        ? null
        : { strategyAst: chosen, canonical: canonicalise(chosen), strategyHash: strategyHash(chosen, rightSettings) },
    requiresConfirmation: log.has('CONTRADICTION'),
  };
}

/** PAYLOADS_DISAGREE when both are right by themselves and mean different things. */
function agree(ast: CheckedPayload | undefined, graph: CheckedPayload | undefined, log: IssueLog): boolean {
  if (ast?.ast == null || graph?.ast == null) return true;
  const [left, right] = [canonicalise(ast.ast), canonicalise(graph.ast)];
  if (contentOf(left).text === contentOf(right).text) return true;
  const place = firstDifference({ ...left.strategy, defaults: undefined }, { ...right.strategy, defaults: undefined });
  log.add('PAYLOADS_DISAGREE', '/signalGraph', {
    message: `strategyAst and signalGraph mean different strategies: in canonical form they differ at /strategy${place}`,
    suggestion: 'send one of the two',
  });
  return false;
}
