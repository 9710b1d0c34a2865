// Leaves: what is wrong with a value that has no members, a word, number, string or flag, and how to repair it.
import { numberIssue, type NumberShape, type Shape } from '../grammar/shapes.ts';
import { adviceFor } from '../hints/examples.ts';
import { BACK_ADVICE, LOOKS_AHEAD } from '../hints/lookAhead.ts';
import { operatorKind, synonymIn } from '../hints/synonyms.ts';
import { bounded, expected, numericText, shown } from '../issues/displayNames.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { asCall, fieldColumn, type Column } from '../text/columns.ts';
import { mismatch, replaceBy, writeAdvice, type Fault, type FindNearest } from './fault.ts';
import { nearestName, plain, suggestionFor } from '../issues/nearest.ts';

export type Leaf = Shape & { readonly type: 'choice' | 'number' | 'string' | 'boolean' | 'checked' };
type Choice = Shape & { readonly type: 'choice' };

/**
 * What is wrong with `value`; null: nothing.
 * @param pointer the place of the value, where a patch would replace it
 * @param name the member whose value it is
 * @param findNearest undefined: similar words are not searched for, because the issue is only counted
 */
export function leafFault(
  shape: Leaf,
  value: unknown,
  pointer: string,
  name: string,
  findNearest: FindNearest | undefined,
): Fault | null {
  switch (shape.type) {
    case 'choice':
      return choiceFault(shape, value, pointer, name, findNearest);
    case 'number':
      return numberFault(shape, value, pointer, name);
    case 'string':
      return stringFault(shape, value, pointer, name);
    case 'boolean':
      return typeof value === 'boolean' ? null : mismatch(pointer, 'true or false', value);
    case 'checked':
      return shape.schema.safeParse(value).success ? null : mismatch(pointer, expected(shape), value);
  }
}

function choiceFault(
  shape: Choice,
  value: unknown,
  pointer: string,
  name: string,
  findNearest: FindNearest | undefined,
): Fault | null {
  const { values, code, isLiteral } = shape;
  if (values.includes(value as string)) return null;
  if (isLiteral && (name === 'kind' || typeof values[0] === 'number')) return literalFault(shape, value, pointer, name);
  if (typeof value === 'string') return wordFault(shape, value, pointer, name, findNearest);
  return {
    code: isLiteral && code !== undefined ? code : 'TYPE_MISMATCH',
    message: `${name} must be ${expected(shape)}, not ${shown(value)}.`,
  };
}

/** A kind or a number other than the only one there is. */
function literalFault({ values, code }: Choice, value: unknown, pointer: string, name: string): Fault {
  const [only] = values;
  if (name === 'kind') {
    const message = `kind must be ${shown(only)} here, not ${shown(value)}.`;
    // A word that is no slip of the only kind says another meaning: an exit among the entries, rates in percent.
    const isMeant =
      typeof value !== 'string' ||
      nearestName(value, [String(only)])?.isCertain === true ||
      plain(String(only)).includes(plain(value));
    return {
      code: 'UNKNOWN_NODE_KIND',
      message,
      suggestion: isMeant ? writeAdvice(only) : `Use ${JSON.stringify(only)}, if that is meant.`,
      patch: isMeant ? replaceBy(pointer, only) : undefined,
    };
  }
  return {
    code: code ?? 'OUT_OF_RANGE',
    message: `${name} must be ${only}, not ${shown(value)}.`,
    suggestion: `Use ${only}.`,
    patch: numericText(value) === only ? replaceBy(pointer, only) : undefined,
  };
}

/** A word that is not among the choices. */
function wordFault(
  { values, code = 'OUT_OF_RANGE' }: Choice,
  value: string,
  pointer: string,
  name: string,
  findNearest: FindNearest | undefined,
): Fault {
  const message = `${name} cannot be ${shown(value)}.`;
  const words = values as readonly string[];
  // A sell closes a long position or opens a short one: which of the two was meant, only the author knows.
  const isSide = words.includes('long') && !words.includes('bullish');
  const isExit = words.includes('any');
  if (isSide && (isExit ? /^(?:buy|sell)/i : /^(?:sell|cover|exit|close)/i).test(value))
    return { code, message, suggestion: isExit ? SIDE_ADVICE : ENTRY_SIDE_ADVICE };
  const synonym = synonymIn(value, words);
  const crossing = synonym === undefined && words.includes('gt') ? operatorKind(value) : undefined;
  if (crossing?.kind === 'cross') return crossingFault(crossing.op, value, pointer, name);
  const column = synonym === undefined && words.includes('hlc3') ? fieldColumn(value) : undefined;
  if (column !== undefined) return columnFault(column, value, pointer);
  const nearest = synonym === undefined ? findNearest?.(value, words) : { name: synonym, isCertain: true };
  // A near timeframe is rarely the one that was meant: 5m is not 15m.
  const isSameWord = synonym !== undefined || nearest?.name.toLowerCase() === value.toLowerCase();
  const meant = code === 'UNKNOWN_TIMEFRAME' && !isSameWord ? undefined : nearest;
  const isHours = words.includes('us_equities') && nearest === undefined;
  const suggestion = suggestionFor(meant, words) + (isHours ? HOURS_ADVICE : '');
  return { code, message, suggestion, patch: meant?.isCertain === true ? replaceBy(pointer, meant.name) : undefined };
}

