// References: what is wrong with a value that stands where a node of a graph refers to another, and how to repair it.
import type { ExpressionType } from '../grammar/shapes.ts';
import { pointerTo } from '../pointer.ts';
import { shown } from '../issues/displayNames.ts';
import { mismatch, type Fault } from './leafFaults.ts';
import { nearestName } from '../issues/nearest.ts';
import { isMembers } from '../grammar/payloadObjects.ts';

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
): { readonly at: string; readonly fault: Fault } {
  const wanted = WANTED[of];
  if (!isMembers(value)) {
    return { at: pointer, fault: mismatch(pointer, wanted, value, referenceMeant(of, value) ?? onlyItem) };
  }
  if (typeof value.kind === 'string') {
    if (of === 'value' && value.kind === 'const' && typeof value.value === 'number') {
      return { at: pointer, fault: mismatch(pointer, wanted, value, { value: { const: value.value } }) };
    }
    const message = `This must be ${wanted}, not an expression.`;
    const suggestion = 'Put the expression into `nodes` and refer to it by its id.';
    return { at: pointer, fault: { code: 'TYPE_MISMATCH', message, suggestion } };
  }
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return { at: pointer, fault: mismatch(pointer, wanted, value) };
  const at = pointerTo(pointer, name);
  if (name === 'ref') return { at, fault: mismatch(at, 'a node id', value.ref) };
  const isRef = nearestName(name, ['ref'])?.isCertain === true;
  const patch = isRef ? [{ op: 'move', from: at, path: pointerTo(pointer, 'ref') } as const] : undefined;
  return { at, fault: { code: 'UNKNOWN_FIELD', message: `This must be ${wanted}, not ${shown(value)}.`, patch } };
}

/** The reference meant by a bare node id or number. */
function referenceMeant(of: ExpressionType, value: unknown): { readonly value: object } | undefined {
  if (typeof value === 'string') return { value: { ref: value } };
  return typeof value === 'number' && of === 'value' && Number.isFinite(value)
    ? { value: { const: value } }
    : undefined;
}
