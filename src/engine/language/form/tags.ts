// Tags: what an object was meant to be when the member that distinguishes kinds is wrong or absent.
import { NAMES } from '../../definitions/expressionMembers.ts';
import { EXPRESSION_SHAPES, isParamRef, type ExpressionType, type ObjectShape, type Shape } from '../grammar/shapes.ts';
import { expressionAdvice } from '../hints/examples.ts';
import { constructAdvice, kindMeant } from '../hints/foreignKinds.ts';
import { JOINED_KINDS } from '../hints/formWords.ts';
import { aheadFault, isAheadText } from '../hints/lookAhead.ts';
import { operatorKind, synonymIn, synonymousMember, withoutModule } from '../hints/synonyms.ts';
import { pointerTo } from '../pointer.ts';
import { shown } from '../issues/displayNames.ts';
import { asCall, fieldMeant } from '../text/columns.ts';
import type { TextContext } from '../text/textMeaning.ts';
import { isMade, readExpression } from '../text/readExpression.ts';
import { kindAsOperator } from './kindAsOperator.ts';
import { mismatch, replaceBy, writeAdvice, type Fault, type FindNearest } from './fault.ts';
import { callMeant, MAX_RENAMES, operatorOfList } from './misplaced.ts';
import { isNegated, suggestionFor } from '../issues/nearest.ts';
import { addMember, moveMember, removeMember, replaceMember, type PatchOperation } from '../issues/patch.ts';
import type { Members } from '../grammar/payloadObjects.ts';

export type Kinds = Shape & { readonly type: 'kinds' };

interface TagFault {
  readonly fault: Fault;
  /** The member that is wrong; absent: the tag. */
  readonly member?: string;
  /** The shape that was meant, where that is clear. */
  readonly meant?: ObjectShape;
}

/**
 * What is wrong with the tag of the object at `pointer`.
 * @param findNearest undefined: similar words are not searched for, because the issue is only counted
 */
export function tagFault(
  shape: Kinds,
  value: Members,
  pointer: string,
  findNearest: FindNearest | undefined,
): TagFault {
  const tag = value[shape.key];
  if (tag === undefined) return missingTag(shape, value, pointer, findNearest);
  if (typeof tag !== 'string') return { fault: mismatch(pointerTo(pointer, shape.key), 'a string', tag) };
  return (
    kindAsOperator(shape.options, value, pointer) ??
    operatorAsKind(shape, value, pointer, tag) ??
    callAsKind(shape, value, pointer, tag) ??
    kindOfOperator(shape, value, pointer, tag) ??
    unknownTag(shape, pointer, tag, findNearest)
  );
}

function missingTag(
  { key, options }: Kinds,
  value: Members,
  pointer: string,
  findNearest: FindNearest | undefined,
): TagFault {
  const found =
    misnamedTag({ key, options }, value, pointer, findNearest) ??
    joinedAsMember(options, value, pointer) ??
    tagAsMember({ key, options }, value, pointer);
  if (found !== undefined) return found;
  const names = [...options.keys()];
  const [only, ...others] =
    findNearest === undefined
      ? []
      : names.filter((name) => !TRANSFORMING.has(name) && fitsShape(options.get(name)!, value, key));
  const fits = others.length === 0 ? only : undefined;
  const byOperator = fits === undefined ? kindOfOperator({ key, options }, value, pointer) : undefined;
  if (byOperator !== undefined) return byOperator;
  const fault: Fault = {
    code: 'MISSING_FIELD',
    message: `${key} is missing.`,
    suggestion: suggestionFor(fits === undefined ? undefined : { name: fits }, names),
    patch: fits === undefined ? undefined : [addMember(pointer, key, fits)],
  };
  return fits === undefined ? { fault } : { fault, meant: withAnyTag(options.get(fits)!, key) };
}

