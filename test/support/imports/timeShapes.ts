// Times of the import table: units, zones, dates of every form, sessions and closes.
import type { ImportSection, ImportShape } from './importTable.ts';
import type { SourceBar } from './sourceBars.ts';
import {
  DAYS,
  day,
  EARLY_DAYS,
  HOURS,
  inNewYork,
  line,
  MINUTES,
  newYorkTime,
  ohlcv,
  stamp,
  SUMMER_DAYS,
  table,
} from './sourceBars.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HEADER = 'time,open,high,low,close,volume';
const written = (source: readonly SourceBar[], time: (ms: number) => string | number, header = HEADER): string =>
  table(header, source, (bar) => line([time(bar.time), ...ohlcv(bar)]));
const timed = (
  shape: string,
  bars: readonly SourceBar[],
  time: (ms: number) => string | number,
  more: Partial<ImportShape> = {},
): ImportShape => ({ shape, file: written(bars, time), bars, ...more });
const lastOf = (bars: readonly SourceBar[]): number => bars.at(-1)!.time;
const parts = (ms: number): [string, string, string] => day(ms).split('-') as [string, string, string];
const slashed = (ms: number, separator = '/'): { dmy: string; mdy: string } => {
  const [year, month, date] = parts(ms);
  return { dmy: [date, month, year].join(separator), mdy: [month, date, year].join(separator) };
};
const inIndia = (ms: number): string => `${stamp(ms + 5.5 * HOUR)}+05:30`;
const halfDay = (ms: number): string => {
  const hour = new Date(ms).getUTCHours();
  return `${slashed(ms).mdy} ${hour % 12 || 12}:${stamp(ms).slice(14, 16)} ${hour < 12 ? 'AM' : 'PM'}`;
};
const excel = (ms: number): number => ms / DAY + 25_569;
const moved = (bars: readonly SourceBar[], by: number): SourceBar[] =>
  bars.map((bar) => ({ ...bar, time: bar.time + by }));
const EVERY_DAY = EARLY_DAYS;

