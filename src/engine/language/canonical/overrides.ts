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
  const draft = new Draft(payloads);
  /** The pointer as it was sent, by the place that it leads to. */
  const pointers = new Map<string, string>();
  for (const [pointer, value] of Object.entries(overrides)) {
    const segments = parsePointer(pointer);
    if (segments === undefined) {
      log.add('OUT_OF_RANGE', placeOf(pointer), {
        message: `${shown(pointer)} is not a JSON pointer.`,
        suggestion: 'Begin it with /strategyAst/strategy.',
      });
      continue;
    }
    const isFull = segments[0] === 'strategyAst' || segments[0] === 'signalGraph';
    if (!draft.setNumber(isFull ? segments : ['strategyAst', ...segments], value)) {
      log.add('OUT_OF_RANGE', placeOf(pointer), {
        message: `${shown(pointer)} does not lead to a number.`,
        suggestion: 'Point to a number of the payload, such as /strategyAst/strategy/risk/stopLoss/value.',
      });
    }
    pointers.set(isFull ? pointer : `/strategyAst${pointer}`, pointer);
  }
  const { strategyAst, signalGraph: graph } = draft.root as {
    strategyAst: StrategyAst;
    signalGraph?: SignalGraph;
  };
  const sentPlace = (place: string): string => {
    const pointer = pointers.get(place);
    return pointer === undefined ? place : placeOf(pointer);
  };
  const made = graph === signalGraph ? strategyAst : lowered(graph!, log, sentPlace);
  if (log.errorCount > 0 || made === undefined) return ast;
  for (const issue of checkStrategy({ strategyAst: made }).issues) {
    if (issue.severity === 'error') log.add(issue.code, sentPlace(issue.path), issue);
  }
  return made;
}

const placeOf = (pointer: string): string => pointerTo('/config/overrides', pointer);

function lowered(graph: SignalGraph, log: IssueLog, sentPlace: (place: string) => string): StrategyAst | undefined {
  const result = lowerGraph(graph);
  if (result.ok) return result.strategyAst;
  for (const issue of result.issues) if (issue.severity === 'error') log.add(issue.code, sentPlace(issue.path), issue);
  return undefined;
}

/**
 * A changed copy of a JSON value. Each object and list is copied at most once, however many numbers in it are set, so
 * the time is linear in what is sent.
 */
class Draft {
  readonly root: Container;
  readonly #copies = new Set<object>();

  constructor(original: Container) {
    this.root = this.#copyOf(original);
  }

  /** Replaces the number (or parameter) at the path; false when there is none. */
  setNumber(path: readonly string[], value: number): boolean {
    const last = path.length - 1;
    if (last < 0 || !isReplaceable(valueAt(this.root, path))) return false;
    let container = this.root;
    for (const name of path.slice(0, last)) {
      const below = container[name] as Container;
      container = container[name] = this.#copies.has(below) ? below : this.#copyOf(below);
    }
    container[path[last]] = value;
    return true;
  }

  #copyOf(original: Container): Container {
    const copy = (Array.isArray(original) ? [...(original as unknown[])] : { ...original }) as Container;
    this.#copies.add(copy);
    return copy;
  }
}

const isReplaceable = (value: unknown): boolean => typeof value === 'number' || isParamRef(value);

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !hasMember(value, name)) return undefined;
    value = (value as Container)[name];
  }
  return value;
}

/** The own members of an object, and the items of a list: its `length` is not one. */
const hasMember = (container: object, name: string): boolean =>
  Object.hasOwn(container, name) && !(Array.isArray(container) && name === 'length');
