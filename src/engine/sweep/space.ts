// The space of a sweep: its dimensions, checked against the strategy they vary, and the values they take.
import type { BacktestConfig } from '../config.ts';
import { TIMEFRAMES } from '../bars/bars.ts';
import { MIRRORED_OPS, type CompareOp } from '../language/grammar/words.ts';
import { parsePointer, pointerTo } from '../language/pointer.ts';
import type { BacktestTask } from '../task.ts';
import { FLAT_KEYS, type FlatKey } from '../report/flatSummary.ts';
import type { SweepConstraint, SweepSpec } from './sweepRequest.ts';

export type LevelValue = number | boolean | string;

/** What a dimension sets of a variant's config. */
export type Target = 'param' | 'override' | 'symbol' | 'timeframe';

/**
 * A coordinate is the index of a level, or the value itself in a continuous dimension, so that every variant is a row
 * of numbers.
 */
export type Dimension = {
  readonly name: string;
  readonly target: Target;
} & (
  | { readonly kind: 'levels'; readonly values: readonly LevelValue[] }
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
/** A dimension's index, or a number. */
type Side = { readonly dimension: number } | { readonly number: number };
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

export interface SpaceFault {
  /** A path in the request's body: /space/…, /constraints/… */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
}
export type ResolvedSpace =
  | { readonly ok: true; readonly space: Space }
  | { readonly ok: false; readonly faults: readonly SpaceFault[] };

/** What a sweep varies. */
export type StrategyPayload = Pick<BacktestTask, 'strategyAst' | 'signalGraph'>;

/** All faults at once. */
export function resolveSpace(
  spec: Pick<SweepSpec, 'space' | 'constraints' | 'method'>,
  strategy: StrategyPayload,
): ResolvedSpace {
  const faults: SpaceFault[] = [];
  const dimensions = Object.entries(spec.space).flatMap(([name, given]) => {
    const made = dimensionOf(name, given, strategy);
    if ('message' in made) {
      faults.push({ ...made, path: pointerTo('/space', name) });
      return [];
    }
    if (made.kind === 'continuous' && spec.method === 'grid')
      faults.push({
        path: pointerTo('/space', name),
        message: `A grid needs a step or a list of values for ${name}, whose range is continuous.`,
        suggestion: 'give a step, or use random, latin_hypercube or tpe',
      });
    return [made];
  });
  const names = new Map(dimensions.map((dimension, index) => [dimension.name, index]));
  const constraints: SpaceConstraint[] = [];
  const resultConstraints: ResultConstraint[] = [];
  spec.constraints.forEach((constraint, index) => {
    const fault = addConstraint(constraint, names, dimensions, constraints, resultConstraints);
    if (fault !== undefined) faults.push({ path: `/constraints/${index}`, message: fault });
  });
  if (faults.length > 0) return { ok: false, faults };
  const size = dimensions.reduce((product, dimension) => product * levelCount(dimension), 1);
  return { ok: true, space: { dimensions, size, constraints, resultConstraints } };
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
      return Number((log ? min * step ** coordinate : min + step * coordinate).toPrecision(12));
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

export function meetsConstraints(space: Space, coordinates: ArrayLike<number>): boolean {
  const { dimensions } = space;
  const read = (side: Side): number =>
    'number' in side ? side.number : (valueAt(dimensions[side.dimension], coordinates[side.dimension]) as number);
  return space.constraints.every(({ left, op, right }) => holds(read(left), op, read(right)));
}

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
  let { timeframe } = base;
  let { symbol } = base.signalInstrument;
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
        symbol = value as string;
        break;
      case 'timeframe':
        timeframe = value as BacktestConfig['timeframe'];
    }
  });
  return {
    ...base,
    timeframe,
    signalInstrument: { symbol },
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
  };
}

/** The value of every dimension, by its name. */
export const paramsOf = ({ dimensions }: Space, coordinates: ArrayLike<number>): Record<string, LevelValue> =>
  Object.fromEntries(dimensions.map((dimension, at) => [dimension.name, valueAt(dimension, coordinates[at])]));

type Given = SweepSpec['space'][string];
type Fault = Omit<SpaceFault, 'path'>;

function dimensionOf(name: string, given: Given, strategy: StrategyPayload): Dimension | Fault {
  if (name === 'symbol' || name === 'timeframe') return instrumentDimension(name, given);
  const param = strategy.strategyAst.strategy.params?.find((each) => each.name === name);
  if (param === undefined && !name.startsWith('/')) {
    const names = (strategy.strategyAst.strategy.params ?? []).map((each) => each.name);
    return {
      message: `The strategy declares no param ${name}.`,
      suggestion:
        names.length === 0
          ? 'declare it in strategy.params, or give a JSON pointer to a number of the payload'
          : `use one of ${names.slice(0, 20).join(', ')}, or a JSON pointer`,
    };
  }
  const current = param === undefined ? numberAt(name, strategy) : null;
  if (current === undefined)
    return { message: `There is no number at ${name}.`, suggestion: 'point at a number of the payload as it was sent' };
  const target = param === undefined ? 'override' : 'param';
  if ('values' in given) {
    const wrong = target === 'override' ? given.values.find((value) => typeof value !== 'number') : undefined;
    if (wrong !== undefined) return { message: `${name} is a number; ${JSON.stringify(wrong)} is not.` };
    return { name, target, kind: 'levels', values: [...new Set(given.values)] };
  }
  if (param !== undefined && (param.type === 'bool' || param.type === 'choice')) {
    const values = param.type === 'bool' ? [false, true] : (param.values ?? []);
    return { name, target, kind: 'levels', values };
  }
  return rangeDimension(
    { name, target },
    {
      min: given.min ?? param?.min,
      max: given.max ?? param?.max,
      step: given.step ?? param?.step,
      log: given.log ?? param?.log ?? false,
      isWhole: param === undefined ? Number.isInteger(current) : param.type === 'int',
    },
  );
}