/** Kinds that change what they hold, which members alone do not say: `item` may be an author's word for a condition. */
const TRANSFORMING: ReadonlySet<string> = new Set(['not', 'percent_change']);

/** A tag under another name: {"type": "limit"} for {"mode": "limit"}. */
function misnamedTag(
  { key, options }: Pick<Kinds, 'key' | 'options'>,
  value: Members,
  pointer: string,
  findNearest: FindNearest | undefined,
): TagFault | undefined {
  const standsForTag = (written: string): boolean =>
    ['type', 'kind', 'mode'].includes(written) || findNearest?.(written, [key])?.isCertain === true;
  const names = [...options.keys()];
  const isOption = (written: unknown): boolean =>
    typeof written === 'string' &&
    (options.has(written) ||
      options.has(written.toLowerCase()) ||
      (key !== 'kind' && synonymIn(written, names) !== undefined));
  const named = Object.keys(value)
    .slice(0, MAX_RENAMES)
    .find((one) => one !== key && isOption(value[one]) && standsForTag(one));
  if (named === undefined) return undefined;
  const advice = `Rename ${shown(named)} to ${shown(key)}.`;
  return { fault: otherForTag(key, named, advice, [moveMember(pointer, named, key)]) };
}

/** A member that stands in the place of a tag. */
const otherForTag = (key: string, named: string, suggestion: string, patch: readonly PatchOperation[]): Fault => ({
  code: 'MISSING_FIELD',
  message: `${key} is missing; ${shown(named)} is not a member here.`,
  suggestion,
  patch,
});

/** A kind in the place of the member that holds its conditions: {"and": [ … ]}. */
function joinedAsMember(options: Kinds['options'], value: Members, pointer: string): TagFault | undefined {
  const [word, ...others] = Object.keys(value).filter((name) => !NAMES.has(name));
  const meant = word === undefined ? undefined : (JOINED_KINDS.get(word.toLowerCase()) ?? kindMeant(word, options));
  const kind = others.length === 0 ? meant : undefined;
  const member = kind === 'not' ? 'item' : 'items';
  const held = kind === undefined ? undefined : options.get(kind)?.fields.get(member);
  if (kind === undefined || held === undefined) return undefined;
  const fault = otherForTag('kind', word, `Use kind "${kind}" with ${shown(word)} as "${member}".`, [
    addMember(pointer, 'kind', kind),
    moveMember(pointer, word, member),
  ]);
  // What it holds is checked where it stands.
  return { fault, meant: { type: 'object', fields: new Map([[word, { ...held, name: word }]]) } };
}

/** A mode in the place of the member that holds its number: {"percent": 5} for mode "percent" with value 5. */
function tagAsMember(
  { key, options }: Pick<Kinds, 'key' | 'options'>,
  value: Members,
  pointer: string,
): TagFault | undefined {
  if (key !== 'mode') return undefined;
  const names = [...options.keys()];
  const tagOf = (word: string): string | undefined => (options.has(word) ? word : synonymIn(word, names));
  const [word, ...others] = Object.keys(value).filter((one) => tagOf(one) !== undefined);
  if (word === undefined || others.length > 0) return undefined;
  const tag = tagOf(word)!;
  const shape = options.get(tag)!;
  const held = shape.fields.get('value') ?? shape.fields.get('multiplier');
  const isNumber = typeof value[word] !== 'object' || isParamRef(value[word]);
  if (held === undefined || !isNumber || shape.fields.has(word) || value[held.name] !== undefined) return undefined;
  // What it holds is checked once it has its place.
  const advice = `Use ${key} "${tag}" with ${shown(word)} as "${held.name}".`;
  const patch = [addMember(pointer, key, tag), moveMember(pointer, word, held.name)];
  return { fault: otherForTag(key, word, advice, patch) };
}

