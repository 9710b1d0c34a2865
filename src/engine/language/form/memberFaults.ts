// Members: what is wrong with the names of an object's members (unknown, misspelled, a level too high, missing), and
// how to repair it.
import {
  typeInPlace,
  typeOfKind,
  type PlaceType,
  type Field,
  type ObjectShape,
  type Shape,
} from '../grammar/shapes.ts';
import { adviceFor, MISSING_ADVICE } from '../hints/examples.ts';
import { foreignMemberAdvice } from '../hints/foreignMembers.ts';
import { BACK_ADVICE, isAheadWord, LOOKS_AHEAD } from '../hints/lookAhead.ts';
import { synonymousMember } from '../hints/synonyms.ts';
import { bounded, shown } from '../issues/displayNames.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { addMember, moveMember } from '../issues/patch.ts';
import { unknownMember, type Fault, type FindNearest } from './fault.ts';
import { MAX_RENAMES } from './misplaced.ts';
import { plain, suggestionFor, type Nearest } from '../issues/nearest.ts';
import type { Members } from '../grammar/payloadObjects.ts';

/** The issue codes of some missing members. */
const MISSING_CODES: Readonly<Record<string, IssueCode>> = {
  entry: 'ENTRY_MISSING',
  trigger: 'TRIGGER_MISSING',
};
type ListShape = Shape & { readonly type: 'array' };

/** The fault of a list that is too short; an empty one may be a missing member. */
export function tooFewItems({ min, code, item }: ListShape, length: number, name: string): Fault {
  const least = `${min} ${min === 1 ? 'item' : 'items'}`;
  return {
    code: length === 0 ? (MISSING_CODES[name] ?? 'OUT_OF_RANGE') : (code ?? 'OUT_OF_RANGE'),
    message: `${name} must have at least ${least}, not ${length}.`,
    suggestion: `Add ${bounded(item)}.`,
  };
}
export const tooManyItems = ({ max, code }: ListShape, length: number, name: string): Fault => ({
  code: code ?? 'OUT_OF_RANGE',
  message: `${name} must have at most ${max} items, not ${length}.`,
});

/** The missing member that all unknown members belong into; undefined when that is not certain. */
export function ownerOfUnknown(shape: ObjectShape, value: Members, unknown: readonly string[]): Field | undefined {
  if (unknown.length === 0) return undefined;
  return [...shape.fields.values()].find(({ name, isRequired, shape: inner }) => {
    if (!isRequired || value[name] !== undefined) return false;
    if (inner.type === 'slot' || inner.type === 'reference') return isExpressionOf(inner.of, value, unknown);
    if (inner.type !== 'object') return false;
    const isIn = (one: string): boolean => inner.fields.has(one);
    return unknown.every(isIn) && unknown.some((one) => inner.fields.get(one)!.isRequired && one !== 'kind');
  });
}

/** Whether the members are those of an expression or reference: a step of a sequence may be written without `expr`. */
function isExpressionOf(of: PlaceType, { kind }: Members, unknown: readonly string[]): boolean {
  if (unknown.length === 1 && unknown[0] === 'ref') return true;
  return unknown.includes('kind') && typeOfKind(kind) === typeInPlace(of, { kind });
}

/**
 * The fault of members that stand one level too high: `entry` beside `protocol`, `side` and `sizing` beside `trigger`.
 * It is reported at the place of their owner.
 */
export function tooHighFault({ name }: Field, unknown: readonly string[], pointer: string): Fault {
  const list = unknown.map((one) => `"${one}"`).join(', ');
  return {
    code: MISSING_CODES[name] ?? 'MISSING_FIELD',
    message: `${name} is missing; ${list} ${unknown.length === 1 ? 'belongs' : 'belong'} in it.`,
    suggestion: `Move them into "${name}".`,
    patch: [addMember(pointer, name, {}), ...unknown.map((one) => moveMember(pointer, one, name, one))],
  };
}

/** From the name that a misspelled member certainly meant to the name as written. Each name is used once. */
export function misspelledMembers(
  shape: ObjectShape,
  value: Members,
  unknown: readonly string[],
  findNearest: FindNearest | undefined,
): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  if (findNearest === undefined) return written;
  const names = [...shape.fields.keys()];
  for (const word of unknown.slice(0, MAX_RENAMES)) {
    const isFree = (name: string): boolean => value[name] === undefined && !written.has(name);
    const meant = names.filter((name) => !isAmountOf(name, word, value[word]));
    const synonym = synonymousMember(word, meant.filter(isFree), value);
    // Compared with all names: what is nearest to one that is given already is not another one.
    const nearest = synonym === undefined ? findNearest(word, meant) : { name: synonym, isCertain: true };
    if (nearest?.isCertain === true && isFree(nearest.name)) written.set(nearest.name, word);
  }
  return written;
}

