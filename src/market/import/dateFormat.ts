// Date formats: `DD/MM/YYYY HH:mm` and `%d/%m/%Y %H:%M`, with which the owner of a file settles what its dates mean.
import { refuse } from './importError.ts';
import { monthOfName } from './dates.ts';
import type { NumericUnit } from './numericTimes.ts';

type Field = 'year' | 'month' | 'monthName' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half' | 'zone';

/** What a part of a format stands for, longest first. */
const TOKENS: readonly (readonly [token: string, field: Field, pattern: string])[] = [
  ['YYYY', 'year', '\\d{4}'],
  ['yyyy', 'year', '\\d{4}'],
  ['%Y', 'year', '\\d{4}'],
  ['MMMM', 'monthName', '\\p{L}{3,9}\\.?'],
  ['MMM', 'monthName', '\\p{L}{3,9}\\.?'],
  ['%B', 'monthName', '\\p{L}{3,9}\\.?'],
  ['%b', 'monthName', '\\p{L}{3,9}\\.?'],
  ['SSSSSS', 'fraction', '\\d{1,9}'],
  ['SSS', 'fraction', '\\d{1,9}'],
  ['%f', 'fraction', '\\d{1,9}'],
  ['YY', 'year', '\\d{2}'],
  ['yy', 'year', '\\d{2}'],
  ['%y', 'year', '\\d{2}'],
  ['MM', 'month', '\\d{2}'],
  ['%m', 'month', '\\d{1,2}'],
  ['M', 'month', '\\d{1,2}'],
  ['DD', 'day', '\\d{2}'],
  ['dd', 'day', '\\d{2}'],
  ['%d', 'day', '\\d{1,2}'],
  ['D', 'day', '\\d{1,2}'],
  ['d', 'day', '\\d{1,2}'],
  ['HH', 'hour', '\\d{1,2}'],
  ['hh', 'hour', '\\d{1,2}'],
  ['%H', 'hour', '\\d{1,2}'],
  ['%I', 'hour', '\\d{1,2}'],
  ['H', 'hour', '\\d{1,2}'],
  ['h', 'hour', '\\d{1,2}'],
  ['mm', 'minute', '\\d{2}'],
  ['%M', 'minute', '\\d{2}'],
  ['ss', 'second', '\\d{2}'],
  ['%S', 'second', '\\d{2}'],
  ['A', 'half', '[AP]M'],
  ['a', 'half', '[AP]M'],
  ['%p', 'half', '[AP]M'],
  ['Z', 'zone', '.+'],
  ['%z', 'zone', '.+'],
  ['%Z', 'zone', '.+'],
];

/** Formats of times that are numbers. */
const NAMED: Readonly<Record<string, NumericUnit>> = {
  excel: 'excel', days: 'days', s: 's', ms: 'ms', us: 'us', ns: 'ns',
}; // prettier-ignore

/** The unit of a format such as `excel` or `ms`; undefined for the format of a text. */
export const namedUnit = (format: string): NumericUnit | undefined => NAMED[format.toLowerCase()];

/** Rewrites a date in a format as ISO 8601, with what follows the date; null if the text is not in that format. */
type DateRewriter = (text: string) => string | null;

/** @throws MarketDataError OPTION_INVALID if the format does not show the year, month and day */
export function parseDateFormat(format: string): DateRewriter {
  const fields: Field[] = [];
  let pattern = '';
  let isDigits = true;
  for (let at = 0; at < format.length;) {
    const token = TOKENS.find(([text]) => format.startsWith(text, at));
    const length = token?.[0].length ?? 1;
    if (token) fields.push(token[1]);
    isDigits &&= token !== undefined && token[2].startsWith('\\d');
    pattern += token ? `(${token[2]})` : literal(format[at]);
    at += length;
  }
  const missing = (['year', 'month', 'day'] as const).filter(
    (field) => !fields.includes(field) && !(field === 'month' && fields.includes('monthName')),
  );
  if (missing.length > 0)
    refuse(
      'OPTION_INVALID',
      `The date format "${format}" has no ${missing.join(' and no ')}. Write it like DD/MM/YYYY HH:mm or ` +
        `%d/%m/%Y %H:%M, or give one of ${Object.keys(NAMED).join(', ')} for numbers.`,
    );
  const regex = new RegExp(`^${pattern}${fields.includes('hour') ? '' : '(.*)'}$`, 'iu');
  return (text) => {
    // A number has lost its leading zeros: 1022024 is 01022024.
    const whole = isDigits ? text.trim().padStart(format.replaceAll('%Y', 'YYYY').length, '0') : text.trim();
    const match = regex.exec(whole);
    return match && isoText(fields, match);
  };
}

const literal = (character: string): string =>
  character === ' ' ? '\\s+' : character.replace(/[.*+?^${}()|[\]\\/]/, '\\$&');

function isoText(fields: readonly Field[], match: readonly string[]): string | null {
  const of = (field: Field): string | undefined => {
    const at = fields.indexOf(field);
    return at < 0 ? undefined : match[at + 1];
  };
  const year = of('year')!;
  const name = of('monthName');
  const month = name === undefined ? of('month') : monthOfName(name)?.toString();
  if (month === undefined) return null;
  const date = `${fullYear(year)}-${month.padStart(2, '0')}-${of('day')!.padStart(2, '0')}`;
  const hour = of('hour');
  if (hour === undefined) return `${date}${match.at(-1)}`;
  const half = of('half');
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (/p/i.test(half) ? 12 : 0));
  const fraction = of('fraction');
  const seconds = `${of('second') ?? '00'}${fraction === undefined ? '' : `.${fraction}`}`;
  return `${date} ${hours}:${of('minute') ?? '00'}:${seconds}${of('zone') ?? ''}`;
}

/** 69 is 1969 and 68 is 2068, as POSIX reads years of two digits. */
const fullYear = (year: string): string => (year.length === 4 ? year : Number(year) >= 69 ? `19${year}` : `20${year}`);
