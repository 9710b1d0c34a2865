// Relocated members: members of an object that belong into one of its other members, each with what to report and the
// patch that moves it there.
import { atrLevel } from '../../definitions/levels/atrLevel.ts';
import { percentLevel } from '../../definitions/levels/percentLevel.ts';
import type { Field, ObjectShape } from '../grammar/shapes.ts';
import { synonymIn, synonymousMember } from '../hints/synonyms.ts';
import { isTooLong, unknownMember, type Fault, type FindNearest } from './fault.ts';
import { argumentsBeside, MAX_RENAMES } from './misplaced.ts';
import { plain } from '../issues/nearest.ts';
import { addMember, moveMember, removeMember } from '../issues/patch.ts';
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
    const fault = listedOperands(shape, value, name, pointer) ?? insideFault(shape, value, name, pointer, made);
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
  return shape.type === 'string' && shape.pattern !== null && shape.pattern.test(value);
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

/**
 * A member of the only object below that has one of that name: `symbol` belongs into `instrument`, `stop_loss` into
 * `risk`.
 * @param made the objects that patches for earlier members make
 */
function insideFault(
  shape: ObjectShape,
  value: Members,
  name: string,
  pointer: string,
  made: Set<string>,
): Fault | undefined {
  const places = [...shape.fields.values()].flatMap(({ name: owner, shape: inner }) => {
    if (inner.type !== 'object' || owner === 'meta') return [];
    const meant = [...inner.fields.values()].find(
      (one) => !shape.fields.has(one.name) && isNamed(one, name, value[name]),
    );
    return meant === undefined ? [] : [[owner, meant.name, isInFormat(meant, value[name])] as const];
  });
  const inFormat = places.filter(([, , isInFormat]) => isInFormat);
  const [place, ...others] = places.length > 1 ? inFormat : places;
  if (place === undefined || others.length > 0) return undefined;
  const [owner, member] = place;
  const { [owner]: holder = {} } = value;
  if (!isMembers(holder) || holder[member] !== undefined) return undefined;
  const exists = value[owner] !== undefined || made.has(owner);
  made.add(owner);
  return unknownMember(name, `Write it in ${owner}, as ${member}.`, [
    ...(exists ? [] : [addMember(pointer, owner, {})]),
    moveMember(pointer, name, owner, member),
  ]);
}