/** A number under another name has another unit: a size of 10 is 10 units or 10 %, and a stop of 5 may be a price. */
const isAmountOf = (name: string, word: string, value: unknown): boolean =>
  (name === 'sizing' || name === 'stopLoss') && typeof value === 'number' && !OWN_WORDS.has(plain(word));
const OWN_WORDS: ReadonlySet<string> = new Set(['sizing', 'stoploss', 'sl']);

/**
 * The fault of an unknown member.
 * @param meant the name that it certainly misspells
 * @param findNearest undefined: similar names are not searched for
 */
export function unknownMemberFault(
  name: string,
  meant: string | undefined,
  shape: ObjectShape,
  value: Members,
  pointer: string,
  findNearest: FindNearest | undefined,
): Fault {
  if (isAheadWord(name) && (shape.fields.has('offset') || shape.fields.has('kind')))
    return { ...unknownMember(name, BACK_ADVICE), message: `Unknown member ${shown(name)}: ${LOOKS_AHEAD}.` };
  const names = [...shape.fields.keys()];
  const nearest = meant === undefined ? findNearest?.(name, names) : { name: meant, isCertain: true };
  const elsewhere = foreignMemberAdvice(name, shape);
  const free = [...shape.fields.values()]
    .filter((field) => value[field.name] === undefined && !COMMON.has(field.name))
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
    .map((field) => field.name);
  const suggestion = placeAdvice(name, shape, value, nearest) ?? elsewhere ?? otherMember(nearest, free);
  return unknownMember(name, suggestion, meant === undefined ? undefined : [moveMember(pointer, name, meant)]);
}

/** Members that every object may have, which say nothing to the engine. */
const COMMON: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);

/** Where no member has a similar name, the unknown one may have no place here at all. */
const otherMember = (nearest: Nearest | undefined, free: readonly string[]): string => {
  const advice = suggestionFor(nearest, free);
  return nearest === undefined ? advice.replace(/^Use /, 'Remove it, or use ') : advice;
};

/** Advice on where an unknown member belongs that is not a misspelling; undefined where that is not known. */
function placeAdvice(
  name: string,
  shape: ObjectShape,
  value: Members,
  nearest: object | undefined,
): string | undefined {
  if (nearest !== undefined) return undefined;
  const inside = memberInside(name, shape);
  if (inside !== undefined) return `Write it in ${inside[0]}, as ${inside[1]}.`;
  const joining = conditionJoining(name, shape, value);
  if (joining === undefined) return undefined;
  return `Write it as "${joining}": {"kind": "all", "items": [ … ]}, or with kind "any" where one of them is enough.`;
}

/** The member of an object below that `name` stands for: `side` and `size` beside `action` belong in it. */
function memberInside(name: string, shape: ObjectShape): readonly [owner: string, name: string] | undefined {
  for (const { name: owner, shape: inner } of shape.fields.values()) {
    if (inner.type !== 'object' || owner === 'meta') continue;
    const names = [...inner.fields.keys()].filter((one) => !shape.fields.has(one));
    const meant = names.includes(name) ? name : synonymousMember(name, names);
    if (meant !== undefined) return [owner, meant];
  }
  return undefined;
}

/** Advice for a list named `conditions`; whether all of them must hold is not certain, so there is no patch. */
function conditionJoining(name: string, shape: ObjectShape, value: Members): string | undefined {
  if (synonymousMember(name, ['items']) === undefined) return undefined;
  const isFree = ({ name: one, shape: inner, isRequired }: Field): boolean =>
    isRequired && inner.type === 'slot' && inner.of === 'condition' && value[one] === undefined;
  return [...shape.fields.values()].find(isFree)?.name;
}

/** The fault of an optional member that is null. */
export const nullMemberFault = (name: string, path: string): Fault => ({
  code: 'TYPE_MISMATCH',
  message: `${name} is null.`,
  suggestion: 'Leave it out.',
  patch: [{ op: 'remove', path }],
});

/** The fault of an absent required member; `path` is where it would be. */
export function missingMemberFault({ name, shape }: Field, path: string): Fault {
  // Without arguments, all of them have their defaults.
  const empty = shape.type === 'record' && name === 'args' ? {} : undefined;
  const only = shape.type === 'choice' && shape.values.length === 1 ? shape.values[0] : empty;
  const hint = shape.type === 'string' && shape.hint !== '' ? shape.hint : `Give ${bounded(shape)}.`;
  return {
    code: MISSING_CODES[name] ?? 'MISSING_FIELD',
    message: `${name} is missing.`,
    suggestion: MISSING_ADVICE[name] ?? adviceFor(name, shape) ?? hint,
    patch: only === undefined ? undefined : [{ op: 'add', path, value: only }],
  };
}
