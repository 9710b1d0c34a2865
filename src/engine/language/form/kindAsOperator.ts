// Kinds as operators: a kind that stands in the place of the operator of another.
import { typeOfKind, type Field, type ObjectShape } from '../grammar/shapes.ts';
import { constructAdvice, kindMeant } from '../hints/foreignKinds.ts';
import { synonymousMember } from '../hints/synonyms.ts';
import { expected, shown } from '../issues/displayNames.ts';
import { addMember, moveMember, removeMember, replaceMember, type PatchOperation } from '../issues/patch.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { isTooLong, type Fault } from './fault.ts';
import { expressionMeant } from './misplaced.ts';

type Options = ReadonlyMap<string, ObjectShape>;

/** A kind in the place of the operator of another: {"kind": "compare", "op": "between", …}. */
export function kindAsOperator(
  options: Options,
  value: Members,
  pointer: string,
): { readonly fault: Fault; readonly meant?: ObjectShape; readonly member: 'op' } | undefined {
  const { op } = value;
  const own = typeof value.kind === 'string' ? options.get(value.kind)?.fields.get('op')?.shape : undefined;
  if (typeof op !== 'string' || own?.type !== 'choice' || own.values.includes(op)) return undefined;
  const kind = kindMeant(op, options) ?? (options.has(op) ? op : undefined);
  const message = `op cannot be ${shown(op)}`;
  if (kind === undefined) {
    const suggestion = constructAdvice(op, options);
    return suggestion === undefined
      ? undefined
      : { fault: { code: 'UNKNOWN_OPERATOR', message: `${message}.`, suggestion }, member: 'op' };
  }
  if (kind === value.kind) return undefined;
  const shape = options.get(kind)!;
  const required = [...shape.fields.values()].filter((field) => field.isRequired && field.name !== 'kind');
  const names = required.map(({ name }) => name);
  const { steps, given } = operandsOf(kind, value, pointer);
  const isWhole = names.every((name) => given.has(name) || [...given].some((one) => synonymousMember(one, [name])));
  const fault: Fault = {
    code: 'UNKNOWN_OPERATOR',
    message: `${message}: that is the kind ${shown(kind)}.`,
    suggestion: `Use kind "${kind}" with ${listed(required.map(describe))}.`,
    patch: isWhole ? [replaceMember(pointer, 'kind', kind), removeMember(pointer, 'op'), ...steps] : undefined,
  };
  return { fault, member: 'op' };
}

/** A member with the words or the list that it takes. */
function describe({ name, shape }: Field): string {
  if (shape.type === 'choice') return `${name} (${expected(shape)})`;
  return shape.type === 'array' ? `${name} (a list)` : name;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** The steps that make the operands of a comparison the members of `kind`, and the members it then has. */
function operandsOf(
  kind: string,
  value: Members,
  pointer: string,
): { readonly steps: readonly PatchOperation[]; readonly given: ReadonlySet<string> } {
  const given = new Set(Object.keys(value).filter((name) => value[name] !== undefined && name !== 'op'));
  const steps: PatchOperation[] = [];
  const { left, right } = value;
  const make = (name: string, made: unknown): void => {
    steps.push(addMember(pointer, name, made));
    given.add(name);
  };
  const move = (name: string, ...to: readonly (string | number)[]): void => {
    steps.push(moveMember(pointer, name, ...to));
    given.delete(name);
    given.add(String(to[0]));
  };
  const single = kind === 'between' ? 'value' : kind === 'not' ? 'item' : 'source';
  const isSingle = ['between', 'rising', 'falling', 'not'].includes(kind);
  if (isSingle && left !== undefined && !given.has(single)) move('left', single);
  if (kind === 'between' && Array.isArray(right) && right.length === 2 && !isTooLong(right)) {
    for (const [at, name] of ['lower', 'upper'].entries()) {
      const bound: unknown = right[at];
      make(name, expressionMeant('value', bound)?.value ?? bound);
    }
    steps.push(removeMember(pointer, 'right'));
    given.delete('right');
  }
  const isLogic = (kind === 'all' || kind === 'any') && !given.has('items');
  if (isLogic && isConditionLike(left) && isConditionLike(right)) {
    make('items', []);
    move('left', 'items', 0);
    move('right', 'items', 1);
  }
  return { steps, given };
}

/** A condition, or a reference to a node that may be one. */
const isConditionLike = (value: unknown): boolean =>
  isMembers(value) && (typeOfKind(value.kind) === 'condition' || typeof value.ref === 'string');
