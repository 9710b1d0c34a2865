// Overrides: numbers of a payload that one run replaces by JSON pointer, in a draft, which is a changed copy that
// shares what is not changed.
import type { StrategyAst } from '../grammar/ast.ts';
import { checkStrategy } from '../check/checkStrategy.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueDetails, IssueLog } from '../issues/issues.ts';
import { locate } from '../issues/locate.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { parsePointer, pointerTo, valueAtPath } from '../pointer.ts';
import { isParamRef } from '../grammar/shapes.ts';

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
  const pointers = replaceNumbers(draft, payloads, overrides, log);
  if (log.errorCount > 0) return ast;
  const { strategyAst, signalGraph: graph } = draft.root as {
    strategyAst: StrategyAst;
    signalGraph?: SignalGraph;
  };
  const isInGraph = graph !== signalGraph;
  const { issues, compiled } = checkStrategy(isInGraph ? { signalGraph: graph } : { strategyAst });
  for (const { code, path, severity, message, suggestion, patch } of issues) {
    if (severity !== 'error') continue;
    log.add(code, sentPlace(path, pointers), { message, suggestion, patch: patchOfConfig(patch, pointers) });
  }
  return isInGraph ? (compiled?.strategyAst ?? ast) : strategyAst;
}

/** The pointers as they were sent, by the places that they lead to. */
type SentPointers = ReadonlyMap<string, string>;

/** Replaces the numbers in the draft, and reports the pointers that lead to none. */
function replaceNumbers(
  draft: Draft,
  payloads: Container,
  overrides: Readonly<Record<string, number>>,
  log: IssueLog,
): SentPointers {
  const pointers = new Map<string, string>();
  let numbers: NumbersByNames | undefined;
  const report = (pointer: string, fault: string): void =>
    log.add('OUT_OF_RANGE', placeOf(pointer), () => ({
      message: `${shown(pointer)} ${fault}`,
      ...repairOf(pointer, (numbers ??= byNames(numbersIn(payloads)))),
    }));
  for (const [pointer, value] of Object.entries(overrides)) {
    const path = overriddenPath(pointer);
    if (path === undefined) {
      report(pointer, 'is not a JSON pointer.');
      continue;
    }
    if (!draft.replaceNumber(path, value)) report(pointer, 'does not lead to a number.');
    pointers.set(pointerTo('', ...path), pointer);
  }
  return pointers;
}

/** A place in the payload as the place of its override in the config; other places stay as they are. */
function sentPlace(place: string, pointers: SentPointers): string {
  const pointer = pointers.get(place);
  return pointer === undefined ? place : placeOf(pointer);
}

/** A patch of the payload as one of the config; undefined where it changes more than the overrides. */
function patchOfConfig(patch: readonly PatchOperation[] = [], pointers: SentPointers): PatchOperation[] | undefined {
  const steps = patch.filter(({ op, path }) => op === 'replace' && pointers.has(path));
  const isWhole = steps.length > 0 && steps.length === patch.length;
  return isWhole ? steps.map((step) => ({ ...step, path: sentPlace(step.path, pointers) })) : undefined;
}

/** The path of a pointer from the members of a request down; undefined when it is not a pointer. */
export function overriddenPath(pointer: string): readonly string[] | undefined {
  const segments = parsePointer(pointer);
  const isFull = segments?.[0] === 'strategyAst' || segments?.[0] === 'signalGraph';
  return segments === undefined || isFull ? segments : ['strategyAst', ...segments];
}

/** The place of an override in the request. */
const placeOf = (pointer: string): string => pointerTo('/config/overrides', pointer);

/** The most numbers of a payload that a pointer is compared with. */
const MAX_COMPARED = 2_000;

/** The pointers of the numbers of the payload as it was sent. */
function numbersIn({ strategyAst, signalGraph }: Container): string[] {
  const numbers: string[] = [];
  for (const [owner, place] of locate(signalGraph === undefined ? { strategyAst } : { signalGraph }, '')) {
    for (const [name, value] of Object.entries(owner)) {
      const pointer = pointerTo(place, name);
      if (typeof value === 'number' && !/^\/\w+\/version$/.test(pointer)) numbers.push(pointer);
      if (numbers.length === MAX_COMPARED) return numbers;
    }
  }
  return numbers;
}

/** Pointers of numbers by their names, so that a hundred wrong overrides do not each compare thousands. */
type NumbersByNames = ReadonlyMap<string, readonly string[]>;

const byNames = (numbers: readonly string[]): NumbersByNames => Map.groupBy(numbers, namesOf);

/** The names in a pointer, without indexes and without its beginning. */
const namesOf = (pointer: string): string =>
  pointer
    .split('/')
    .filter((each) => each !== '' && !/^\d+$/.test(each) && each !== 'strategyAst' && each !== 'strategy')
    .join('/');

/** The one number whose pointer has the same names in the same order, whatever the indexes and however it begins. */
function repairOf(pointer: string, numbers: NumbersByNames): Omit<IssueDetails, 'message'> {
  const alike = numbers.get(namesOf(pointer)) ?? [];
  if (alike.length !== 1) {
    const [[example] = ['/strategyAst/strategy/…']] = numbers.values();
    return { suggestion: `Point to a number of the payload as it was sent, such as ${example}.` };
  }
  const [found] = alike;
  const suggestion = `Did you mean "${found}"?`;
  // Another index is another rule; the first of a list that is none, or of one that is not counted, is the same.
  const indexesOf = (text: string): string =>
    text
      .split('/')
      .filter((each) => /^\d+$/.test(each))
      .join();
  const given = indexesOf(pointer);
  const isSame = given === '' || given === indexesOf(found) || (/^0(?:,0)*$/.test(given) && indexesOf(found) === '');
  return isSame
    ? { suggestion, patch: [{ op: 'move', from: placeOf(pointer), path: placeOf(found) }] }
    : { suggestion };
}

export type Container = Record<string, unknown>;

/**
 * A changed copy of a JSON value. Each object and list is copied at most once, however many numbers in it are set, so
 * the time is linear in what is sent.
 */
export class Draft {
  readonly root: Container;
  readonly #copies = new Set<object>();

  constructor(original: Container) {
    this.root = this.#copyOf(original);
  }

  /** Replaces the number (or parameter) at the path; false when there is none. */
  replaceNumber(path: readonly string[], value: number): boolean {
    const isThere = path.length > 0 && isReplaceable(this.at(path));
    if (isThere) this.set(path, value);
    return isThere;
  }

  at(path: readonly string[]): unknown {
    return valueAtPath(this.root, path);
  }

  /** Sets a member of an object or list that is there. */
  set(path: readonly string[], value: unknown): void {
    const last = path.length - 1;
    let container = this.root;
    for (const name of path.slice(0, last)) {
      const below = container[name] as Container;
      container = container[name] = this.#copies.has(below) ? below : this.#copyOf(below);
    }
    container[path[last]] = value;
  }

  #copyOf(original: Container): Container {
    const copy = (Array.isArray(original) ? [...(original as unknown[])] : { ...original }) as Container;
    this.#copies.add(copy);
    return copy;
  }
}

const isReplaceable = (value: unknown): boolean => typeof value === 'number' || isParamRef(value);
