// Checking: every issue of a strategy's payloads in one pass, and what the payloads compile to when none is an error.
import type { Settings, StrategyAst } from '../grammar/ast.ts';
import { canonicalize } from '../canonical/canonical.ts';
import { contentOf, strategyHash } from '../canonical/content.ts';
import { IssueLog, type ValidationIssue } from '../issues/issues.ts';
import { checkPayload, type CheckContext, type CheckedPayload } from './checkPayload.ts';
import type { PayloadMember } from './readPayload.ts';
import { certainMember, requestFaults } from './requestFaults.ts';
import { parsePointer, pointerTo } from '../pointer.ts';
import { SETTINGS_SHAPE } from '../grammar/shapes.ts';
import { NO_ANALYSIS, type StrategyAnalysis } from './strategyAnalysis.ts';
import { Structure } from '../form/structure.ts';

export type { CheckContext } from './checkPayload.ts';

/**
 * The members of a strategy request that are checked here. Whether a request may have them is checked by the caller.
 */
interface Payloads {
  readonly settings?: unknown;
  readonly strategyAst?: unknown;
  readonly signalGraph?: unknown;
}
interface Compiled {
  /** The payload's AST as sent, or what its graph lowers to. */
  readonly strategyAst: StrategyAst;
  readonly canonical: StrategyAst;
  readonly strategyHash: string;
}
export interface CheckOutcome {
  /** True when no issue is an error. */
  readonly valid: boolean;
  /** Counts of all issues found, including those beyond the hundredth. */
  readonly summary: { readonly errors: number; readonly warnings: number };
  /** Errors first, at most 100. */
  readonly issues: readonly ValidationIssue[];
  readonly issueCount: number;
  readonly analysis: StrategyAnalysis;
  readonly compiled: Compiled | null;
  /** An entry can never be true: finalizing requires `ignoreWarnings`. */
  readonly requiresConfirmation: boolean;
}

/** Finds all issues of the payloads. Never throws, whatever the payloads hold. */
export function checkStrategy(sent: Payloads, context: CheckContext = {}): CheckOutcome {
  const log = new IssueLog();
  const { faults, body } = requestFaults({ ...sent });
  for (const { code, path, ...details } of faults) log.addOfRequest(code, path, details);
  const { settings = {}, strategyAst, signalGraph }: Payloads = body;
  new Structure(log).check(SETTINGS_SHAPE, settings, '/settings');
  const validSettings: Settings = log.errorCount === 0 ? (settings as Settings) : {};
  if (strategyAst === undefined && signalGraph === undefined) {
    log.add('PAYLOAD_REQUIRED', '', {
      message: 'The request has neither strategyAst nor signalGraph.',
      suggestion: 'Send at least one of the two.',
    });
  }
  const check = (member: PayloadMember, value: unknown): CheckedPayload | undefined => {
    if (value === undefined) return undefined;
    const kind = certainMember(value) ?? member;
    return checkPayload(kind, value, { ...context, settings: validSettings, log }, `/${member}`);
  };
  const ast = check('strategyAst', strategyAst);
  const graph = check('signalGraph', signalGraph);
  const isAgreed = checkAgreement(ast, graph, log);
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
        : { strategyAst: chosen, canonical: canonicalize(chosen), strategyHash: strategyHash(chosen, validSettings) },
    requiresConfirmation: log.has('CONTRADICTION'),
  };
}

/** Reports PAYLOADS_DISAGREE, and returns false, when both payloads are valid and mean different strategies. */
function checkAgreement(ast: CheckedPayload | undefined, graph: CheckedPayload | undefined, log: IssueLog): boolean {
  if (ast?.ast == null || graph?.ast == null) return true;
  const sources = new Map<object, object>();
  const [left, right] = [canonicalize(ast.ast, sources), canonicalize(graph.ast, sources)];
  if (contentOf(left).text === contentOf(right).text) return true;
  const withoutDefaults = ({ strategy }: StrategyAst): object => ({ ...strategy, defaults: undefined });
  const place = firstDifference(withoutDefaults(left), withoutDefaults(right)) ?? '';
  const inAst = placeIn(left, place, sources, ast);
  const inGraph = placeIn(right, place, sources, graph);
  log.add('PAYLOADS_DISAGREE', '/signalGraph', {
    message: `strategyAst and signalGraph are different strategies: ${inAst} differs from ${inGraph}.`,
    suggestion: 'Make them equal, or send only one of the two.',
  });
  return false;
}

/** The nearest place of the payload as sent to a place of its canonical form. */
function placeIn(
  { strategy }: StrategyAst,
  pointer: string,
  sources: ReadonlyMap<object, object>,
  { ast, placeOf }: CheckedPayload,
): string {
  let made: unknown = strategy;
  let source: unknown = ast!.strategy;
  let place = placeOf(ast!.strategy);
  for (const segment of parsePointer(pointer)!) {
    if (typeof made !== 'object' || made === null) break;
    made = Reflect.get(made, segment);
    const known = typeof made === 'object' && made !== null ? sources.get(made) : undefined;
    if (known !== undefined) {
      source = known;
      place = placeOf(known);
    } else if (typeof source === 'object' && source !== null && Object.hasOwn(source, segment)) {
      source = Reflect.get(source, segment);
      place = pointerTo(place, segment);
    } else source = undefined;
  }
  return place;
}

/** Pointer to the first place, in the order of the left value, where they differ; undefined when they are equal. */
function firstDifference(left: unknown, right: unknown, pointer = ''): string | undefined {
  if (left === right) return undefined;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return pointer;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const name of names) {
    const [a, b] = [(left as Record<string, unknown>)[name], (right as Record<string, unknown>)[name]];
    const found = firstDifference(a, b, pointerTo(pointer, name));
    if (found !== undefined) return found;
  }
  return undefined;
}
