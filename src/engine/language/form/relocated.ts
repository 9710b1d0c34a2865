// Relocated members: members of an object that belong into one of its other members, each with what to report and the
// patch that moves it there.
import { atrLevel } from '../../definitions/levels/atrLevel.ts';
import { percentLevel } from '../../definitions/levels/percentLevel.ts';
import type { Field, ObjectShape, Shape } from '../grammar/shapes.ts';
import { synonymIn, synonymousMember } from '../hints/synonyms.ts';
import { isTooLong, unknownMember, type Fault, type FindNearest } from './fault.ts';
import { clockMeant } from './certainRepairs.ts';
import { argumentsBeside, MAX_RENAMES } from './misplaced.ts';
import { plain } from '../issues/nearest.ts';
import { addMember, moveMember, removeMember, replaceMember, type PatchOperation } from '../issues/patch.ts';
import { foreignMemberAdvice } from '../hints/foreignMembers.ts';
import { readingOf } from '../hints/hintTable.ts';
import { pointerTo } from '../pointer.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/**
 * The unknown members of `value` that certainly belong into another of its members.
 * @param misspelled from names to the names they were written with, which stay where they are
 * @param findNearest undefined: nothing is searched for, because the issues are only counted
 */
export function relocatedMembers(
  shape: ObjectShape,
  value: Members,
  unknown: readonly string[],
  misspelled: ReadonlyMap<string, string>,
  pointer: string,
  findNearest: FindNearest | undefined,
): ReadonlyMap<string, Fault> {
  if (findNearest === undefined || unknown.length === 0) return new Map();
  const renamed = new Set(misspelled.values());
  const faults = misspelled.has('args') ? new Map<string, Fault>() : argumentsBeside(value, unknown, pointer);
  const made = new Set<string>();
  for (const name of unknown.slice(0, MAX_RENAMES)) {
    if (renamed.has(name) || faults.has(name)) continue;
    const fault =
      listedOperands(shape, value, name, pointer) ??
      unitInName(shape, value, name, pointer, made) ??
      insideFault(shape, value, name, pointer, made) ??
      noteFault(shape, value, name, pointer);
    if (fault !== undefined) faults.set(name, fault);
  }
  const members = [...operandsOfMath(shape, value, pointer), ...modeOfDistance(shape, value, pointer)];
  for (const [name, fault] of members) if (!renamed.has(name)) faults.set(name, fault);
  return faults;
}

/** Whether a member was meant by its name, or by another word for it and a text of its own format. */
function isNamed({ name, shape }: Field, written: string, value: unknown): boolean {
  if ([name, name.replace(/s$/, '')].some((one) => plain(one) === plain(written))) return true;
  return isInFormat({ shape }, value) && synonymousMember(written, [name]) !== undefined;
}

/** A text in the format of a member, or a word among its choices. */
function isInFormat({ shape }: Pick<Field, 'shape'>, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (shape.type === 'choice') return shape.values.includes(value) || synonymIn(value, shape.values) !== undefined;
  const isFormatted = (text: string): boolean => shape.type === 'string' && shape.pattern?.test(text) === true;
  return isFormatted(value) || isFormatted(clockMeant(value) ?? '');
}

/** Two operands in a list where they are named: {"kind": "compare", "args": [a, b]}. */
function listedOperands(shape: ObjectShape, value: Members, name: string, pointer: string): Fault | undefined {
  const list = value[name];
  const isFree = ['left', 'right'].every((side) => isSlot(shape.fields.get(side)) && value[side] === undefined);
  if (!isFree || !Array.isArray(list) || list.length !== 2 || isTooLong(list)) return undefined;
  return unknownMember(name, 'Write its first item as "left" and its second as "right".', [
    addMember(pointer, 'left', list[0]),
    addMember(pointer, 'right', list[1]),
    removeMember(pointer, name),
  ]);
}

const isSlot = (field: Field | undefined): boolean => field?.shape.type === 'slot' || field?.shape.type === 'reference';

