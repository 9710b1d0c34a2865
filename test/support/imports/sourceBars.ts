// Source bars of the import table: what every file of the table holds, and the texts that files write it in.

export interface SourceBar {
  /** Open, ms UTC; for days the midnight of the day. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Prices in hundredths that no file format rounds, without a pattern that a reader could be right by chance. */
function bars(times: readonly number[], scale = 1): SourceBar[] {
  let [cents, seed] = [39_535, 7];
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  return times.map((time) => {
    const open = cents + next(200) - 100;
    const close = open + next(900) - 450;
    const high = Math.max(open, close) + 1 + next(300);
    const low = Math.min(open, close) - 1 - next(300);
    cents = close;
    const [o, h, l, c] = [open, high, low, close].map((value) => (value * scale) / 100);
    return { time, open: o, high: h, low: l, close: c, volume: 1000 + next(90_000) };
  });
}

const isWeekday = (time: number): boolean => new Date(time).getUTCDay() % 6 !== 0;
const range = (start: number, count: number, step: number): number[] =>
  Array.from({ length: count }, (_, at) => start + at * step);

/** Weekdays of seven weeks around the change of clocks in New York on 2023-03-12. */
export const DAYS = bars(range(Date.UTC(2023, 1, 20), 49, DAY).filter(isWeekday));
/** Weekdays of one summer. */
export const SUMMER_DAYS = bars(range(Date.UTC(2023, 5, 5), 40, DAY).filter(isWeekday));
/** The first twelve days of a month: no date shows which part is the month. */
export const EARLY_DAYS = bars(range(Date.UTC(2023, 2, 1), 12, DAY));
/** Hours of a market that never closes, around both changes of clocks in New York. */
export const HOURS = bars([...range(Date.UTC(2023, 2, 11), 72, HOUR), ...range(Date.UTC(2023, 10, 4), 72, HOUR)]);
export const MINUTES = bars(range(Date.UTC(2023, 2, 14, 13, 30), 90, 60_000));
/** Prices of four digits before the point, so that thousands are separated. */
export const INDEX_DAYS = bars(range(Date.UTC(2023, 1, 20), 49, DAY).filter(isWeekday), 10);

/** 2023-03-14 */
export const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** 2023-03-14 13:30:00 */
export const stamp = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** What the clocks of New York showed, with the offset: the law of 2007, written independently of the reader. */
export function inNewYork(time: number): { readonly text: string; readonly offset: string; readonly name: string } {
  const sunday = (year: number, month: number, nth: number): number => {
    const first = new Date(Date.UTC(year, month, 1)).getUTCDay();
    return Date.UTC(year, month, 1 + ((7 - first) % 7) + 7 * (nth - 1));
  };
  const year = new Date(time).getUTCFullYear();
  const isSummer = time >= sunday(year, 2, 2) + 7 * HOUR && time < sunday(year, 10, 1) + 6 * HOUR;
  const hours = isSummer ? 4 : 5;
  return { text: stamp(time - hours * HOUR), offset: `-0${hours}:00`, name: isSummer ? 'EDT' : 'EST' };
}

/** The instant at which the clocks of New York show an hour of a day. */
export function newYorkTime(midnight: number, hour: number, minute = 0): number {
  const guess = midnight + (hour + 5) * HOUR + minute * 60_000;
  return inNewYork(guess).offset === '-04:00' ? guess - HOUR : guess;
}

/** Cells with a delimiter between them. */
export const line = (cells: readonly (string | number)[], delimiter = ','): string => cells.join(delimiter);

/** A text table: a header, and a line for each bar. */
export const table = (
  header: string | null,
  source: readonly SourceBar[],
  row: (bar: SourceBar, at: number) => string,
  end = '\n',
): string => [...(header === null ? [] : [header]), ...source.map(row)].join(end) + end;

export const ohlcv = ({ open, high, low, close, volume }: SourceBar): number[] => [open, high, low, close, volume];
