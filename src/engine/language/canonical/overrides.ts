// Overrides: numbers of a payload that one run replaces by JSON pointer, without changing the payload.
import type { StrategyAst } from '../grammar/ast.ts';
import { isParamRef } from './canonical.ts';
import { checkStrategy } from '../check/checkStrategy.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { shown } from '../check/displayNames.ts';
import type { IssueLog } from '../check/issues.ts';
import { lowerGraph } from '../convert/lowerGraph.ts';
import { parsePointer, pointerTo } from '../pointer.ts';

type Container = Record<string, unknown>;

/**
 * A copy of the AST with the numbers at those pointers replaced (unchanged parts are shared), checked as a whole. A
 * pointer leads into `/strategyAst`, into the AST from its root (`/strategy/…`), or into `/signalGraph`, which is then
 * lowered again. Issues are logged.
 */
export function applyOverrides(
  ast: StrategyAst,
  signalGraph: SignalGraph | undefined,
  overrides: Readonly<Record<string, number>>,
  log: IssueLog,
): StrategyAst {
  const payloads: Container = { strategyAst: ast, ...(signalGraph === undefined ? {} : { signalGraph }) };
  let changed: unknown = payloads;
  const places = new Map<string, string>();
  for (const [pointer, value] of Object.entries(overrides)) {
    const path = pointerTo('/config/overrides', pointer);
    const segments = parsePointer(pointer);
    if (segments === undefined) {
      log.add('OUT_OF_RANGE', path, {
        message: `${shown(pointer)} is not a JSON pointer.`,
        suggestion: 'Begin it with /strategyAst/strategy.',
      });
      continue;
    }
    const full =
      segments[0] === 'strategyAst' || segments[0] === 'signalGraph' ? segments : ['strategyAst', ...segments];
    const set = withNumber(changed, full, value);
    if (set === undefined) {
      log.add('OUT_OF_RANGE', path, {
        message: `${shown(pointer)} does not lead to a number.`,
        suggestion: 'Point to a number of the payload, such as /strategyAst/strategy/risk/stopLoss/value.',
      });
    } else changed = set;
    places.set(pointerTo('', ...full), path);
  }
  const { strategyAst, signalGraph: graph } = changed as { strategyAst: StrategyAst; signalGraph?: SignalGraph };
  const made = graph === signalGraph ? strategyAst : lowered(graph!, log, places);
  if (log.errorCount > 0 || made === undefined) return ast;
  for (const issue of checkStrategy({ strategyAst: made }).issues) {
    if (issue.severity === 'error') log.add(issue.code, places.get(issue.path) ?? issue.path, issue);
  }
  return made;
}

function lowered(graph: SignalGraph, log: IssueLog, places: ReadonlyMap<string, string>): StrategyAst | undefined {
  const result = lowerGraph(graph);
  if (result.ok) return result.strategyAst;
  for (const issue of result.issues)
    if (issue.severity === 'error') log.add(issue.code, places.get(issue.path) ?? issue.path, issue);
  return undefined;
}

/** `container` with the number (or parameter) at the path replaced; undefined when there is none at that path. */
function withNumber(container: unknown, path: readonly string[], value: number): unknown {
  if (path.length === 0) return typeof container === 'number' || isParamRef(container) ? value : undefined;
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, path[0])) return undefined;
  const below = withNumber((container as Container)[path[0]], path.slice(1), value);
  if (below === undefined) return undefined;
  if (Array.isArray(container)) return container.map((item: unknown, i) => (String(i) === path[0] ? below : item));
  return { ...container, [path[0]]: below };
}
