// The space of a sweep: its dimensions and constraints, and what a point of it stands for.
import { isPortfolio, symbolsOf, type BacktestConfig } from '../config.ts';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import type { CompareOp } from '../definitions/words.ts';

export type LevelValue = number | boolean | string;

/** What a dimension sets of a variant's config. */
export type Target = 'param' | 'override' | 'symbol' | 'timeframe' | 'instruments' | 'slots';

/**
 * A coordinate is the index of a level, or the value itself in a continuous dimension, so that every variant is a row
 * of numbers.
 */
export type Dimension = {
  readonly name: string;
  readonly target: Target;
} & (
  | {
      readonly kind: 'levels';
      readonly values: readonly LevelValue[];
      /** Of `instruments`: the symbols that each value names. */
      readonly lists?: readonly (readonly string[])[];
    }
  | {
      readonly kind: 'steps';
      readonly min: number;
      readonly step: number;
      readonly count: number;
      readonly log: boolean;
    }
  | { readonly kind: 'continuous'; readonly min: number; readonly max: number; readonly log: boolean }
);

export interface Space {
  readonly dimensions: readonly Dimension[];
  /** Number of points of the grid; Infinity if a dimension is continuous. */
  readonly size: number;
  /** Constraints between coordinates; a variant that breaks one is not run. */
  readonly constraints: readonly SpaceConstraint[];
  /** Constraints on keys of the summary; a variant that breaks one is run but cannot win. */
  readonly resultConstraints: readonly ResultConstraint[];
}
/** A side of a constraint: the index of a dimension, or a number. */
export type Side = { readonly dimension: number } | { readonly number: number };
export interface SpaceConstraint {
  readonly left: Side;
  readonly op: CompareOp;
  readonly right: Side;
}
export interface ResultConstraint {
  readonly key: FlatKey;
  readonly op: CompareOp;
  readonly value: number;
}

/** Number of levels of a dimension; Infinity if it is continuous. */
export function levelCount(dimension: Dimension): number {
  switch (dimension.kind) {
    case 'levels':
      return dimension.values.length;
    case 'steps':
      return dimension.count;
    case 'continuous':
      return Infinity;
  }
}

/** The value that a coordinate stands for. */
export function valueAt(dimension: Dimension, coordinate: number): LevelValue {
  switch (dimension.kind) {
    case 'levels':
      return dimension.values[coordinate];
    case 'steps': {
      const { min, step, log } = dimension;
      // Twelve digits, so that 0.1 + 2 · 0.1 is 0.3, as the author of the step expects.
      const value = log ? min * step ** coordinate : min + step * coordinate;
      // Whole numbers of so many digits stay as they are, and formatting takes a hundred times as long as this check.
      return Number.isInteger(value) && Math.abs(value) < 1e12 ? value : Number(value.toPrecision(12));
    }
    case 'continuous':
      return coordinate;
  }
}

/** The coordinate at a fraction of the dimension, 0 ≤ fraction < 1. */
export function coordinateAt(dimension: Dimension, fraction: number): number {
  if (dimension.kind !== 'continuous')
    return Math.min(levelCount(dimension) - 1, Math.floor(fraction * levelCount(dimension)));
  const { min, max, log } = dimension;
  return log ? min * (max / min) ** fraction : min + (max - min) * fraction;
}

/** Where a coordinate lies in its dimension, 0 to 1: the inverse of `coordinateAt`, at the middle of a level. */
export function fractionOf(dimension: Dimension, coordinate: number): number {
  if (dimension.kind !== 'continuous') return (coordinate + 0.5) / levelCount(dimension);
  const { min, max, log } = dimension;
  if (max === min) return 0.5;
  return log ? Math.log(coordinate / min) / Math.log(max / min) : (coordinate - min) / (max - min);
}

/** Whether a point satisfies the constraints on its parameters; those on results are checked after its run. */
export function meetsConstraints(space: Space, coordinates: ArrayLike<number>): boolean {
  const { dimensions } = space;
  const read = (side: Side): number =>
    'number' in side ? side.number : (valueAt(dimensions[side.dimension], coordinates[side.dimension]) as number);
  return space.constraints.every(({ left, op, right }) => holds(read(left), op, read(right)));
}

