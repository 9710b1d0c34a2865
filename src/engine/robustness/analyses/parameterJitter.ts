// Parameter jitter: the same strategy with all of its numbers moved a little at the same time.
import { findIndicator } from '../../indicators/registry.ts';
import type { Param } from '../../language/grammar/ast.ts';
import { pointerTo } from '../../language/pointer.ts';
import { uniform } from '../../sweep/seeded.ts';
import type { BacktestTask } from '../../task.ts';
import { bound, enough, KEPT, MAX_LOSSES } from '../bound.ts';
import { info, percent, ratio, warning } from '../finding.ts';
import type { Analysis } from './analysis.ts';
import { distributionsOf, medianRow, sampledRuns, type SampledRuns } from './partOutcomes.ts';

interface ParameterJitter extends SampledRuns {
  readonly numbers: readonly Pick<Jittered, 'name' | 'value' | 'low' | 'high'>[];
}

/** The record that proves a Sharpe ratio grows with 1 / s²: at this share of it, twice the record is needed. */
const KEPT_SHARPE = Math.SQRT1_2;

/** null: the strategy has no number to move. */
export const parameterJitterAnalysis = {
  name: 'parameterJitter',
  about: 'numbers moved a little',
  partsOf: ({ task, spec }) => (jitteredNumbers(task, spec.jitterPercent).length === 0 ? 0 : spec.samples),
  runsPerPart: 1,
  runPart(check, part) {
    const { task, spec } = check.context;
    const numbers = jitteredNumbers(task, spec.jitterPercent);
    return check.runTask(jitteredTask(task, numbers, { seed: spec.seed, sample: part }));
  },
  resultOf({ task, spec, outcomes, baseline }) {
    const numbers = jitteredNumbers(task, spec.jitterPercent);
    if (numbers.length === 0) return null;
    return {
      ...sampledRuns(outcomes, baseline),
      numbers: numbers.map(({ name, value, low, high }) => ({ name, value, low, high })),
    };
  },
  boundsOf(result, baseline) {
    // Where the strategy has no number to move there is nothing that could be fitted.
    if (result === null) return [];
    const kept = (median: number | null | undefined, original: number | null): number | null =>
      median == null || original === null || !(original > 0) ? null : median / original;
    const name = 'parameterJitter';
    const keptReturn = enough(result, kept(result?.returnPct.p50, baseline.returnPct));
    const keptSharpe = enough(result, kept(result?.sharpeRatio.p50, baseline.sharpeRatio));
    return [
      bound('jitterKeptReturn', name, keptReturn, '>=', KEPT),
      bound('jitterKeptSharpe', name, keptSharpe, '>=', KEPT_SHARPE),
      bound('jitterLossProbability', name, enough(result, result?.lossProbability), '<=', MAX_LOSSES),
    ];
  },
  findingsOf(result, baseline, failed) {
    if (result === null) return { remarks: [info('NO_PARAMETERS', 'The strategy has no number that could be moved.')] };
    const [kept, sharpe, losses] = ['jitterKeptReturn', 'jitterKeptSharpe', 'jitterLossProbability'].map((name) =>
      failed.get(name),
    );
    const parts = [
      kept &&
        `the median return is ${percent(result.returnPct.p50)} instead of ${percent(baseline.returnPct)} (at least ` +
          `${percent(kept.limit)} of that is needed)`,
      sharpe &&
        `the median Sharpe ratio is ${ratio(result.sharpeRatio.p50)} instead of ${ratio(baseline.sharpeRatio)} (at ` +
          `least ${percent(sharpe.limit)} of that is needed)`,
      losses &&
        `${percent(result.lossProbability)} of the runs lose money (at most ${percent(losses.limit)} is allowed)`,
    ].filter((part) => part !== undefined);
    if (parts.length === 0) return {};
    const message = `With its numbers moved a little, ${parts.join(', and ')}.`;
    return { weaknesses: [warning('PARAMETERS_DECIDE', message)] };
  },
  reportOf: (result) =>
    result === null
      ? {}
      : { samples: [medianRow('numbers moved', result)], distributions: distributionsOf(result, result.original) },
} as const satisfies Analysis<ParameterJitter | null>;

