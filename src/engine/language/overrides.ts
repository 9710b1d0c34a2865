// Overrides: numbers of a payload that one run changes by JSON pointer (design §3.1), without touching the payload.
import type { StrategyAst } from './ast.ts';
import { isParamRef } from './canonical.ts';
import type { IssueLog } from './issues.ts';
import { parsePointer, pointerTo } from './pointer.ts';

type Container = Record<string, unknown>;

/** A copy of the payload with the numbers at those pointers changed; parts that are not changed are shared. Faults are logged. */
export function applyOverrides(
  ast: StrategyAst,
  overrides: Readonly<Record<string, number>>,
  log: IssueLog,
): StrategyAst {
  let changed: unknown = ast;
  for (const [pointer, value] of Object.entries(overrides)) {
    const path = pointerTo('/config/overrides', pointer);
    const segments = parsePointer(pointer);
    if (segments === undefined) {
      log.add('OUT_OF_RANGE', path, {
        message: `${pointer} is no JSON pointer`,
        suggestion: 'begin with /strategyAst/strategy',
      });
      continue;
    }
    const below = segments[0] === 'strategyAst' ? segments.slice(1) : segments;
    const set = withNumber(changed, below, value);
    if (set === undefined) {
      log.add('OUT_OF_RANGE', path, {
        message: `there is no number at ${pointer}`,
        suggestion: 'point at a number of the strategyAst, e.g. /strategyAst/strategy/risk/stopLoss/value',
      });
    } else changed = set;
  }
  return changed as StrategyAst;
}

/** `container` with the number (or parameter) at the path replaced; undefined when there is none. */
function withNumber(container: unknown, path: readonly string[], value: number): unknown {
  if (path.length === 0) return typeof container === 'number' || isParamRef(container) ? value : undefined;
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, path[0])) return undefined;
  const below = withNumber((container as Container)[path[0]], path.slice(1), value);
  if (below === undefined) return undefined;
  if (Array.isArray(container)) return container.map((item, i) => (String(i) === path[0] ? below : item));
  return { ...container, [path[0]]: below };
}
