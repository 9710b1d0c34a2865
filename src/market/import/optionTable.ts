// The options of an import, in one table: the command line, HTTP and MCP name, describe and check them by it.
import { TIMEFRAMES } from '../../engine/bars/bars.ts';
import { checkDateFormat, parseColumns, parseTimezone } from './readOptions.ts';
import type { ReadOptions } from './readOptions.ts';

interface ImportOption {
  /** The member of ReadOptions, and the query parameter. */
  readonly name: keyof ReadOptions;
  readonly flag: string;
  /** What the command line calls the value; null: the option has none. */
  readonly value: string | null;
  readonly text: string;
  readonly choices?: readonly string[];
  /** Reads the value. @throws MarketDataError OPTION_INVALID */
  readonly parse?: (text: string) => unknown;
}

export const IMPORT_OPTIONS: readonly ImportOption[] = [
  {
    name: 'timeframe',
    flag: '--timeframe',
    value: 'timeframe',
    text: `one of ${TIMEFRAMES.join(', ')}; default: inferred from the bars`,
    choices: TIMEFRAMES,
  },
  {
    name: 'columns',
    flag: '--columns',
    value: 'pairs',
    text: 'which columns are which, by name or number: time=Date,open=Open,close=5; time=Date+Time joins two',
    parse: parseColumns,
  },
  {
    name: 'timezone',
    flag: '--timezone',
    value: 'zone',
    text: 'the zone of times that state none, and of the days of daily bars: America/New_York; default: UTC',
    parse: parseTimezone,
  },
  {
    name: 'timeIs',
    flag: '--time-is',
    value: 'which',
    text: 'whether the times are the open or the close of each bar; default: open',
    choices: ['open', 'close'],
  },
  {
    name: 'dateFormat',
    flag: '--date-format',
    value: 'format',
    text: 'how dates are written: DD/MM/YYYY, "%m/%d/%y %H:%M", or excel, days, s, ms, us, ns for numbers',
    parse: checkDateFormat,
  },
  { name: 'sort', flag: '--sort', value: null, text: 'put the rows in the order of their times' },
  {
    name: 'dedupe',
    flag: '--dedupe',
    value: 'which',
    text: 'keep the first or the last row of a time that appears more than once',
    choices: ['first', 'last'],
  },
  {
    name: 'dropNa',
    flag: '--drop-na',
    value: null,
    text: 'leave out rows in which the time, a price or the volume is missing, or a price is 0',
  },
  { name: 'adjusted', flag: '--adjusted', value: null, text: 'scale the bars to the adjusted close of the file' },
];

/** The options as texts, such as the parameters of a query have them. @throws MarketDataError OPTION_INVALID */
export const parseImportOptions = (given: Readonly<Record<string, string | undefined>>): ReadOptions =>
  Object.fromEntries(
    IMPORT_OPTIONS.flatMap(({ name, value, parse }) => {
      const text = given[name];
      if (text === undefined) return [];
      return [[name, value === null ? text === 'true' : parse === undefined ? text : parse(text)]];
    }),
  );

/** A message of an import with the options of its command line named as parameters: `--time-is close`, timeIs=close. */
export function withParameters(message: string): string {
  const named: readonly [flag: string, text: (value: string) => string][] = [
    ['--append', () => 'onExisting=append'],
    ['--replace', () => 'onExisting=replace'],
    ['--symbol', (value) => `symbol=${value}`],
    ['--instrument', (value) => `instrument=${value}`],
    ...IMPORT_OPTIONS.map(
      ({ flag, name, value: valueName }) =>
        [flag, (value: string) => `${name}=${valueName === null ? 'true' : value}`] as [string, (v: string) => string],
    ),
  ];
  return named.reduce((text, [flag, write]) => {
    const takesValue = write('x').endsWith('=x');
    const pattern = new RegExp(`${flag}(?![a-z-])${takesValue ? '(?: ([^\\s,;.)]+(?:[.,][^\\s,;.)]+)*))?' : ''}`, 'g');
    return text.replace(pattern, (_whole, value?: string) =>
      takesValue && typeof value !== 'string' ? write('…') : write(value ?? ''),
    );
  }, message);
}
