// Parsers of arguments that several commands take; their errors name the allowed values.
import { isUuid } from '../api/http/auth/uuid.ts';
import { InvalidArgumentError } from 'commander';
import { TIERS } from '../tiers.ts';
import type { Tier } from '../tiers.ts';

/** A parser of one of `values`. */
export function oneOf<const Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((each) => each === text);
    if (value === undefined) throw new InvalidArgumentError(`Choose one of: ${values.join(', ')}.`);
    return value;
  };
}

export const tier: (text: string) => Tier = oneOf(TIERS);

/** A parser of a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A UUID, in small letters. @throws InvalidArgumentError */
export function uuid(text: string): string {
  if (!isUuid(text)) {
    throw new InvalidArgumentError(
      'Give an id such as 0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f; "workspace list" and "keys list" show them.',
    );
  }
  return text.toLowerCase();
}

/** Anything with one @ in it, of at most 320 characters. @throws InvalidArgumentError */
export function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text) || text.length > 320) throw new InvalidArgumentError('Give an e-mail address.');
  return text;
}

/** A text of 1 to `max` characters. */
export function shortText(max: number): (text: string) => string {
  return (text) => {
    const length = Array.from(text).length;
    if (text.trim() === '' || length > max) throw new InvalidArgumentError(`Give 1 to ${max} characters.`);
    return text;
  };
}

/** Symbols separated by commas, in their order. */
export function symbolList(text: string): string[] {
  const symbols = text.split(',').map((symbol) => symbol.trim());
  if (symbols.includes('')) throw new InvalidArgumentError('Give symbols separated by commas, such as AAPL,MSFT.');
  return symbols;
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?Z?$/;

/** A parser of a date, or of a date and time in UTC, as ms. */
export function instant(text: string): number {
  const time = INSTANT.test(text)
    ? Date.parse(/T[^Z]*$/.test(text) ? `${text}Z` : text.replace(/^([^T]*)Z$/, '$1'))
    : NaN;
  if (Number.isNaN(time))
    throw new InvalidArgumentError('Give a date or a time in UTC, such as 2020-01-31 or 2020-01-31T15:30Z.');
  return time;
}

/** A parser of an address that paths are appended to. */
export function webAddress(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Give an address that begins with http:// or https://.');
  return text;
}

/** A parser of symbols separated by commas, in an option that may be given several times. */
export const moreSymbols = (text: string, before: readonly string[] = []): string[] => [...before, ...symbolList(text)];
