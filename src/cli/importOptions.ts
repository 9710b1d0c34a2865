// Import options: what the owner of a file can say about it on the command line.
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { STORED_TIMEFRAMES } from '../engine/index.ts';
import { MarketDataError } from '../market/import/importError.ts';
import { checkDateFormat, parseColumns, parseTimezone } from '../market/import/readOptions.ts';
import type { ReadOptions } from '../market/import/readOptions.ts';
import { oneOf } from './arguments.ts';

/** Adds the options of reading a file, which are those of `ReadOptions`. */
export function withReadOptions(command: Command): Command {
  return command
    .option(
      '--timeframe <timeframe>',
      `one of ${STORED_TIMEFRAMES.join(', ')}; default: inferred from the bars`,
      oneOf(STORED_TIMEFRAMES),
    )
    .option(
      '--columns <pairs>',
      'which columns are which, by name or number: time=Date,open=Open,close=5; time=Date+Time joins two',
      checked(parseColumns),
    )
    .option(
      '--timezone <zone>',
      'the zone of times that state none, and of the days of daily bars: America/New_York; default: UTC',
      checked(parseTimezone),
    )
    .option(
      '--time-is <which>',
      'whether the times are the open or the close of each bar; default: open',
      oneOf(['open', 'close']),
    )
    .option(
      '--date-format <format>',
      'how dates are written: DD/MM/YYYY, "%m/%d/%y %H:%M", or excel, days, s, ms, us, ns for numbers',
      checked(checkDateFormat),
    )
    .option('--sort', 'put the rows in the order of their times')
    .option(
      '--dedupe <which>',
      'keep the first or the last row of a time that appears more than once',
      oneOf(['first', 'last']),
    )
    .option('--drop-na', 'leave out rows in which the time, a price or the volume is missing, or a price is 0')
    .option('--adjusted', 'scale the bars to the adjusted close of the file');
}

/** The members of `ReadOptions` among the options of a command. */
export const readOptionsOf = (options: ReadOptions): ReadOptions => {
  const { timeframe, columns, timezone, timeIs, dateFormat, sort, dedupe, dropNa, adjusted } = options;
  return { timeframe, columns, timezone, timeIs, dateFormat, sort, dedupe, dropNa, adjusted };
};

/** A parser whose refusal is an error of the command line. */
const checked =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof MarketDataError ? new InvalidArgumentError(error.message) : error;
    }
  };