/** Two named operands where they are listed: {"kind": "math", "op": "mul", "left": a, "right": b}. */
function operandsOfMath(shape: ObjectShape, value: Members, pointer: string): ReadonlyMap<string, Fault> {
  const names = OPERAND_NAMES.find((pair) => pair.every((name) => value[name] !== undefined));
  const faults = new Map<string, Fault>();
  const isList = value.kind === 'math' && value.args === undefined && shape.fields.get('args')?.shape.type === 'array';
  if (!isList || names === undefined) return faults;
  const [first, second] = names;
  const advice = 'Write the operands as "args", a list.';
  const made = [addMember(pointer, 'args', []), moveMember(pointer, first, 'args', 0)];
  faults.set(first, unknownMember(first, advice, made));
  faults.set(second, unknownMember(second, advice, [moveMember(pointer, second, 'args', 1)]));
  return faults;
}
const OPERAND_NAMES: readonly (readonly [string, string])[] = [
  ['left', 'right'],
  ['a', 'b'],
  ['x', 'y'],
  ['lhs', 'rhs'],
];

/** A trailing stop or take-profit with the mode of a stop loss: {"mode": "percent", "value": 2}. Theirs have names. */
function modeOfDistance(shape: ObjectShape, value: Members, pointer: string): ReadonlyMap<string, Fault> {
  const faults = new Map<string, Fault>();
  const kinds = ['distance', 'trigger'].find((name) => shape.fields.has(`${name}Percent`));
  const distance = `${kinds}Percent`;
  const tag = value.mode === undefined ? 'type' : 'mode';
  const isFree = kinds !== undefined && !Object.keys(value).some((name) => name.startsWith(kinds));
  const isPercent = value[tag] === percentLevel.mode && typeof value.value === 'number';
  const isAtr = value[tag] === atrLevel.mode && value.value === undefined;
  if (!isFree || (!isPercent && !isAtr)) return faults;
  faults.set(tag, unknownMember(tag, 'Remove it.', [removeMember(pointer, tag)]));
  const moved = [moveMember(pointer, 'value', distance)];
  if (isPercent) faults.set('value', unknownMember('value', `Write it as ${distance}.`, moved));
  return faults;
}

/** A unit in the name of a member that takes a level or a size: {"stop_loss_pct": 5} for 5 % as its stop loss. */
function unitInName(
  shape: ObjectShape,
  value: Members,
  name: string,
  pointer: string,
  made: Set<string>,
): Fault | undefined {
  const [, stem = ''] = /^(.+?)_?(?:percentage|percent|perc|pct)$/i.exec(name) ?? [];
  const points = value[name];
  // Below 1, it may be a fraction.
  if (stem === '' || typeof points !== 'number' || points < 1) return undefined;
  const isMeant = ({ name: one, shape: field }: Field): boolean =>
    takesPercent(field, one) &&
    (plain(one) === plain(stem) || `${plain(stem)}s` === plain(one) || synonymousMember(stem, [one]) === one);
  const places = [{ path: [], fields: shape.fields }, ...ownersBelow(shape, value, [])].flatMap(({ path, fields }) =>
    [...fields.values()].filter(isMeant).map((field) => [...path, field.name]),
  );
  const [path, ...others] = places;
  const steps = others.length > 0 || path === undefined ? undefined : stepsInto(value, path, pointer, made);
  if (steps === undefined) return undefined;
  return unknownMember(name, `Write "${points}%" as ${path.join('.')}.`, [
    ...steps,
    replaceMember(pointer, name, `${points}%`),
    moveMember(pointer, name, ...path),
  ]);
}

/** The steps that make the objects on the way to an absent member; undefined where it is there already. */
function stepsInto(
  value: Members,
  path: readonly string[],
  pointer: string,
  made: Set<string>,
): PatchOperation[] | undefined {
  const steps: PatchOperation[] = [];
  let holder: unknown = value;
  for (const [depth, owner] of path.slice(0, -1).entries()) {
    holder = isMembers(holder) ? holder[owner] : undefined;
    if (holder !== undefined && !isMembers(holder)) return undefined;
    const at = path.slice(0, depth + 1).join('/');
    if (holder === undefined && !made.has(at))
      steps.push(addMember(pointerTo(pointer, ...path.slice(0, depth)), owner, {}));
    made.add(at);
  }
  return isMembers(holder) && holder[path.at(-1)!] !== undefined ? undefined : steps;
}

