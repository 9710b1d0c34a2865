// Setting differences: each place where the strategies and configs of several runs differ, with the value of each run.
import { isMembers, type Members } from '../../language/grammar/payloadObjects.ts';
import { pointerTo } from '../../language/pointer.ts';
import { canonicalJson } from '../canonicalJson.ts';

interface SettingDifference {
  /** RFC 6901 pointer into {strategy, settings, config}. */
  readonly path: string;
  /** The same place in words. */
  readonly text: string;
  /** One value per run, in their order; null where a run has none. Long values are shortened to text. */
  readonly values: readonly unknown[];
}

interface SettingDifferences {
  readonly settings: readonly SettingDifference[];
  /** Differences beyond those that are listed. */
  readonly omitted: number;
}

/** More are not read; the first ones are those of the highest places. */
const MAX_SETTINGS = 100;
/** Longer values are cut. */
const MAX_VALUE_LENGTH = 200;
/** A list of more items is compared as one value. */
const MAX_ITEMS = 50;

/** @param runs what was set, in canonical form: members that are left out have the same meaning everywhere */
export function settingDifferences(runs: readonly Members[]): SettingDifferences {
  const settings: SettingDifference[] = [];
  let omitted = 0;
  const report = (path: string, words: readonly string[], values: readonly unknown[]): void => {
    if (settings.length === MAX_SETTINGS) omitted++;
    else settings.push({ path, text: textOf(words), values: values.map(shownValue) });
  };
  compare(runs, '', [], report);
  return { settings, omitted };
}

type Report = (path: string, words: readonly string[], values: readonly unknown[]) => void;

function compare(values: readonly unknown[], path: string, words: readonly string[], report: Report): void {
  const [first] = values;
  if (values.every((value) => value === first)) return;
  if (values.every(isMembers) && isSameThing(values)) {
    const names = new Set(values.flatMap((value) => Object.keys(value)));
    const own = [...words, ...nameOf(first as Members)];
    for (const name of names)
      compare(
        values.map((value) => (Object.hasOwn(value, name) ? (value[name] ?? null) : null)),
        pointerTo(path, name),
        [...own, wordsOf(name)],
        report,
      );
    return;
  }
  if (values.every((value) => Array.isArray(value)) && isSameLength(values)) {
    for (const index of (first as unknown[]).keys())
      compare(
        values.map((value) => value[index] as unknown),
        pointerTo(path, String(index)),
        [...words, String(index + 1)],
        report,
      );
    return;
  }
  const [text, ...others] = values.map((value) => canonicalJson(value));
  if (others.some((other) => other !== text)) report(path, words, values);
}

/** Members that say what an object is: objects of different kinds are compared as wholes. */
const DISCRIMINANTS = ['kind', 'mode', 'indicator', 'pattern'] as const;

const isSameThing = (values: readonly Members[]): boolean =>
  DISCRIMINANTS.every((name) => values.every((value) => value[name] === values[0][name]));

const isSameLength = (lists: readonly (readonly unknown[])[]): boolean =>
  lists[0].length <= MAX_ITEMS && lists.every(({ length }) => length === lists[0].length);

/** The name of an indicator or pattern, by which people know it. */
const nameOf = ({ indicator, pattern }: Members): string[] =>
  [indicator, pattern].filter((name) => typeof name === 'string').map((name) => `(${name})`);

/** `takerRate` as "taker rate". */
const wordsOf = (name: string): string =>
  /^[a-z][A-Za-z0-9]*$/.test(name) ? name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : name;

/** The area, then the words of the place: "strategy: entry 1, trigger, left (sma), args, length". */
function textOf([area = 'all', ...words]: readonly string[]): string {
  const text = words.join(', ').replaceAll(/, (?=\(|\d+(?:,|$))/g, ' ');
  return text === '' ? area : `${area}: ${text}`;
}

function shownValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? shortened(value) : value;
  const json = JSON.stringify(value);
  return json.length <= MAX_VALUE_LENGTH ? value : shortened(json);
}

const shortened = (text: string): string =>
  text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH - 1)}…`;