/** An operator in the place of a kind: "gt" for kind "compare" with op "gt". */
function operatorAsKind({ key, options }: Kinds, value: Members, pointer: string, tag: string): TagFault | undefined {
  const operator = key === 'kind' ? (operatorKind(tag) ?? operatorOfList(tag, value)) : undefined;
  if (operator === undefined || !options.has(operator.kind)) return undefined;
  const { kind, op } = operator;
  const added = value.op === undefined ? [addMember(pointer, 'op', op)] : [];
  const { op: given = op } = value;
  const isAgreed = given === op || (typeof given === 'string' && operatorKind(given)?.op === op);
  const fault: Fault = {
    code: 'UNKNOWN_NODE_KIND',
    message: `There is no kind ${shown(tag)} here.`,
    suggestion: `Use kind "${kind}" with op "${op}".`,
    patch: isAgreed ? [replaceMember(pointer, key, kind), ...added] : undefined,
  };
  return { fault };
}

/**
 * An unknown kind, or none, whose operator says which it is: {"kind": "logical", "op": "and"}, {"kind": "binary", "op":
 * ">"}, {"operator": "AND", "conditions": [ … ]}.
 */
function kindOfOperator(
  { key, options }: Pick<Kinds, 'key' | 'options'>,
  value: Members,
  pointer: string,
  tag?: string,
): TagFault | undefined {
  const [name, op] = OPERATOR_NAMES.map((one) => [one, value[one]] as const).find(([, one]) => one) ?? [];
  if (key !== 'kind' || name === undefined || typeof op !== 'string') return undefined;
  if (tag !== undefined && (kindMeant(tag, options) || isNegated(tag))) return undefined;
  const joined = JOINED_KINDS.get(op.toLowerCase());
  const kind = joined ?? operatorKind(op)?.kind;
  const fields = kind === undefined ? [] : [...(options.get(kind)?.fields.keys() ?? [])];
  // Its operands must be there: {"kind": "bars_in_trade", "op": ">", "value": 5} is a field.
  const isOperand = (one: string): boolean => OPERANDS.some((each) => each === one || synonymousMember(one, [each]));
  if (kind === undefined || fields.length === 0 || !Object.keys(value).some(isOperand)) return undefined;
  const removed = joined === undefined ? [] : [removeMember(pointer, name)];
  const fault: Fault = {
    code: tag === undefined ? 'MISSING_FIELD' : 'UNKNOWN_NODE_KIND',
    message: tag === undefined ? `${key} is missing.` : `Unknown ${key} ${shown(tag)}.`,
    suggestion: joined === undefined ? `Use kind "${kind}".` : `Use kind "${kind}", without ${name}.`,
    patch: [(tag === undefined ? addMember : replaceMember)(pointer, key, kind), ...removed],
  };
  return { fault };
}

const OPERATOR_NAMES = ['op', 'operator', 'logic', 'logical_operator', 'combinator', 'join', 'match'];
const OPERANDS = ['left', 'right', 'args', 'items'];

/** An indicator, pattern or field in the place of a kind: "rsi" for kind "indicator" with indicator "rsi". */
function callAsKind({ key, options }: Kinds, value: Members, pointer: string, tag: string): TagFault | undefined {
  const call = key === 'kind' ? callMeant(tag, value, options) : undefined;
  if (call === undefined) return undefined;
  const { kind, member, name, column } = call;
  const patch = [replaceMember(pointer, key, kind), addMember(pointer, member, name)];
  const fault: Fault = {
    code: 'UNKNOWN_NODE_KIND',
    message: `There is no kind ${shown(tag)} here.`,
    suggestion: column === undefined ? `Use kind "${kind}" with ${member} "${name}".` : writeAdvice(column),
    patch: column === undefined ? patch : asCall(pointer, column),
  };
  return { fault };
}

