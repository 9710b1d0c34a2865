// Formats: numbers, dates and statistics as people of the browser's locale write them.

export interface Statistic {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  readonly written: 'percent' | 'money' | 'ratio' | 'count' | 'amount' | 'time';
  readonly better: 'higher' | 'lower';
  readonly canBeNull: boolean;
  readonly isSigned?: true;
}

/** Every number of a summary, as the page lists them. */
export const STATISTICS = JSON.parse(document.getElementById('statistics')!.textContent) as readonly Statistic[];
const BY_KEY: ReadonlyMap<string, Statistic> = new Map(STATISTICS.map((statistic) => [statistic.key, statistic]));
export const statisticOf = (key: string): Statistic | undefined => BY_KEY.get(key);

export const MISSING = '–';
const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat => new Intl.NumberFormat(undefined, options);
const PERCENT = numbers({ style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });
const MONEY = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const RATIO = MONEY;
const COUNT = numbers({ maximumFractionDigits: 0 });
const AMOUNT = numbers({ maximumFractionDigits: 1 });
const PLAIN = numbers({ maximumSignificantDigits: 6 });
const SHARE = numbers({ style: 'percent', maximumFractionDigits: 0 });
const BYTES = numbers({ maximumFractionDigits: 1 });

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const written = (format: Intl.NumberFormat) => (value: unknown) => (isNumber(value) ? format.format(value) : MISSING);
export const percent = written(PERCENT);
export const money = written(MONEY);
export const ratio = written(RATIO);
export const count = written(COUNT);
/** A whole percentage, of progress. */
export const share = written(SHARE);

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const timeOf = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : NaN;
/** A day of market data, which counts in UTC. */
export const day = (value: unknown): string => (Number.isNaN(timeOf(value)) ? MISSING : DAY.format(timeOf(value)));
/** A moment of the person's day. */
export const moment = (value: unknown): string =>
  Number.isNaN(timeOf(value)) ? MISSING : MOMENT.format(timeOf(value));

const WRITERS: Readonly<Record<Statistic['written'], (value: unknown) => string>> = {
  percent,
  money,
  ratio,
  count,
  amount: written(AMOUNT),
  time: day,
};

/** The value of a statistic; of another key, the value itself. */
export function valueText(key: string, value: unknown): string {
  const statistic = BY_KEY.get(key);
  if (statistic !== undefined) return WRITERS[statistic.written](value);
  return anyText(value);
}

/** Any value of a config or a strategy in a few characters. */
export function anyText(value: unknown): string {
  if (value === null || value === undefined) return MISSING;
  if (isNumber(value)) return PLAIN.format(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Up or down, of a statistic that is a gain or a loss. */
export const toneOf = (key: string, value: unknown): string => {
  if (!isNumber(value) || !BY_KEY.get(key)?.isSigned || Math.abs(value) < 0.000_05) return '';
  if (key === 'maxDrawdown') return '';
  return value > 0 ? 'up' : 'down';
};

export function bytes(value: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  const at = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${BYTES.format(value / 1024 ** at)} ${['B', 'KiB', 'MiB', 'GiB'][at]}`;
}

/** `1 position`, `2 positions`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${COUNT.format(number)} ${number === 1 ? one : many}`;
