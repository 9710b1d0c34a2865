// Repairs: certain patches applied to a copy of the payload, so that what errors hide is checked in the same pass.
import type { PatchOperation } from './patch.ts';
import { parsePointer, valueAtPath } from '../pointer.ts';

type Json = Record<string, unknown>;

/** How often what repairs uncover is repaired as well. */
export const MAX_ROUNDS = 4;

const depthOf = (pointer: string): number => pointer.split('/').length;

/**
 * Puts patches in an order in which all of them can be applied: repairs in place first, then moves of members, those
 * from the deepest places first. Every pointer can then refer to the payload as it was sent.
 */
export function inOrder<T>(items: readonly T[], patchOf: (item: T) => readonly PatchOperation[]): T[] {
  const moves = (item: T): boolean => patchOf(item).some(({ op }) => op === 'move');
  const deepest = (item: T): number =>
    Math.max(...patchOf(item).map((step) => depthOf(step.op === 'move' ? step.from : step.path)));
  const renames = items.filter(moves).sort((a, b) => deepest(b) - deepest(a));
  return [...items.filter((item) => !moves(item)), ...renames];
}

/** A copy of the request body with the patches applied; a step that finds nothing to change is skipped. */
export const repaired = (body: Readonly<Json>, steps: readonly PatchOperation[]): Json => repairedInTurn(body, [steps]);

/** The same with patches of which each is of what those before it have made. */
export function repairedInTurn(body: Readonly<Json>, patches: Iterable<readonly PatchOperation[]>): Json {
  const copy = structuredClone(body);
  for (const patch of patches) for (const step of inOrder(patch, (one) => [one])) apply(copy, step);
  return copy;
}

function apply(copy: Json, step: PatchOperation): void {
  const target = placeOf(copy, step.path);
  if (target === undefined) return;
  const [owner, name] = target;
  if (step.op === 'remove') delete owner[name];
  else if (step.op !== 'move') set(owner, name, structuredClone(step.value));
  else {
    const source = placeOf(copy, step.from);
    if (source === undefined) return;
    set(owner, name, source[0][source[1]]);
    delete source[0][source[1]];
  }
}

/** Uses defineProperty, so that a member named __proto__ stays a member. */
function set(owner: Json, name: string, value: unknown): void {
  if (Array.isArray(owner) && name === '-') return void owner.push(value);
  Object.defineProperty(owner, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The object or list that has the member a pointer leads to, and its name; undefined: there is no such owner. */
function placeOf(body: Json, pointer: string): [owner: Json, name: string] | undefined {
  const segments = parsePointer(pointer)!;
  const name = segments.pop()!;
  const owner = valueAtPath(body, segments);
  return typeof owner === 'object' && owner !== null ? [owner as Json, name] : undefined;
}

/** From places of the repaired copy to the nearest places that exist in `body`, which was repaired by these steps. */
export function placeBefore(steps: readonly PatchOperation[], body: Readonly<Json>): (pointer: string) => string {
  const renames = steps
    .flatMap((step) => (step.op === 'move' ? [step] : []))
    .sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const replaced = new Set(steps.flatMap((step) => (step.op === 'replace' || step.op === 'add' ? [step.path] : [])));
  const lists = steps.flatMap(({ path }) => (path.endsWith('/-') ? [path.slice(0, -2)] : []));
  const appended = new Map(lists.map((list) => [list, lengthOf(valueAtPath(body, parsePointer(list)!))]));
  return (pointer) => {
    let sent = pointer;
    for (const { from, path } of renames) {
      if (sent === path || sent.startsWith(`${path}/`)) sent = from + sent.slice(path.length);
    }
    for (let at = sent.indexOf('/', 1); at > 0; at = sent.indexOf('/', at + 1)) {
      const above = sent.slice(0, at);
      const isAppended = Number.parseInt(sent.slice(at + 1), 10) >= (appended.get(above) ?? Infinity);
      if (replaced.has(above) || isAppended) return above;
    }
    return sent;
  };
}

/** The place of a member of the body after these steps, in their order, have moved it. */
export const placeAfter = (steps: readonly PatchOperation[], pointer: string): string =>
  steps.reduce((place, step) => {
    const isMoved = step.op === 'move' && (place === step.from || place.startsWith(`${step.from}/`));
    return isMoved ? step.path + place.slice(step.from.length) : place;
  }, pointer);

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
