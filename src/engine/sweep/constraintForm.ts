// The form of a constraint that is written as a formula, "fast < slow", or with a sign in place of its operator.
import { CONSTRAINT_SIGNS } from '../language/hints/formWords.ts';
import { isMembers } from '../language/grammar/payloadObjects.ts';
import { pointerTo } from '../language/pointer.ts';
import type { PatchOperation } from '../language/issues/patch.ts';

const FORMULA = /^\s*([^\s<>=!]+)\s*([<>=!]=?)\s*([^\s<>=!]+)\s*$/;

interface Advice {
  readonly suggestion: string;
  /** Of the body as it was sent. */
  readonly patch: readonly PatchOperation[];
}

/** How a constraint that was sent is to be written; undefined when it cannot be told. */
export function constraintAdvice(index: number, given: unknown): Advice | undefined {
  const path = pointerTo('/constraints', String(index));
  if (isMembers(given)) {
    const op = typeof given.op === 'string' ? CONSTRAINT_SIGNS.get(given.op) : undefined;
    if (op === undefined) return undefined;
    return { suggestion: `Write "${op}".`, patch: [{ op: 'replace', path: `${path}/op`, value: op }] };
  }
  const [, left, sign, right] = typeof given === 'string' ? (FORMULA.exec(given) ?? []) : [];
  const op = sign === undefined ? undefined : CONSTRAINT_SIGNS.get(sign);
  if (op === undefined) return undefined;
  const value = { left: sideOf(left), op, right: sideOf(right) };
  return { suggestion: `Write ${JSON.stringify(value)}.`, patch: [{ op: 'replace', path, value }] };
}

const sideOf = (text: string): string | number => (Number.isFinite(Number(text)) ? Number(text) : text);
