// Ranges: the numbers that a value can take in any market, by interval arithmetic over its expression.
import type { KnownRanges, ValueFacts } from '../../definitions/expressions/expressionDefinition.ts';
import { valueKind } from '../../definitions/expressions/expressionRegistry.ts';
import { EVERYTHING, hull, range, type Range } from '../../definitions/expressions/intervals.ts';
import type { ValueChild } from '../../definitions/expressions/places.ts';
import type { Param } from '../grammar/ast.ts';
import { isParamRef } from '../grammar/shapes.ts';

/** What is known of a value by its kind. */
export const valueFacts: ValueFacts = {
  isDiscrete: (value) => valueKind(value).isDiscrete(value, valueFacts),
  isWhole: (value) => Number.isInteger(valueKind(value).constant?.(value)) || valueFacts.isDiscrete(value),
  isBarPrice: (value) => valueKind(value).isBarPrice?.(value, valueFacts) === true,
  barField: (value) => valueKind(value).barField?.(value),
};

/** Neither side is a count, flag or clock field, and one of them is computed. */
export const isInexact = (left: ValueChild, right: ValueChild): boolean =>
  !valueFacts.isDiscrete(left) &&
  !valueFacts.isDiscrete(right) &&
  !(valueFacts.isBarPrice(left) && valueFacts.isBarPrice(right));

/** The ranges of the values of one valid strategy; params are within their declared bounds. */
export class Ranges implements KnownRanges {
  readonly #params: ReadonlyMap<string, Param>;
  readonly #known = new Map<ValueChild, Range>();

  constructor(params: readonly Param[]) {
    this.#params = new Map(params.map((param) => [param.name, param]));
  }

  of(value: ValueChild): Range {
    const found = this.#known.get(value);
    if (found !== undefined) return found;
    const made = valueKind(value).range(value, this);
    this.#known.set(value, made);
    return made;
  }

  /** The range of a number, or of the parameter in its place. */
  ofNumber(number: unknown): Range {
    if (typeof number === 'number') return range(number, number);
    return isParamRef(number) ? this.#ofParam(number.param) : EVERYTHING;
  }

  #ofParam(name: string): Range {
    const param = this.#params.get(name);
    if (param === undefined) return EVERYTHING;
    if (param.type === 'bool') return range(0, 1);
    const numbers = (param.values ?? []).filter((value) => typeof value === 'number');
    if (numbers.length > 0) return hull(numbers.map((value) => range(value, value)));
    return param.type === 'choice' ? EVERYTHING : range(param.min ?? -Infinity, param.max ?? Infinity);
  }
}
