// Faults: issues of values whose places the caller knows, and the forms that most of them have.
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { shown } from '../issues/displayNames.ts';
import type { Nearest } from '../issues/nearest.ts';
import type { PatchOperation } from '../issues/patch.ts';

export type FindNearest = (word: string, words: readonly string[]) => Nearest | undefined;

/** An issue of the value at a pointer that the caller knows. */
export interface Fault {
  readonly code: IssueCode;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly patch?: readonly PatchOperation[] | undefined;
}

export const replaceBy = (path: string, value: unknown): PatchOperation[] => [{ op: 'replace', path, value }];

/** A member that its object does not have. */
export const unknownMember = (name: string, suggestion: string, patch?: readonly PatchOperation[]): Fault => ({
  code: 'UNKNOWN_FIELD',
  message: `Unknown member ${shown(name)}.`,
  suggestion,
  patch,
});

/** TYPE_MISMATCH at a place that takes `wanted`, with `repair` as its patch when that is certain. */
export function mismatch(pointer: string, wanted: string, value: unknown, repair?: { readonly value: unknown }): Fault {
  const patch = repair === undefined ? undefined : replaceBy(pointer, repair.value);
  const message = `This must be ${wanted}, not ${shown(value)}.`;
  const suggestion = repair === undefined ? numberAdvice(wanted, value) : writeAdvice(repair.value);
  return { code: 'TYPE_MISMATCH', message, suggestion, patch };
}

/** Longer values are not written out in a suggestion; the patch has them. */
const MAX_WRITTEN = 160;

/** A hostile payload may hold huge expressions; patches that repeat a part of it are kept short. */
const MAX_REPEATED = 4_000;
export const isTooLong = (value: object): boolean => JSON.stringify(value).length > MAX_REPEATED;

/** The suggestion that says what the patch writes, for readers who do not apply patches. */
export function writeAdvice(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return text.length > MAX_WRITTEN ? undefined : `Write ${text}.`;
}

/** Advice for "2%", "1,5" or "3 bars" in place of a number, whose unit or number is not certain: there is no patch. */
function numberAdvice(wanted: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^(?:a|a whole) number/.test(wanted)) return undefined;
  const [, points] = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(value) ?? [];
  if (points !== undefined) return `Write ${points}: percents are in points.`;
  const [, whole, part] = /^\s*(-?\d{1,9}),(\d{1,9})\s*$/.exec(value) ?? [];
  if (part !== undefined) return `Write ${whole}.${part}, with a decimal point, if that is meant.`;
  return /^\W*\d/.test(value) ? 'Write the number alone, without a unit or separators.' : undefined;
}