/** A number that is moved: a param of the strategy, or a place in it. */
interface Jittered {
  readonly name: string;
  /** The places that get it; null: it is a param. Nodes with the same id are the same node, and move together. */
  readonly pointers: readonly string[] | null;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly isWhole: boolean;
}

/** More numbers than this are hardly what anyone tuned. */
const MAX_NUMBERS = 32;

/**
 * The numbers to move and how far: the numeric params that the strategy declares and the numbers that the config
 * overrides; if there are none, every number in entries, exits, risk rules and the allocation except sizes, weights and
 * positions in time.
 */
export function jitteredNumbers(task: BacktestTask, percent: number): Jittered[] {
  const named = namedNumbers(task, percent);
  if (named.length > 0) return named.slice(0, MAX_NUMBERS);
  const places: Place[] = [];
  const { entry, exits, exit, risk, allocation } = task.strategyAst.strategy;
  collect({ entry, exits, exit, risk, allocation }, { pointer: ROOT, key: ROOT, isWhole: false }, places);
  const groups = Map.groupBy(places, ({ key, value }) => `${key} ${value}`);
  return [...groups.values()].slice(0, MAX_NUMBERS).map(([first, ...others]) => ({
    name: first.pointer,
    pointers: [first, ...others].map(({ pointer }) => pointer),
    ...rangeOf(first.value, first.isWhole, percent, boundsOf(first)),
  }));
}

/** A share of the eligible instruments is at most all of them; a day counted from the end of a period has no day 0. */
function boundsOf({ pointer, value }: Place): { readonly min: number; readonly max: number } {
  if (/\/(?:topPercent|bottomPercent)$/.test(pointer)) return { min: 0, max: 100 };
  return { min: -Infinity, max: value < 0 && pointer.endsWith('/on') ? -1 : Infinity };
}

/** The numeric params and the overridden numbers, as far as there is room to move them. */
function namedNumbers({ strategyAst, config }: BacktestTask, percent: number): Jittered[] {
  const params = (strategyAst.strategy.params ?? []).flatMap((param): Jittered[] => {
    const value = config.params?.[param.name] ?? param.default;
    if (!isTunable(param) || typeof value !== 'number') return [];
    const bounds = { min: param.min ?? -Infinity, max: param.max ?? Infinity };
    return [{ name: param.name, pointers: null, ...rangeOf(value, param.type === 'int', percent, bounds) }];
  });
  const overridden = Object.entries(config.overrides ?? {}).map(([name, value]): Jittered => ({
    name,
    pointers: [name],
    ...rangeOf(value, Number.isInteger(value), percent),
  }));
  return [...params, ...overridden].filter(({ low, high }) => low < high);
}

const ROOT = '/strategyAst/strategy';

/** A number of the strategy. Equal keys name the same member of the same node, wherever it is written. */
interface Place {
  readonly pointer: string;
  readonly key: string;
  readonly value: number;
  readonly isWhole: boolean;
}

/** A listed value cannot be moved a little. */
const isTunable = ({ type, values }: Param): boolean => (type === 'int' || type === 'float') && values === undefined;

/** What is not a setting of the rules: how much is traded and how it is ordered, and bars counted back from now. */
const LEFT_ALONE: ReadonlySet<string> = new Set([
  'action', 'offset', 'priority', 'closePercent', 'occurrence', 'meta', 'minBars', 'between', 'weekdays', 'dates',
  'values', 'maxPercent', 'bandPercent',
]); // prettier-ignore
/** Members that count bars, days or instruments. */
const WHOLE: ReadonlySet<string> = new Set([
  'period', 'bars', 'window', 'within', 'left', 'right', 'maxBars', 'ttlBars', 'cooldownBars', 'everyBars', 'on',
  'top', 'bottom', 'keepWithin', 'minCount',
]); // prettier-ignore