function unknownTag(
  { key, options, code }: Kinds,
  pointer: string,
  tag: string,
  findNearest: FindNearest | undefined,
): TagFault {
  const names = [...options.keys()];
  const synonym =
    synonymIn(tag, names) ??
    synonymIn(withoutModule(tag), names) ??
    (key === 'kind' ? kindMeant(tag, options) : undefined);
  const nearest = synonym === undefined ? findNearest?.(tag, names) : { name: synonym, isCertain: true };
  const certain = nearest?.isCertain === true ? nearest.name : undefined;
  const fault: Fault = {
    code: key === 'kind' ? 'UNKNOWN_NODE_KIND' : (code ?? 'OUT_OF_RANGE'),
    message: `Unknown ${key} ${shown(tag)}.`,
    suggestion: (key === 'kind' ? adviceOnKind(tag, options) : undefined) ?? suggestionFor(nearest, names),
    patch: certain === undefined ? undefined : replaceBy(pointerTo(pointer, key), certain),
  };
  return certain === undefined ? { fault } : { fault, meant: withAnyTag(options.get(certain)!, key) };
}

/** What to write in place of a kind that the language does not have. */
const adviceOnKind = (tag: string, options: Kinds['options']): string | undefined =>
  constructAdvice(tag, options) ?? (options.has('const') ? undefined : compareAdvice(tag));

/** Advice for a field that stands in place of a condition. */
function compareAdvice(tag: string): string | undefined {
  const field = fieldMeant(tag);
  if (field === undefined) return undefined;
  const value = `{"kind": "${field.kind}", "field": "${field.name}"}`;
  return `This is a value: compare it, as in {"kind": "compare", "op": "gte", "left": ${value}, "right": …}.`;
}

/** The fault of a value in the place of an expression that is not an object: `mismatch`, with advice on a text. */
export function expressionFault(of: ExpressionType, value: unknown, mismatched: Fault, names: TextContext): Fault {
  const text = typeof value === 'string' ? value : '';
  if (isAheadText(text)) return aheadFault(mismatched);
  if (mismatched.patch !== undefined) return mismatched;
  const [, called] = /^([\w.]+)\s*\(/.exec(text) ?? [];
  const construct = called && constructAdvice(called, EXPRESSION_SHAPES[of]);
  const compared = of === 'condition' ? compareAdvice(text) : undefined;
  const fault = /[<>=()[\]]/.test(text) ? faultOfText(text, names) : undefined;
  return { ...mismatched, suggestion: compared ?? construct ?? fault ?? expressionAdvice(of, value) };
}

/** Why a text that looks like an expression is not one, and at which column. */
function faultOfText(text: string, names: TextContext): string | undefined {
  const read = readExpression(text, names);
  return isMade(read) ? undefined : `As an expression, at column ${read.at + 1}: ${read.message}`;
}

/** The shape with any tag allowed: the wrong one has been reported already. */
function withAnyTag(shape: ObjectShape, key: string): ObjectShape {
  const fields = new Map(shape.fields);
  fields.set(key, { name: key, shape: { type: 'anything' }, isRequired: false, isNullable: false });
  return { type: 'object', fields };
}

/**
 * Whether an object without its tag could be of that kind: required members present, none unknown, words among the
 * choices.
 */
function fitsShape(shape: ObjectShape, value: Members, key: string): boolean {
  const isKnown = Object.keys(value).every((name) => shape.fields.has(name));
  return (
    isKnown &&
    [...shape.fields.values()].every(({ name, shape: field, isRequired }) => {
      if (name === key) return true;
      const member = value[name];
      if (member === undefined) return !isRequired;
      return field.type !== 'choice' || field.values.includes(member as string);
    })
  );
}

/** The fault of a value in the place of a condition, or of a condition in that of a value. */
export const typeFault = (of: ExpressionType, wanted: string, kind: unknown): Fault => ({
  code: 'TYPE_MISMATCH',
  message: `This must be ${wanted}, and ${shown(kind)} is ${of === 'value' ? 'a condition' : 'a value'}.`,
  suggestion: of === 'value' ? 'Use `if` to turn a condition into a number.' : 'Compare it with something.',
});
