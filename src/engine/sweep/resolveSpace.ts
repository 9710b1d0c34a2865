// From the space that a sweep asks for to the space it searches, checked against the strategy that it varies.
import { TIMEFRAMES } from '../bars/bars.ts';
import { MIRRORED_OPS } from '../definitions/words.ts';
import { pointerTo, valueAtPath } from '../language/pointer.ts';
import { overriddenPath } from '../language/prepare/overrides.ts';
import { FLAT_KEYS, type FlatKey } from '../definitions/statistics/statistics.ts';
import type { BacktestTask } from '../task.ts';
import { CONTINUOUS_METHODS, either, methodOf } from './methods/sweepMethods.ts';
import {
  isNumeric,
  levelCount,
  universeName,
  type Dimension,
  type LevelValue,
  type ResultConstraint,
  type Side,
  type Space,
  type SpaceConstraint,
  type Target,
} from './space.ts';
import type { SweepConstraint, SweepSpec } from './sweepRequest.ts';

export interface SpaceFault {
  /** A path in the request's body: /space/…, /constraints/… */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
}
type ResolvedSpace =
  | { readonly ok: true; readonly space: Space }
  | {
      readonly ok: false;
      readonly faults: readonly SpaceFault[];
      /** The dimensions without a fault, for checks that do not need the other ones. */
      readonly sound: Space;
    };

/** What a sweep varies. */
export type StrategyPayload = Pick<BacktestTask, 'strategyAst' | 'signalGraph'>;

/** The space, or all of its faults at once. */
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
    const refusal = made.kind === 'continuous' ? methodOf(spec.method).refuses.continuous : null;
    if (refusal === null) return [made];
    faults.push({
      path: pointerTo('/space', name),
      message: refusal(name),
      suggestion: `Give a step, or use ${either(CONTINUOUS_METHODS)}.`,
    });
    return [];
  });
  const known = new Set(dimensions.map(({ name }) => name));
  // Of a constraint on a faulty dimension nothing is known until that is repaired.
  const faulty = new Set<string | number>(Object.keys(spec.space).filter((name) => !known.has(name)));
  const constraints: SpaceConstraint[] = [];
  const resultConstraints: ResultConstraint[] = [];
  spec.constraints.forEach((given, index) => {
    const made = constraintOf(given, dimensions);
    const isOfFaulty = [given.left, given.right].some((side) => faulty.has(side));
    if ('message' in made && isOfFaulty) return;
    if ('message' in made) faults.push({ path: `/constraints/${index}`, message: made.message });
    else if ('key' in made) resultConstraints.push(made);
    else constraints.push(made);
  });
  const size = dimensions.reduce((product, dimension) => product * levelCount(dimension), 1);
  const space = { dimensions, size, constraints, resultConstraints };
  return faults.length > 0 ? { ok: false, faults, sound: space } : { ok: true, space };
}

type GivenDimension = SweepSpec['space'][string];
/** A dimension without lists of symbols. */
type Given = { readonly values: readonly LevelValue[] } | Exclude<GivenDimension, { values: unknown }>;
type Fault = Omit<SpaceFault, 'path'>;

