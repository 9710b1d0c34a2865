// References: what is wrong with a value that stands where a node of a graph refers to another, and how to repair it.
import { typeOfKind, type ExpressionType } from '../grammar/shapes.ts';
import { REFERENCE_MEMBERS } from '../hints/formWords.ts';
import { parsePointer, pointerTo } from '../pointer.ts';
import { numericText, shown } from '../issues/displayNames.ts';
import { isTooLong, mismatch, type Fault } from './fault.ts';
import { NODE, type TextContext } from '../text/textMeaning.ts';
import { expressionMeant } from './misplaced.ts';
import { nearestName } from '../issues/nearest.ts';
import { moveMember, type PatchOperation } from '../issues/patch.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

const WANTED: Readonly<Record<ExpressionType, string>> = {
  value: 'a reference {"ref": "<node id>"} or a number {"const": <number>}',
  condition: 'a reference {"ref": "<node id>"}',
};

/**
 * What is wrong with `value`, and where.
 * @param onlyItem the one item of a list that stands in place of that item
 */
export function referenceFault(
  of: ExpressionType,
  value: unknown,
  pointer: string,
  onlyItem: { readonly value: unknown } | undefined,
  names: TextContext,
): { readonly at: string; readonly fault: Fault } {
  const wanted = WANTED[of];
  if (!isMembers(value)) {
    const made = onlyItem === undefined ? expressionIn(of, value, names) : undefined;
    const patch = made && asNode(made, pointer);
    if (patch !== undefined)
      return { at: pointer, fault: { ...mismatch(pointer, wanted, value), suggestion: AS_NODE, patch } };
    return { at: pointer, fault: mismatch(pointer, wanted, value, referenceMeant(of, value, names) ?? onlyItem) };
  }
  if (typeof value.kind === 'string') {
    if (of === 'value' && value.kind === 'const' && typeof value.value === 'number') {
      return { at: pointer, fault: mismatch(pointer, wanted, value, { value: { const: value.value } }) };
    }
    const message = `This must be ${wanted}, not an expression.`;
    return {
      at: pointer,
      fault: { code: 'TYPE_MISMATCH', message, suggestion: AS_NODE, patch: asNode(value, pointer) },
    };
  }
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) {
    const suggestion = typeof value.ref === 'string' ? 'Keep only ref. An offset belongs to the node.' : undefined;
    return { at: pointer, fault: { ...mismatch(pointer, wanted, value), suggestion } };
  }
  const at = pointerTo(pointer, name);
  if (name === 'ref') return { at, fault: mismatch(at, 'a node id', value.ref) };
  const meant = memberMeant(of, name, value[name]);
  const message = `Unknown member ${shown(name)}: this must be ${wanted}.`;
  if (meant === undefined) return { at, fault: { code: 'UNKNOWN_FIELD', message } };
  const patch = [moveMember(pointer, name, meant)];
  return { at, fault: { code: 'UNKNOWN_FIELD', message, suggestion: `Did you mean "${meant}"?`, patch } };
}

/** The member that another word for it means: {"node": "fast"}, {"value": 30}. */
function memberMeant(of: ExpressionType, name: string, value: unknown): 'ref' | 'const' | undefined {
  const meant = REFERENCE_MEMBERS.get(name);
  if (typeof value === 'number') return of === 'value' && meant === 'const' ? 'const' : undefined;
  if (typeof value !== 'string') return undefined;
  return meant === 'ref' || nearestName(name, ['ref'])?.isCertain === true ? 'ref' : undefined;
}

const AS_NODE = 'Put the expression into `nodes` and refer to it by its id.';

/** The expression that a text or a list of conditions stands for; undefined for the name of a node. */
function expressionIn(of: ExpressionType, value: unknown, names: TextContext): Members | undefined {
  if (Array.isArray(value)) return of === 'condition' && value.length > 1 ? { kind: 'all', items: value } : undefined;
  if (typeof value !== 'string' || names.nodes.has(nodeName(value))) return undefined;
  if (of === 'value' && numericText(value) !== undefined) return undefined;
  return expressionMeant(of, value, names)?.value as Members | undefined;
}

/** The patch that makes nodes of an expression, named by its own id or by its place, and refers to the outermost. */
function asNode(expression: Members, pointer: string): PatchOperation[] | undefined {
  if (typeOfKind(expression.kind) === undefined || isTooLong(expression)) return undefined;
  const [member, ...place] = parsePointer(pointer)!;
  const id = typeof expression.id === 'string' && expression.id !== '' ? expression.id : place.join('_');
  const nodes: Members[] = [];
  addNodes(expression, id, nodes);
  return [
    ...nodes.map((value): PatchOperation => ({ op: 'add', path: `/${member}/nodes/-`, value })),
    { op: 'replace', path: pointer, value: { ref: id } },
  ];
}

/** Adds an expression and those below it as nodes, the ones below first. */
function addNodes(expression: Members, id: string, nodes: Members[]): void {
  const reference = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) return value.map((item, at) => reference(item, `${place}_${at}`));
    if (!isMembers(value)) return value;
    if (value.kind === NODE) return { ref: value.ref };
    if (value.kind === 'const' && typeof value.value === 'number') return { const: value.value };
    if (typeOfKind(value.kind) === undefined) return value;
    const own = typeof value.id === 'string' && value.id !== '' ? value.id : place;
    addNodes(value, own, nodes);
    return { ref: own };
  };
  const members = Object.entries(expression).map(([name, value]) => [name, reference(value, `${id}_${name}`)] as const);
  nodes.push({ ...Object.fromEntries(members), id });
}

/** The id in a text such as `$fast` or `@fast`. */
const nodeName = (text: string): string => text.replace(/^[$@#&]/, '');

/** The reference meant by a bare node id or number. */
function referenceMeant(
  of: ExpressionType,
  value: unknown,
  names: TextContext,
): { readonly value: object } | undefined {
  const number = of === 'value' ? numericText(value) : undefined;
  if (number !== undefined) return { value: { const: number } };
  if (typeof value === 'string') return { value: { ref: names.nodes.has(value) ? value : nodeName(value) } };
  return typeof value === 'number' && of === 'value' && Number.isFinite(value)
    ? { value: { const: value } }
    : undefined;
}
