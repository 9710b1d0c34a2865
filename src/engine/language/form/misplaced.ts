// Misplaced values: values in a form that their place does not accept, such as a condition as a text, and the values
// that they certainly mean.
import { findIndicator } from '../../indicators/registry.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import { percentLevel } from '../../definitions/levels/percentLevel.ts';
import { percentEquity } from '../../definitions/sizing/percentEquity.ts';
import { percentPosition } from '../../definitions/sizing/percentPosition.ts';
import { typeOfKind, type ExpressionType, type ObjectShape, type Shape } from '../grammar/shapes.ts';
import { PARAM_KINDS } from '../hints/formWords.ts';
import { synonymousArgument } from '../hints/indicatorSynonyms.ts';
import { withoutModule } from '../hints/synonyms.ts';
import { MARKET_FIELDS, MATH_OPS, ROLLING_OPS } from '../../definitions/words.ts';
import { numericText } from '../issues/displayNames.ts';
import { unknownMember, type Fault } from './fault.ts';
import { addMember, moveMember } from '../issues/patch.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { columnMeant, fieldMeant, type Column } from '../text/columns.ts';
import { positionalCount } from '../text/indicatorCalls.ts';
import { isMade, readExpression } from '../text/readExpression.ts';
import { ownNamesOf } from './ownNames.ts';
import { percentMeant } from './units.ts';

/**
 * The most misspelled members examined per object: more than the grammar has anywhere, and a hostile object can have a
 * million.
 */
export const MAX_RENAMES = 32;

/** The value that was meant, wrapped because it may be any value, undefined included. */
interface Meant {
  readonly value: unknown;
}

/** The expression that a number or a text certainly stands for. */
export function expressionMeant(of: ExpressionType, value: unknown, names = ownNamesOf()): Meant | undefined {
  if (of === 'value' && typeof value === 'number' && Number.isFinite(value)) return { value: { kind: 'const', value } };
  if (typeof value !== 'string') return undefined;
  const number = of === 'value' ? numericText(value) : undefined;
  if (number !== undefined) return { value: { kind: 'const', value: number } };
  const read = readExpression(value, names);
  return isMade(read) && typeOfKind(read.kind) === of ? { value: read } : undefined;
}

/** What a bare percentage is, as a stop, a size or an exit. */
const PERCENT_MODES = [percentLevel, percentEquity, percentPosition].map(({ mode }) => mode);

/** The object that its only required member, or its tag, stands for: "SPX", or "market" for {"type": "market"}. */
export function objectMeant(
  shape: ObjectShape | (Shape & { readonly type: 'kinds' }),
  value: unknown,
): Meant | undefined {
  if (typeof value === 'object' || value === undefined) return undefined;
  if (shape.type === 'kinds') {
    const mode = PERCENT_MODES.find((one) => shape.options.has(one));
    const percent = mode === undefined ? undefined : percentMeant({ mode }, 'value', value);
    if (percent !== undefined) return { value: { mode, value: percent.value } };
    const fields = [...(shape.options.get(typeof value === 'string' ? value : '')?.fields.values() ?? [])].filter(
      ({ isRequired }) => isRequired,
    );
    return fields.length === 1 ? { value: { [shape.key]: value } } : undefined;
  }
  const [only, ...others] = [...shape.fields.values()].filter(({ isRequired }) => isRequired);
  // A number in place of a take-profit is its trigger rather than the share that it closes.
  if (only?.name === 'closePercent') return undefined;
  const type = only?.shape.type === 'either' ? 'number' : only?.shape.type;
  return others.length === 0 && typeof value === type ? { value: { [only.name]: value } } : undefined;
}

/** Lists that authors write as maps, and the member of an item that a key stands for. */
const KEY_MEMBERS: Readonly<Record<string, string>> = { nodes: 'id', params: 'name' };

/** Whether a param is written as its name and number: {"fast": 10}. */
const isDefault = (key: string, value: unknown): boolean =>
  typeof value === 'number' && !['name', 'type', 'default', 'min', 'max', 'step'].includes(key);

/** The list that a map of its items by their names stands for. */
export function keyedList(
  name: string,
  value: unknown,
): { readonly list: { readonly value: unknown }; readonly advice: string } | undefined {
  const member = Object.hasOwn(KEY_MEMBERS, name) ? KEY_MEMBERS[name] : undefined;
  if (member === undefined || !isMembers(value)) return undefined;
  const entries = Object.entries(value);
  const isNumbers = name === 'params' && entries.length > 0 && entries.every(([key, one]) => isDefault(key, one));
  if (isNumbers) {
    const list = entries.map(([key, one]) => ({
      name: key,
      type: Number.isInteger(one) ? 'int' : 'float',
      default: one,
    }));
    return { list: { value: list }, advice: 'Write a list of params, each with name, type and default.' };
  }
  const isKeyed = entries.length > 0 && entries.every(([, item]) => isMembers(item) && !Object.hasOwn(item, member));
  if (!isKeyed) return undefined;
  const list = entries.map(([key, item]) => ({ [member]: key, ...(item as Members) }));
  return { list: { value: list }, advice: `Write a list of them, each with its key as "${member}".` };
}