/** Whether `left op right`; false when either is NaN, except for neq. */
export function holds(left: number, op: CompareOp, right: number): boolean {
  switch (op) {
    case 'lt':
      return left < right;
    case 'lte':
      return left <= right;
    case 'gt':
      return left > right;
    case 'gte':
      return left >= right;
    case 'eq':
      return left === right;
    case 'neq':
      return left !== right;
  }
}

/** The config of one variant. `POST /backtests` with it reproduces the numbers of the row. */
export function configOf(base: BacktestConfig, space: Space, coordinates: ArrayLike<number>): BacktestConfig {
  const params: Record<string, LevelValue> = { ...base.params };
  const overrides: Record<string, number> = { ...base.overrides };
  let { timeframe, portfolio } = base;
  let symbols = symbolsOf(base);
  space.dimensions.forEach((dimension, index) => {
    const value = valueAt(dimension, coordinates[index]);
    switch (dimension.target) {
      case 'param':
        params[dimension.name] = value;
        break;
      case 'override':
        overrides[dimension.name] = value as number;
        break;
      case 'symbol':
        symbols = [value as string];
        break;
      case 'instruments':
        symbols = listsOf(dimension)[coordinates[index]];
        break;
      case 'slots':
        portfolio = { ...portfolio, slots: value as number };
        break;
      case 'timeframe':
        timeframe = value as BacktestConfig['timeframe'];
    }
  });
  const varied = {
    ...base,
    ...(portfolio !== undefined && { portfolio }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
  };
  return configOn(varied, { symbols, timeframe });
}

/** The bars that a variant runs on: of one symbol, or of all instruments of a portfolio. */
interface VariantMarket {
  readonly symbols: readonly string[];
  readonly timeframe: BacktestConfig['timeframe'];
}

/** The config with these bars. */
export const configOn = (config: BacktestConfig, { symbols, timeframe }: VariantMarket): BacktestConfig =>
  isPortfolio(config)
    ? { ...config, timeframe, instruments: symbols.map((symbol) => ({ symbol })) }
    : { ...config, timeframe, signalInstrument: { symbol: symbols[0] } };

/** The symbols and timeframes that variants run on. */
export function marketsOf(base: BacktestConfig, space: Space): VariantMarket[] {
  const levelsOf = (target: Target): string[] | null => {
    const dimension = space.dimensions.find((each) => each.target === target);
    if (dimension === undefined) return null;
    return Array.from({ length: levelCount(dimension) }, (_, at) => valueAt(dimension, at) as string);
  };
  const universes = space.dimensions.find(({ target }) => target === 'instruments');
  const lists =
    universes === undefined ? (levelsOf('symbol')?.map((symbol) => [symbol]) ?? [symbolsOf(base)]) : listsOf(universes);
  const timeframes = (levelsOf('timeframe') ?? [base.timeframe]) as BacktestConfig['timeframe'][];
  return lists.flatMap((symbols) => timeframes.map((timeframe) => ({ symbols, timeframe })));
}

/** @throws Error when the dimension is not one of `instruments` */
function listsOf(dimension: Dimension): readonly (readonly string[])[] {
  if (dimension.kind === 'levels' && dimension.lists !== undefined) return dimension.lists;
  throw new Error(`The dimension ${dimension.name} has no lists of symbols.`);
}

/** A universe in a few words: "A", "A, B, C", or "A, B, … (12)". */
export const universeName = (symbols: readonly string[]): string =>
  symbols.length <= MOST_NAMED ? symbols.join(', ') : `${symbols.slice(0, 2).join(', ')}, … (${symbols.length})`;
const MOST_NAMED = 3;

/** The value of every dimension, by its name. */
export const paramsOf = ({ dimensions }: Space, coordinates: ArrayLike<number>): Record<string, LevelValue> =>
  Object.fromEntries(dimensions.map((dimension, at) => [dimension.name, valueAt(dimension, coordinates[at])]));

export const isNumeric = (dimension: Dimension): boolean =>
  dimension.kind !== 'levels' || dimension.values.every((value) => typeof value === 'number');