function instrumentDimension(name: 'symbol' | 'timeframe', given: Given): Dimension | Fault {
  if (!('values' in given)) return { message: `${name} needs a list of values.` };
  const values = [...new Set(given.values)];
  const isKnown = (value: LevelValue): boolean =>
    typeof value === 'string' && (name === 'symbol' || (TIMEFRAMES as readonly string[]).includes(value));
  const wrong = values.find((value) => !isKnown(value));
  if (wrong !== undefined)
    return {
      message: `${JSON.stringify(wrong)} is not a ${name}.`,
      ...(name === 'timeframe' && { suggestion: `use ${TIMEFRAMES.join(', ')}` }),
    };
  return { name, target: name, kind: 'levels', values };
}

function rangeDimension(
  base: { readonly name: string; readonly target: Target },
  range: {
    readonly min?: number | undefined;
    readonly max?: number | undefined;
    readonly step?: number | undefined;
    readonly log: boolean;
    readonly isWhole: boolean;
  },
): Dimension | Fault {
  const { min, max, log } = range;
  const { name } = base;
  if (min === undefined || max === undefined)
    return {
      message: `${name} needs min and max: the strategy declares no bounds for it.`,
      suggestion: 'give {min, max, step} or {values}',
    };
  if (min > max) return { message: `${name}: min ${min} is above max ${max}.` };
  if (log && min <= 0) return { message: `${name}: a logarithmic range must begin above 0, not at ${min}.` };
  const isWhole = range.isWhole && Number.isInteger(min) && Number.isInteger(max);
  if (isWhole && range.isWhole && log && range.step === undefined)
    return { ...base, kind: 'levels', values: wholeLogLevels(min, max) };
  const step = range.step ?? (isWhole ? 1 : undefined);
  if (step === undefined) return { ...base, kind: 'continuous', min, max, log };
  if (log && step <= 1) return { message: `${name}: with log, the step is a ratio and must be above 1, not ${step}.` };
  const span = log ? Math.log(max / min) / Math.log(step) : (max - min) / step;
  // A step that divides the range does so only up to rounding.
  const count = Math.floor(span + 1e-9) + 1;
  return { ...base, kind: 'steps', min, step, count, log };
}

/** At most sixty whole numbers, spaced about evenly on a logarithmic scale. */
function wholeLogLevels(min: number, max: number): number[] {
  const COUNT = 60;
  const levels = Array.from({ length: COUNT }, (_, index) => Math.round(min * (max / min) ** (index / (COUNT - 1))));
  return [...new Set(levels)];
}

/** The number a pointer leads to; undefined when there is none. */
function numberAt(pointer: string, { strategyAst, signalGraph }: StrategyPayload): number | undefined {
  const segments = parsePointer(pointer);
  if (segments === undefined) return undefined;
  const isRooted = segments[0] === 'strategyAst' || segments[0] === 'signalGraph';
  let found: unknown = { strategyAst, signalGraph };
  for (const segment of isRooted ? segments : ['strategyAst', ...segments]) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined;
    found = (found as Record<string, unknown>)[segment];
  }
  return typeof found === 'number' ? found : undefined;
}

/** @returns what is wrong with the constraint. */
function addConstraint(
  { left, op, right }: SweepConstraint,
  names: ReadonlyMap<string, number>,
  dimensions: readonly Dimension[],
  between: SpaceConstraint[],
  onResults: ResultConstraint[],
): string | undefined {
  const sides = [left, right].map((side): Side | undefined => {
    if (typeof side === 'number') return { number: side };
    const dimension = names.get(side);
    return dimension === undefined ? undefined : { dimension };
  });
  const [first, second] = sides;
  if (first !== undefined && second !== undefined) {
    const text = sides.find(
      (side) => side !== undefined && 'dimension' in side && !isNumeric(dimensions[side.dimension]),
    );
    if (text !== undefined)
      return 'A constraint compares numbers; a list of texts or of true and false cannot be compared.';
    between.push({ left: first, op, right: second });
    return undefined;
  }
  const isKey = (side: string | number): side is FlatKey => (FLAT_KEYS as readonly unknown[]).includes(side);
  if (isKey(left) && typeof right === 'number') onResults.push({ key: left, op, value: right });
  else if (isKey(right) && typeof left === 'number') onResults.push({ key: right, op: MIRRORED_OPS[op], value: left });
  else {
    const unknown = first === undefined && !isKey(left) ? left : right;
    return `${JSON.stringify(unknown)} is neither a member of the space nor a key of the summary beside a number.`;
  }
  return undefined;
}

export const isNumeric = (dimension: Dimension): boolean =>
  dimension.kind !== 'levels' || dimension.values.every((value) => typeof value === 'number');