export const TIMES: ImportSection = {
  title: 'Times',
  shapes: [
    timed('Unix time in seconds', HOURS, (ms) => ms / 1000),
    timed('in milliseconds', HOURS, (ms) => ms),
    timed('in microseconds', HOURS, (ms) => ms * 1000),
    timed('in nanoseconds', HOURS, (ms) => `${ms}000000`),
    timed('ISO 8601 in UTC', HOURS, (ms) => new Date(ms).toISOString()),
    timed('without a zone', HOURS, stamp, { says: '' }),
    timed('with the offset of India', HOURS, inIndia),
    timed(
      'days at midnight in New York, with its offset',
      DAYS,
      (ms) => `${day(ms)} 00:00:00${inNewYork(ms + 5 * HOUR).offset}`,
      { says: 'calendar day' },
    ),
    timed('`20230314 09:30:00 US/Eastern`', MINUTES, (ms) => `${inNewYork(ms).text.replaceAll('-', '')} US/Eastern`),
    timed('hours of US/Eastern around both changes of clocks', HOURS, (ms) => `${inNewYork(ms).text} US/Eastern`, {
      says: 'repeats because clocks are set back',
    }),
    timed('`GMT+0200`', HOURS, (ms) => `${stamp(ms + 2 * HOUR)} GMT+0200`),
    timed('EST and EDT', HOURS, (ms) => `${inNewYork(ms).text} ${inNewYork(ms).name}`),
    timed('`CT`, which may be several zones', MINUTES, (ms) => `${inNewYork(ms - HOUR).text} CT`, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--timezone America/Chicago' },
    }),
    timed('local hours of New York without a zone', HOURS, (ms) => inNewYork(ms).text, {
      refused: 'TIME_DUPLICATE',
      wayOut: { options: '--timezone America/New_York' },
    }),
    timed('local minutes with a zone that is stated', MINUTES, (ms) => inNewYork(ms).text, {
      options: '--timezone America/New_York',
    }),
    timed('local hours newest first', HOURS.toReversed(), (ms) => inNewYork(ms).text, {
      options: '--timezone America/New_York',
      bars: HOURS,
    }),
    timed(
      "JavaScript's texts",
      MINUTES,
      (ms) => `Tue Mar 14 2023 ${inNewYork(ms).text.slice(11)} GMT-0400 (Eastern Daylight Time)`,
    ),
    timed('a clock of twelve hours', MINUTES, halfDay),
    timed('day before month, as one date shows', DAYS, (ms) => slashed(ms).dmy, {
      says: 'Dates are read as day/month/year',
    }),
    timed('month before day, as one date shows', DAYS, (ms) => slashed(ms).mdy, {
      says: 'Dates are read as month/day/year',
    }),
    timed('dates that may be day or month first: they are days first', EARLY_DAYS, (ms) => slashed(ms).dmy, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format DD/MM/YYYY' },
    }),
    timed('the same, and they are months first', EARLY_DAYS, (ms) => slashed(ms).mdy, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format MM/DD/YYYY' },
    }),
    timed('the same with hyphens', EARLY_DAYS, (ms) => slashed(ms, '-').dmy, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format %d-%m-%Y' },
    }),
    timed(
      'years of two digits',
      DAYS,
      (ms) => {
        const [year, month, date] = parts(ms);
        return `${Number(month)}/${Number(date)}/${year.slice(2)}`;
      },
      { refused: 'TIME_UNREADABLE', wayOut: { options: '--date-format M/D/YY' } },
    ),
    timed(
      'years of two digits beside a named month',
      DAYS,
      (ms) => {
        const [year, month, date] = parts(ms);
        return `${date}-${MONTHS[Number(month) - 1]}-${year.slice(2)}`;
      },
      { refused: 'TIME_UNREADABLE', wayOut: { options: '--date-format DD-MMM-YY' } },
    ),
    timed('dots', DAYS, (ms) => slashed(ms, '.').dmy),
    timed('named months', DAYS, (ms) => {
      const [year, month, date] = parts(ms);
      return `"${MONTHS[Number(month) - 1]} ${date}, ${year}"`;
    }),
    timed('no zeros: 2023/3/1', DAYS, (ms) => parts(ms).map(Number).join('/')),
    timed('numbers such as 20230301', DAYS, (ms) => day(ms).replaceAll('-', '')),
    timed('numbers such as 01032023', DAYS, (ms) => slashed(ms, '').dmy, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format DDMMYYYY' },
    }),
    {
      shape: 'date and time in two columns',
      file: table('Date,Time,Open,High,Low,Close,Volume', MINUTES, (bar) =>
        line([...stamp(bar.time).split(' '), ...ohlcv(bar)]),
      ),
      bars: MINUTES,
    },
    {
      shape: 'date and time in two columns of other names',
      file: table('when,clock,Open,High,Low,Close,Volume', MINUTES, (bar) =>
        line([...stamp(bar.time).split(' '), ...ohlcv(bar)]),
      ),
      refused: 'COLUMN_MISSING',
      wayOut: { options: '--columns time=when+clock' },
      bars: MINUTES,
    },
    timed("Excel's dates", DAYS, excel, { says: "Excel's count of days: 44977 is 2023-02-20" }),
    timed("Excel's dates and times", MINUTES, (ms) => excel(ms).toFixed(9)),
    timed('days since 1970', DAYS, (ms) => ms / DAY, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format days' },
    }),
    timed("Excel's dates of 1955", moved(DAYS, -68 * 365 * DAY), excel, {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--date-format excel' },
    }),
    timed('TradingView in one summer, at 13:30 UTC', SUMMER_DAYS, (ms) => (ms + 13.5 * HOUR) / 1000, {
      says: 'begins with its session, at 13:30 UTC',
    }),
    timed('TradingView around the change of clocks', DAYS, (ms) => newYorkTime(ms, 9, 30) / 1000, {
      says: 'summer time',
    }),
    timed('Alpaca in one summer, at 04:00 UTC', SUMMER_DAYS, (ms) => new Date(ms + 4 * HOUR).toISOString()),
    timed('Alpaca in one winter, at 05:00 UTC', DAYS.slice(0, 14), (ms) => new Date(ms + 5 * HOUR).toISOString()),
    {
      shape: 'a last day that has not ended, stamped when it was asked for',
      file: written(SUMMER_DAYS, (ms) => ms / 1000 + (ms === lastOf(SUMMER_DAYS) ? 56_530 : 48_600)),
      refused: 'STEP_NOT_MULTIPLE',
      wayOut: { edit: 'leave the day out', file: written(SUMMER_DAYS.slice(0, -1), (ms) => ms / 1000 + 48_600) },
      bars: SUMMER_DAYS.slice(0, -1),
    },
    timed(
      'the same with the zone of the market',
      SUMMER_DAYS,
      (ms) => ms / 1000 + (ms === lastOf(SUMMER_DAYS) ? 56_530 : 48_600),
      { options: '--timezone America/New_York', says: 'as if it had not ended' },
    ),
    timed('currencies, which open the evening before', SUMMER_DAYS, (ms) => (ms - 3 * HOUR) / 1000, {
      says: 'which is the next one',
    }),
    timed('midnights of Tokyo', SUMMER_DAYS, (ms) => (ms - 9 * HOUR) / 1000, { says: 'which is the next one' }),
    {
      shape: 'days from 15:00 UTC of a market that never closes',
      file: written(EVERY_DAY, (ms) => (ms + 15 * HOUR) / 1000),
      bars: moved(EVERY_DAY, 15 * HOUR),
    },
    timed('days in Unix time with the zone of the market', SUMMER_DAYS, (ms) => (ms - 9 * HOUR) / 1000, {
      options: '--timezone Asia/Tokyo',
      says: 'calendar day',
    }),
    timed('dates, although the close of each bar is stated', DAYS, day, {
      options: '--time-is close',
      says: 'each is the day of its bar',
    }),
    timed('the close of each hour', HOURS, (ms) => stamp(ms + HOUR), { options: '--time-is close' }),
    timed('the close of each session, as Unix time', DAYS, (ms) => newYorkTime(ms, 16) / 1000, {
      options: '--time-is close',
      says: 'ends with its session',
    }),
    timed(
      'the close of each session, with an offset',
      DAYS,
      (ms) => `${day(ms)} 16:00:00${inNewYork(ms + 20 * HOUR).offset}`,
      { options: '--time-is close' },
    ),
    {
      shape: 'a close time alone, a millisecond before the next bar',
      file: written(HOURS, (ms) => ms + HOUR - 1, HEADER.replace('time', 'close_time')),
      bars: HOURS,
    },
    {
      shape: 'the zone in a column of its own',
      file: table('date,time,zone,open,high,low,close,volume', HOURS, (bar) => {
        const { text, name } = inNewYork(bar.time);
        return line([...text.split(' '), name, ...ohlcv(bar)]);
      }),
      bars: HOURS,
    },
    {
      shape: 'a local time beside that in UTC',
      file: table('datetime,datetime_utc,open,high,low,close,volume', HOURS, (bar) =>
        line([inNewYork(bar.time).text, stamp(bar.time), ...ohlcv(bar)]),
      ),
      bars: HOURS,
    },
    { shape: 'a column `dt`', file: written(HOURS, stamp, HEADER.replace('time', 'dt')), bars: HOURS },
    {
      shape: 'a date and a time of recording that differ',
      file: table('date,timestamp,open,high,low,close,volume', DAYS, (bar) =>
        line([day(bar.time), 1_700_000_000, ...ohlcv(bar)]),
      ),
      refused: 'COLUMN_DUPLICATE',
      wayOut: { options: '--columns time=date' },
      bars: DAYS,
    },
  ],
};