function dimensionOf(name: string, levels: GivenDimension, strategy: StrategyPayload): Dimension | Fault {
  const param = strategy.strategyAst.strategy.params?.find((each) => each.name === name);
  // A param of that name comes first: the strategy may be older than the portfolios.
  if (param === undefined && name === 'instruments') return universeDimension(levels);
  const given = withoutLists(levels);
  if (given === null)
    return { message: `${name} has numbers, texts, or true and false as values; only "instruments" has lists.` };
  if (name === 'symbol' || name === 'timeframe') return instrumentDimension(name, given);
  if (param === undefined && name === 'slots') return slotsDimension(given);
  if (param === undefined && !name.startsWith('/')) {
    const names = (strategy.strategyAst.strategy.params ?? []).map((each) => each.name);
    return {
      message: `The strategy declares no param ${name}.`,
      suggestion:
        names.length === 0
          ? 'Declare it in strategy.params, or give a JSON pointer to a number of the payload.'
          : `Use one of ${names.slice(0, 20).join(', ')}, or a JSON pointer.`,
    };
  }
  const current = param === undefined ? numberAt(name, strategy) : null;
  if (current === undefined)
    return {
      message: `There is no number at ${name}.`,
      suggestion: 'Point at a number of the payload as it was sent.',
    };
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

function withoutLists(given: GivenDimension): Given | null {
  if (!('values' in given)) return given;
  const isScalar = (value: (typeof given.values)[number]): value is LevelValue => typeof value !== 'object';
  return given.values.every(isScalar) ? { values: given.values } : null;
}

/** Universes are named by their place and their first symbols, so that rows and tables stay readable. */
function universeDimension(given: GivenDimension): Dimension | Fault {
  const form = { suggestion: 'Give {"values": [["SPY", "BND"], ["SPY", "EFA", "BND"]]}.' };
  if (!('values' in given)) return { message: 'instruments needs a list of lists of symbols.', ...form };
  const lists = new Map<string, readonly string[]>();
  for (const value of given.values) {
    if (typeof value !== 'object')
      return {
        message: `${JSON.stringify(value)} is not a list of symbols, as each value of instruments is.`,
        ...form,
      };
    lists.set(JSON.stringify(value), value);
  }
  const distinct = [...lists.values()];
  const values = distinct.map((symbols, at) => `${at + 1}: ${universeName(symbols)}`);
  return { name: 'instruments', target: 'instruments', kind: 'levels', values, lists: distinct };
}

function slotsDimension(given: Given): Dimension | Fault {
  const base = { name: 'slots', target: 'slots' } as const;
  if ('values' in given) return { ...base, kind: 'levels', values: [...new Set(given.values)] };
  const { min, max, step, log = false } = given;
  return rangeDimension(base, { min, max, step, log, isWhole: true });
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
      ...(name === 'timeframe' && { suggestion: `Use ${TIMEFRAMES.join(', ')}.` }),
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
      suggestion: 'Give {min, max, step} or {values}.',
    };
  if (min > max) return { message: `${name}: min ${min} is above max ${max}.`, suggestion: 'Exchange the two.' };
  if (log && min <= 0) return { message: `${name}: a logarithmic range must begin above 0, not at ${min}.` };
  const isWhole = range.isWhole && Number.isInteger(min) && Number.isInteger(max);
  if (isWhole && log && range.step === undefined) return { ...base, kind: 'levels', values: wholeLogLevels(min, max) };
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
  const path = overriddenPath(pointer);
  const found = path && valueAtPath({ strategyAst, signalGraph }, path);
  return typeof found === 'number' ? found : undefined;
}

/** A constraint between dimensions and numbers, or on a key of the summary. */
function constraintOf(
  { left, op, right }: SweepConstraint,
  dimensions: readonly Dimension[],
): SpaceConstraint | ResultConstraint | Fault {
  const sideOf = (side: string | number): Side | undefined => {
    if (typeof side === 'number') return { number: side };
    const dimension = dimensions.findIndex(({ name }) => name === side);
    return dimension < 0 ? undefined : { dimension };
  };
  const [first, second] = [sideOf(left), sideOf(right)];
  if (first !== undefined && second !== undefined) {
    const isText = (side: Side): boolean => 'dimension' in side && !isNumeric(dimensions[side.dimension]);
    if (isText(first) || isText(second))
      return { message: 'A constraint compares numbers; a list of texts or of true and false cannot be compared.' };
    return { left: first, op, right: second };
  }
  const isKey = (side: string | number): side is FlatKey => (FLAT_KEYS as readonly unknown[]).includes(side);
  if (isKey(left) && typeof right === 'number') return { key: left, op, value: right };
  if (isKey(right) && typeof left === 'number') return { key: right, op: MIRRORED_OPS[op], value: left };
  const unknown = first === undefined && !isKey(left) ? left : right;
  return {
    message: `${JSON.stringify(unknown)} is neither a member of the space nor a key of the summary beside a number.`,
  };
}