/** Whether a member may be a bare percentage, which says what it is of. */
const takesPercent = (shape: Shape, name: string): boolean =>
  (shape.type === 'kinds' && shape.key === 'mode') ||
  name === 'takeProfits' ||
  (shape.type === 'object' && shape.fields.has('distancePercent'));

/** Words for what says nothing to the engine, and the member that has room for it. */
const NOTES = readingOf({
  label: 'name title',
  description: 'comment comments note notes rationale reasoning explanation summary desc remark doc',
  meta: 'author tags tag created createdat updatedat schema generatedby model confidence',
});

/** A note of the author under another name, which is kept where it says nothing. */
function noteFault(shape: ObjectShape, value: Members, name: string, pointer: string): Fault | undefined {
  const meant = NOTES.get(plain(name).replaceAll(/^[$/#]+/g, ''));
  if (meant === undefined || !shape.fields.has('meta')) return undefined;
  const isFree = meant !== 'meta' && typeof value[name] === 'string' && value[meant] === undefined;
  const advice = foreignMemberAdvice(name, shape);
  if (isFree) return unknownMember(name, advice ?? `Write it as ${meant}.`, [moveMember(pointer, name, meant)]);
  const made = value.meta === undefined ? [addMember(pointer, 'meta', {})] : [];
  return isMembers(value.meta ?? {})
    ? unknownMember(name, 'Write it in meta, which says nothing to the engine.', [
        ...made,
        moveMember(pointer, name, 'meta', name),
      ])
    : undefined;
}

/** Objects that are rules or sections of their own, which a member alone does not make. */
const NEVER_MADE: ReadonlySet<string> = new Set(['exit', 'allocation', 'long', 'short', 'weights']);

/**
 * A member of the only object below that has one of that name: `symbol` belongs into `instrument`, `stop_loss` into
 * `risk`, and `side` of a strategy into the action of its entry.
 * @param made the objects that patches for earlier members make
 */
function insideFault(
  shape: ObjectShape,
  value: Members,
  name: string,
  pointer: string,
  made: Set<string>,
): Fault | undefined {
  const places = [...ownersBelow(shape, value, [])].flatMap(({ path, fields }) => {
    const meant = [...fields.values()].find((one) => !shape.fields.has(one.name) && isNamed(one, name, value[name]));
    return meant === undefined ? [] : [{ path, name: meant.name, isInFormat: isInFormat(meant, value[name]) }];
  });
  const [place, ...others] = places.length > 1 ? places.filter((one) => one.isInFormat) : places;
  if (place === undefined || others.length > 0) return undefined;
  const path = [...place.path, place.name];
  const steps = stepsInto(value, path, pointer, made);
  const advice = `Write it in ${place.path.join('.')}, as ${place.name}.`;
  return steps && unknownMember(name, advice, [...steps, moveMember(pointer, name, ...path)]);
}

/** The objects that members may be moved into, two levels deep: those there are, or that may be made. */
function* ownersBelow(
  shape: ObjectShape,
  value: Members,
  path: readonly string[],
): Generator<{ readonly path: readonly string[]; readonly fields: ObjectShape['fields'] }> {
  for (const { name, shape: field } of shape.fields.values()) {
    const below = isMembers(value[name]) ? value[name] : undefined;
    // One entry, written as an object and not as a list.
    const inner = field.type === 'either' && below ? field.options.find((one) => one.type === 'object') : field;
    if (inner?.type !== 'object' || name === 'meta') continue;
    if (below === undefined && (value[name] !== undefined || NEVER_MADE.has(name))) continue;
    // Of a rule, only what its action says may stand in the strategy.
    if (field.type !== 'either') yield { path: [...path, name], fields: inner.fields };
    if (path.length === 0) yield* ownersBelow(inner, below ?? {}, [name]);
  }
}