function collect(value: unknown, at: Omit<Place, 'value'>, found: Place[]): void {
  if (typeof value === 'number') {
    if (value !== 0) found.push({ ...at, value });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { id, indicator } = value as { readonly id?: unknown; readonly indicator?: unknown };
  const key = typeof id === 'string' ? id : at.key;
  const below = (name: string, isWhole: boolean): Omit<Place, 'value'> => ({
    pointer: pointerTo(at.pointer, name),
    key: pointerTo(key, name),
    isWhole,
  });
  const declared = typeof indicator === 'string' ? findIndicator(indicator)?.args : undefined;
  for (const [name, member] of Object.entries(value)) {
    // A share of the account, as a number; a value expression has lookbacks.
    if (LEFT_ALONE.has(name) || (name === 'grossPercent' && typeof member === 'number')) continue;
    if (name === 'args' && declared !== undefined && !Array.isArray(member)) {
      const args = below(name, false);
      for (const [arg, given] of Object.entries(member as object))
        collect(
          given,
          {
            pointer: pointerTo(args.pointer, arg),
            key: pointerTo(args.key, arg),
            isWhole: declared.find((each) => each.name === arg)?.type === 'int',
          },
          found,
        );
    } else collect(member, below(name, WHOLE.has(name)), found);
  }
}

function rangeOf(
  value: number,
  isWhole: boolean,
  percent: number,
  { min, max }: { readonly min: number; readonly max: number } = { min: -Infinity, max: Infinity },
): Pick<Jittered, 'value' | 'low' | 'high' | 'isWhole'> {
  const reach = (Math.abs(value) * percent) / 100;
  const step = isWhole ? Math.max(1, Math.round(reach)) : reach;
  // A length of 1 may grow and not vanish; a number does not change its sign.
  const floor = value > 0 ? (isWhole ? 1 : 0) : -Infinity;
  return { value, isWhole, low: Math.max(min, floor, value - step), high: Math.min(max, value + step) };
}

/** The task with every number drawn from its range. */
export function jitteredTask(
  task: BacktestTask,
  numbers: readonly Jittered[],
  { seed, sample }: { readonly seed: number; readonly sample: number },
): BacktestTask {
  const params = { ...task.config.params };
  const overrides = { ...task.config.overrides };
  numbers.forEach(({ name, pointers, low, high, isWhole }, at) => {
    const fraction = uniform(seed, sample, at, 2);
    const drawn = isWhole ? low + Math.floor(fraction * (high - low + 1)) : low + fraction * (high - low);
    if (pointers === null) params[name] = drawn;
    else for (const pointer of pointers) overrides[pointer] = drawn;
  });
  keepAllPlaces(task, params, overrides);
  return { ...task, config: { ...task.config, params, overrides } };
}

/** Raises a drawn keepWithin to the drawn number of places: a holding stays while it is selected. */
function keepAllPlaces(
  { strategyAst }: BacktestTask,
  params: Record<string, unknown>,
  overrides: Record<string, number>,
): void {
  const { allocation, params: declared = [] } = strategyAst.strategy;
  const { long, short } = allocation ?? {};
  const legs = [
    { side: 'long', count: 'top', places: long?.top, keepWithin: long?.keepWithin },
    { side: 'short', count: 'bottom', places: short?.bottom, keepWithin: short?.keepWithin },
  ];
  for (const { side, count, places, keepWithin } of legs) {
    const pointerOf = (member: string): string => pointerTo(ROOT, 'allocation', side, member);
    const drawn = (value: typeof places, member: string): unknown => {
      if (typeof value !== 'object') return overrides[pointerOf(member)] ?? value;
      return params[value.param] ?? declared.find(({ name }) => name === value.param)?.default;
    };
    const [least, kept] = [drawn(places, count), drawn(keepWithin, 'keepWithin')];
    if (typeof least !== 'number' || typeof kept !== 'number' || kept >= least) continue;
    if (typeof keepWithin === 'object') params[keepWithin.param] = least;
    else overrides[pointerOf('keepWithin')] = least;
  }
}
