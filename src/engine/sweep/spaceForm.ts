// The form of a dimension: what is wrong with one that is neither a list of values nor a range, with the names and
// forms that other tools have for it.
import { DIMENSION_MEMBERS, EXCLUSIVE_ENDS, POINT_COUNTS } from '../language/hints/formWords.ts';
import { nearestName, plain } from '../language/issues/nearest.ts';
import type { PatchOperation } from '../language/issues/patch.ts';
import { isMembers, type Members } from '../language/grammar/payloadObjects.ts';
import { pointerTo } from '../language/pointer.ts';

interface DimensionFault {
  readonly code: 'UNKNOWN_FIELD' | 'TYPE_MISMATCH';
  /** Below the dimension; empty for the dimension itself. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion?: string;
  /** Of the body as it was sent. */
  readonly patch?: readonly PatchOperation[];
}

const RANGE = ['min', 'max', 'step', 'log'] as const;
const MEMBERS = ['values', ...RANGE] as const;

const FORMS = 'Give {"values": [10, 20, 50]} or {"min": 10, "max": 50, "step": 10}.';

/** What is wrong with the form of a dimension; empty when nothing is. @param given any JSON value */
export function dimensionFaults(name: string, given: unknown): DimensionFault[] {
  if (!isMembers(given)) return [formFault(name, given)];
  const faults = memberFaults(name, given);
  // An object for another purpose: each of its members would be listed.
  const isForeign = faults.length > 1 && faults.every(({ message }) => message.endsWith('remove it.'));
  return isForeign && faults.length === Object.keys(given).length ? [formFault(name, given)] : faults;
}

/** A list or a single value in place of an object. */
function formFault(name: string, given: unknown): DimensionFault {
  if (name === 'instruments') return universeFault(given);
  const message = `"${name}" must be {"values": […]}, or a range such as {"min": 2, "max": 30}.`;
  const fault = { code: 'TYPE_MISMATCH', path: [], message } as const;
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  const isText = typeof given === 'string' && name !== 'symbol' && name !== 'timeframe';
  if (values.length === 0 || !values.every(isLevel) || isText) return { ...fault, suggestion: FORMS };
  const written = JSON.stringify({ values });
  const numbers = values.filter((value) => typeof value === 'number');
  const isRising = numbers.every((value, at) => at === 0 || value > numbers[at - 1]);
  // [5, 50] and [5, 50, 5] may be ranges, [5, 10, 50] may not.
  const isList = numbers.length < values.length || values.length === 1 || (values.length > 2 && isRising);
  if (isList)
    return {
      ...fault,
      suggestion: `Write ${written}.`,
      patch: [{ op: 'replace', path: pointerTo('/space', name), value: { values } }],
    };
  const [min, max, step] = numbers;
  const range = JSON.stringify({ min, max, ...(values.length === 3 && { step }) });
  const suggestion =
    values.length <= 3
      ? `Write ${written} for these ${values.length} values, or ${range} for a range.`
      : `Write ${written}.`;
  return { ...fault, suggestion };
}

/** Something in place of {"values": […]} for universes. */
function universeFault(given: unknown): DimensionFault {
  const message = '"instruments" must be {"values": […]}, each value a list of symbols.';
  const fault = { code: 'TYPE_MISMATCH', path: [], message } as const;
  const lists = Array.isArray(given) ? given.map(symbolsIn) : [];
  if (lists.length === 0 || !lists.every((symbols) => symbols !== undefined))
    return { ...fault, suggestion: 'Give {"values": [["SPY", "BND"], ["SPY", "EFA", "BND"]]}.' };
  const values = { values: lists };
  return {
    ...fault,
    suggestion: 'Write the lists as "values".',
    patch: [{ op: 'replace', path: pointerTo('/space', 'instruments'), value: values }],
  };
}

/** The symbols of a list as a config or a sweep writes it. */
function symbolsIn(list: unknown): string[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const symbols = list.map((each: unknown) => (isMembers(each) ? each.symbol : each));
  return symbols.every((symbol) => typeof symbol === 'string') ? symbols : undefined;
}

const isLevel = (value: unknown): boolean => ['number', 'string', 'boolean'].includes(typeof value);

/** Members of a dimension that are looked at: an answer lists no more faults. */
const MAX_MEMBERS = 100;

function memberFaults(name: string, given: Members): DimensionFault[] {
  const isRange = (member: string): boolean => (RANGE as readonly string[]).includes(member);
  return Object.entries(given)
    .slice(0, MAX_MEMBERS)
    .flatMap(([member, value]) => {
      if (!(MEMBERS as readonly string[]).includes(member)) return unknownMember(name, given, member, value);
      if (isRange(member) && 'values' in given)
        return {
          code: 'UNKNOWN_FIELD',
          path: [member],
          message: `"${member}" cannot stand beside "values".`,
          suggestion: `Keep "values" and remove it, or remove "values" for a range.`,
        };
      return typeFault(name, member, value);
    });
}

