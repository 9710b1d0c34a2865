// Import options: what the owner of a file can say about it on the command line.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { MarketDataError } from '../market/import/importError.ts';
import { IMPORT_OPTIONS } from '../market/import/optionTable.ts';
import type { ReadOptions } from '../market/import/readOptions.ts';
import { oneOf } from './arguments.ts';

/** Adds the options of reading a file, which are those of `ReadOptions`. */
export function withReadOptions(command: Command): Command {
  for (const { flag, value, text, choices, parse } of IMPORT_OPTIONS) {
    const option = new Option(value === null ? flag : `${flag} <${value}>`, text);
    if (choices !== undefined) option.argParser(oneOf(choices));
    else if (parse !== undefined) option.argParser(checked(parse));
    command.addOption(option);
  }
  return command;
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