/** The args that a list of values without names stands for: `[14]`, `["close", 14]`, `[12, 26, 9]`, `"12,26,9"`. */
export function listedArguments(
  { kind, indicator }: Members,
  name: string,
  value: unknown,
): { readonly value?: object; readonly advice: string } | undefined {
  if (kind !== 'indicator' || name !== 'args' || typeof indicator !== 'string') return undefined;
  const numbers = typeof value === 'string' && NUMBER_LIST.test(value) ? value.split(',').map(Number) : value;
  const definition = Array.isArray(numbers) ? findIndicator(withoutModule(indicator)) : undefined;
  if (definition === undefined) return undefined;
  const list = numbers as unknown[];
  if (list.length === 0) return { value: {}, advice: 'Write {}.' };
  const names = definition.args.map((arg) => arg.name);
  const [first] = list;
  const isSource = typeof first === 'string' && MARKET_FIELDS.some((field) => field === first);
  const source = isSource && definition.inputs.join() === 'source' ? { source: first } : {};
  const values = list.slice(isSource ? 1 : 0);
  const certain = positionalCount(definition);
  const isCertain = values.length === 1 ? names[0] === 'length' : values.length <= certain;
  const isRead = isSource ? Object.keys(source).length > 0 : true;
  if (!isCertain || !isRead || !values.every((one) => typeof one === 'number'))
    return {
      advice: `Name each argument: {${names
        .slice(0, 6)
        .map((one) => `"${one}": …`)
        .join(', ')}}.`,
    };
  const args = { ...Object.fromEntries(values.map((one, at) => [names[at], one])), ...source };
  return { value: args, advice: `Write ${JSON.stringify(args)}.` };
}
const NUMBER_LIST = /^\s*\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?){0,8}\s*$/;

/** The number or parameter that is written as an expression where only those may stand. */
export function numberMeant(value: unknown): Meant | undefined {
  if (!isMembers(value)) return undefined;
  const { kind, ...rest } = value;
  const [[name, inner] = [], ...others] = Object.entries(rest);
  if (others.length > 0) return undefined;
  if (PARAM_KINDS.has(kind) && name === 'name' && typeof inner === 'string') return { value: { param: inner } };
  const isConst = kind === 'const' ? name === 'value' : kind === undefined && (name === 'const' || name === 'value');
  return isConst && typeof inner === 'number' ? { value: inner } : undefined;
}

/** The node meant by an indicator, pattern or field written as a kind: `{"kind": "rsi", "length": 14}`. */
export function callMeant(
  tag: string,
  value: Members,
  kinds: ReadonlyMap<string, unknown>,
): { readonly kind: string; readonly member: string; readonly name: string; readonly column?: Column } | undefined {
  if (operatorOfList(tag, value) !== undefined || Array.isArray(value.args)) return undefined;
  const isFree = kinds.has('indicator') && value.indicator === undefined;
  const indicator = isFree ? findIndicator(withoutModule(tag)) : undefined;
  if (indicator !== undefined) return { kind: 'indicator', member: 'indicator', name: indicator.id };
  const column = isFree && value.args === undefined && value.output === undefined ? columnMeant(tag) : undefined;
  if (column !== undefined) return { kind: 'indicator', member: 'indicator', name: column.indicator, column };
  const pattern = kinds.has('pattern') && value.name === undefined ? findPattern(withoutModule(tag)) : undefined;
  if (pattern !== undefined) return { kind: 'pattern', member: 'name', name: pattern.id };
  const field = value.field === undefined ? fieldMeant(tag) : undefined;
  return field !== undefined && kinds.has(field.kind) ? { ...field, member: 'field' } : undefined;
}

/** The kind of an operator with its operands: `abs` of a list is math, `sum` of a source is rolling. */
export function operatorOfList(
  tag: string,
  value: Members,
): { readonly kind: 'math' | 'rolling'; readonly op: string } | undefined {
  const op = tag.toLowerCase();
  const isIn = (ops: readonly string[]): boolean => ops.includes(op);
  if (
    isIn(ROLLING_OPS) &&
    !Array.isArray(value.args) &&
    (value.source !== undefined || findIndicator(op) === undefined)
  )
    return { kind: 'rolling', op };
  return isIn(MATH_OPS) ? { kind: 'math', op } : undefined;
}

/**
 * Unknown members that are arguments, as `length` beside `indicator` is, each with what to report. The first of them
 * makes the `args` that they are moved into.
 */
export function argumentsBeside(node: Members, unknown: readonly string[], pointer: string): Map<string, Fault> {
  const faults = new Map<string, Fault>();
  const called = node.kind === 'indicator' ? node.indicator : node.kind === 'pattern' ? node.name : undefined;
  const { args = {} } = node;
  if (typeof called !== 'string' || !isMembers(args)) return faults;
  const definition = node.kind === 'indicator' ? findIndicator(called) : findPattern(called);
  const free = new Set((definition?.args ?? []).map(({ name }) => name).filter((name) => args[name] === undefined));
  for (const written of unknown.slice(0, MAX_RENAMES)) {
    const argument = free.has(written) ? written : synonymousArgument(written, [...free]);
    if (argument === undefined) continue;
    free.delete(argument);
    const made = node.args === undefined && faults.size === 0 ? [addMember(pointer, 'args', {})] : [];
    const patch = [...made, moveMember(pointer, written, 'args', argument)];
    faults.set(written, unknownMember(written, `Write it in args, as ${argument}.`, patch));
  }
  return faults;
}