const SIDE_ADVICE = 'Use one of long, short, any: the side of the positions that the rule closes.';
const ENTRY_SIDE_ADVICE =
  'An entry opens a position: use long, or short to sell short. Write the sale of a long position in exits.';
const HOURS_ADVICE =
  ' For other hours, use {"kind": "time_window", "between": {"from": "09:30", "to": "16:00"}} instead.';

/** The operator of a cross in a comparison. */
function crossingFault(op: string, value: string, pointer: string, name: string): Fault {
  const node = pointer.slice(0, pointer.lastIndexOf('/'));
  return {
    code: 'UNKNOWN_OPERATOR',
    message: `${name} cannot be ${shown(value)}: a comparison looks at one bar.`,
    suggestion: `Use kind "cross" with op "${op}".`,
    patch: [...replaceBy(`${node}/kind`, 'cross'), ...replaceBy(pointer, op)],
  };
}

/** An indicator in the place of a field of the bar, such as `ha_close`: the field that sounds similar is another. */
function columnFault(column: Column, value: string, pointer: string): Fault {
  const node = pointer.slice(0, pointer.lastIndexOf('/'));
  return {
    code: 'OUT_OF_RANGE',
    message: `${shown(value)} is not a field of the bar; the indicator ${column.indicator} computes it.`,
    suggestion: writeAdvice(column),
    patch: [...asCall(node, column), { op: 'remove', path: pointer }],
  };
}

/** A percent is more likely than a slip beyond the bound. */
const QUANTILE_ADVICE = 'Give a number of at least 0 and at most 1: 0.95 for 95 %.';

function numberFault(
  shape: NumberShape & { code?: IssueCode | undefined },
  value: unknown,
  pointer: string,
  name: string,
): Fault | null {
  if (typeof value !== 'number') {
    const numeric = numericText(value);
    if (numeric === undefined) return mismatch(pointer, expected(shape), value);
    if (numberIssue(shape, numeric) !== undefined) return numberFault(shape, numeric, pointer, name);
    return mismatch(pointer, expected(shape), value, { value: numeric });
  }
  const issue = numberIssue(shape, value);
  if (issue === undefined) return null;
  const { message } = issue;
  const code = shape.code ?? 'OUT_OF_RANGE';
  if (value < 0 && COUNTS_BACK.has(name))
    return { code, message: `This ${message}: ${LOOKS_AHEAD}.`, suggestion: BACK_ADVICE };
  // No patch: a number that nobody wrote, or one without its sign, runs as another strategy.
  const { min, max, isMinExclusive } = shape;
  const nearest = value > max ? `Use at most ${max}.` : isMinExclusive ? undefined : `Use at least ${min}.`;
  const isWhole = !shape.isInteger || Number.isInteger(value);
  const suggestion = isWhole && Number.isFinite(value) ? nearest : undefined;
  return {
    code,
    message: `This ${message}.`,
    suggestion: name === 'quantile' ? QUANTILE_ADVICE : (suggestion ?? `Give ${bounded(shape)}.`),
  };
}

/** Members that count bars back from this one; below zero, they would count ahead. */
const COUNTS_BACK: ReadonlySet<string> = new Set(['offset', 'bars', 'occurrence', 'displacement']);

function stringFault(shape: Shape & { type: 'string' }, value: unknown, pointer: string, name: string): Fault | null {
  if (typeof value !== 'string') {
    const [only, ...others] = Array.isArray(value) ? (value as unknown[]) : [];
    const isOnly = typeof only === 'string' && others.length === 0;
    const fault = mismatch(pointer, 'a string', value, isOnly ? { value: only } : undefined);
    return isOnly ? fault : { ...fault, suggestion: adviceFor(name, shape) };
  }
  if (value.length < shape.min)
    return {
      code: 'OUT_OF_RANGE',
      message: `This must have at least ${shape.min} ${shape.min === 1 ? 'character' : 'characters'}.`,
    };
  if (value.length > shape.max)
    return { code: 'OUT_OF_RANGE', message: `This must have at most ${shape.max} characters.` };
  if (shape.pattern !== null && !shape.pattern.test(value)) {
    return {
      code: 'OUT_OF_RANGE',
      message: `${shown(value)} does not have the right format.`,
      suggestion: shape.hint || undefined,
    };
  }
  return null;
}