function unknownMember(name: string, given: Members, member: string, value: unknown): DimensionFault {
  const path = pointerTo('/space', name, member);
  const fault = { code: 'UNKNOWN_FIELD', path: [member], message: `Unknown member "${member}".` } as const;
  const word = plain(member);
  if (POINT_COUNTS.has(word))
    return { ...fault, suggestion: 'Give "step", the distance of neighboring values, in place of their number.' };
  if (word === 'range' && isEnds(value) && Object.keys(given).length === 1) {
    const [min, max, step] = value;
    const range = { min, max, ...(step !== undefined && { step }) };
    const patch = [{ op: 'replace', path: pointerTo('/space', name), value: range } as const];
    return { ...fault, suggestion: `Write ${JSON.stringify(range)}.`, patch };
  }
  const nearest = nearestName(member, MEMBERS);
  const meant = DIMENSION_MEMBERS.get(word) ?? nearest?.name;
  const isTaken = meant === undefined || given[meant] !== undefined;
  if (isTaken)
    return {
      ...fault,
      message: `Unknown member "${member}"; remove it.`,
      suggestion: 'A dimension has "values", or "min", "max", "step" and "log".',
    };
  if (EXCLUSIVE_ENDS.has(word))
    return {
      ...fault,
      suggestion: 'Use "max", the last value. In Python the end of a range is not one of its values.',
    };
  const isCertain = (DIMENSION_MEMBERS.has(word) || nearest?.isCertain === true) && fits(meant, value);
  return {
    ...fault,
    suggestion: `Did you mean "${meant}"?`,
    ...(isCertain && { patch: [{ op: 'move', from: path, path: pointerTo('/space', name, meant) } as const] }),
  };
}

const isEnds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  (value.length === 2 || value.length === 3) &&
  value.every((each) => typeof each === 'number') &&
  value[0] < value[1] &&
  (value.length === 2 || (value[2] > 0 && value[2] <= value[1] - value[0]));

const fits = (member: string, value: unknown): boolean =>
  member === 'values' ? Array.isArray(value) : typeof value === (member === 'log' ? 'boolean' : 'number');

function typeFault(name: string, member: string, value: unknown): DimensionFault[] {
  if (fits(member, value)) return member === 'values' ? levelFaults(name, value as readonly unknown[]) : [];
  const type = member === 'values' ? 'a list' : member === 'log' ? 'true or false' : 'a number';
  const fault = { code: 'TYPE_MISMATCH', path: [member], message: `"${member}" must be ${type}.` } as const;
  const meant = member === 'values' ? (isLevel(value) ? [value] : undefined) : numberIn(member, value);
  if (meant === undefined) return [fault];
  // "10, 20" may be a list itself.
  const isCertain = typeof value !== 'string' || member !== 'values';
  const patch = [{ op: 'replace', path: pointerTo('/space', name, member), value: meant } as const];
  return [{ ...fault, suggestion: `Write ${JSON.stringify(meant)}.`, ...(isCertain && { patch }) }];
}

/** The number in a text, for the members that are numbers. */
const numberIn = (member: string, value: unknown): number | undefined =>
  member !== 'log' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;

function levelFaults(name: string, values: readonly unknown[]): DimensionFault[] {
  const isList = (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && value.every((symbol) => typeof symbol === 'string' && symbol !== '');
  const at = values.findIndex((value) => !isLevel(value) && !isList(value));
  if (at === -1) return [];
  if (name === 'instruments') {
    const message = `"values[${at}]" must be a list of symbols.`;
    const symbols = symbolsIn(values[at]);
    const patch = [{ op: 'replace', path: pointerTo('/space', name, 'values', at), value: symbols } as const];
    const suggestion = symbols === undefined ? '["SPY", "BND"] is such a list.' : `Write ${JSON.stringify(symbols)}.`;
    return [
      { code: 'TYPE_MISMATCH', path: ['values', at], message, suggestion, ...(symbols !== undefined && { patch }) },
    ];
  }
  const message = `"values[${at}]" must be a number, a text, or true or false.`;
  return [{ code: 'TYPE_MISMATCH', path: ['values', at], message }];
}

/** The first list of symbols of a space that varies the instruments. @param space any JSON value */
export function firstUniverse(space: unknown): readonly string[] | undefined {
  const given = isMembers(space) ? space.instruments : undefined;
  const values = isMembers(given) ? given.values : given;
  return Array.isArray(values) ? symbolsIn(values[0]) : undefined;
}
