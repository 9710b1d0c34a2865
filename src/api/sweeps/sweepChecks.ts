// Sweep checks: whether a well-formed request can be run on the market data there is, and the shards it is run in.
import type { NewSweep } from '../../db/sweeps.ts';
import { strategyOf, type StrategyVersion } from '../../db/strategyVersions.ts';
import {
  configOf,
  configOn,
  countSweep,
  DRAWING_METHOD,
  isCovered,
  isPortfolio,
  marketsOf,
  parsePointer,
  pointerTo,
  runsInRounds,
  shardsOf,
  sizeSweep,
  type BacktestConfig,
  type SweepSpec,
  symbolsOf,
} from '../../engine/index.ts';
import type { WorkspaceCatalogs } from '../../market/workspaceCatalogs.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import { BacktestCheck } from '../backtests/backtestChecks.ts';
import { COST_PER_RUN, COST_PER_SHARD } from '../backtests/backtestCost.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { problem, ProblemError, type ProblemIssue } from '../http/problems.ts';

/** The most variants of a shard: their rows with every metric take 10 MB, and a few shards are read at a time. */
const MAX_SHARD = 20_000;
/** Shards of about a second: half a day of one thread. All of them are inserted in one statement. */
const MAX_SHARDS = 50_000;
/** So many universes are refused at once; of the symbols of single runs, which may be thousands, the first. */
const mostRefusals = ({ config }: SweepSpec): number => (isPortfolio(config) ? 20 : 1);
/** How many markets are looked at for further faults of a sweep that is refused: no tier has limited them yet. */
const MAX_MARKETS_OF_REFUSED = 100;

/**
 * Checks a request and returns what is stored of it.
 * @param onMarket called before each market is looked at; throws to stop
 * @throws SWEEP_INVALID with every fault of the space, BACKTEST_CONFIG_INVALID, RANGE_NO_DATA, TIER_LIMIT_REACHED
 */
export async function acceptSweep(
  catalogs: WorkspaceCatalogs,
  asker: Asker,
  version: StrategyVersion,
  spec: SweepSpec,
  onMarket: () => void,
): Promise<NewSweep> {
  const check = new BacktestCheck(catalogs, asker);
  const sized = sizeSweep(strategyOf(version), spec);
  if (!sized.ok) throw await sweepRefused(sized, spec, check, version, onMarket);
  // Before anything whose work grows with the size of the space.
  if (sized.isCounted) limitPoints(asker.tier, sized.indexes);
  else limitVariants(asker.tier, sized.indexes);
  const planned = countSweep(sized);
  if (!planned.ok) throw await sweepRefused(planned, spec, check, version, onMarket);
  const { job, space } = planned;
  limitVariants(asker.tier, job.variants);
  const sample = configOf(spec.config, space, planned.sample);
  const markets: NewSweep['markets'][number][] = [];
  let mostCost = 0;
  const refusals: ProblemError[] = [];
  // One after the other, until some are refused: there may be thousands of unknown symbols.
  for (const market of marketsOf(spec.config, space)) {
    onMarket();
    const { symbols, timeframe } = market;
    const config = configOn(sample, market);
    const accepted = await orRefusal(spec, config, () => check.accept(version, config));
    if (accepted instanceof ProblemError) {
      refusals.push(accepted);
      // Without a place in the request, it is a limit, which concerns other markets as well.
      if (accepted.issues === undefined || refusals.length === mostRefusals(spec)) break;
      continue;
    }
    const { snapshots, cost } = accepted;
    markets.push({ ...(isPortfolio(config) ? { symbols } : { symbol: symbols[0] }), timeframe, snapshots });
    mostCost = Math.max(mostCost, cost);
  }
  if (refusals.length > 0) throw refusalOf(refusals);
  const windows = 1 + (spec.walkForward?.folds ?? 0);
  const cost = (mostCost + COST_PER_RUN) * windows;
  const size = Math.max(1, Math.min(MAX_SHARD, Math.floor(COST_PER_SHARD / cost)));
  if (!runsInRounds(spec) && job.indexes > size * MAX_SHARDS) throw tooMuchWork(cost * job.indexes);
  const shards = shardsOf(job, size).map((shard) => ({ ...shard, cost: cost * (shard.last - shard.first) }));
  return {
    strategyId: version.strategyId,
    strategyVersionId: version.id,
    spec,
    markets,
    variants: job.variants,
    indexes: job.indexes,
    shards: runsInRounds(spec) ? shards.slice(0, 1) : shards,
  };
}

type RefusedSweep = Extract<ReturnType<typeof countSweep>, { ok: false }>;

/** The faults of the space, and those that its markets and the config have in any case. */
async function sweepRefused(
  { faults, space }: RefusedSweep,
  spec: SweepSpec,
  check: BacktestCheck,
  version: StrategyVersion,
  onMarket: () => void,
): Promise<ProblemError> {
  const issues: ProblemIssue[] = faults.map((fault) => ({
    ...fault,
    code: 'OUT_OF_RANGE',
    field: fault.path.split('/')[1],
    severity: 'error',
  }));
  // A dimension that is refused as a whole gives the config nothing.
  const dimensions = space.dimensions.filter(({ name }) =>
    faults.every(({ path }) => path !== pointerTo('/space', name)),
  );
  const refusals: ProblemError[] = [];
  for (const market of marketsOf(spec.config, { ...space, dimensions }).slice(0, MAX_MARKETS_OF_REFUSED)) {
    onMarket();
    const config = configOn(spec.config, market);
    const accepted = await orRefusal(spec, config, () => check.accept(version, config));
    if (accepted instanceof ProblemError) refusals.push(accepted);
    if (refusals.length === mostRefusals(spec)) break;
  }
  const ofMarkets = dimensions.filter(({ target }) => MARKET_TARGETS.has(target));
  // Params that the space varies have other values in the variants.
  const isCertain = ({ path }: ProblemIssue): boolean =>
    path.startsWith('/config/') || ofMarkets.some(({ name }) => path.startsWith(`${pointerTo('/space', name)}/`));
  const more = distinctIssues(refusals).filter((issue) => isCertain(issue) && !isCovered(issues, issue.path));
  const all = [...issues, ...more];
  return problem('SWEEP_INVALID', {
    message: all.length === 1 ? all[0].message : `The sweep has ${all.length} faults; see issues.`,
    issues: all,
  });
}
const MARKET_TARGETS: ReadonlySet<string> = new Set(['symbol', 'timeframe', 'instruments']);

/** One refusal for those of several markets. */
function refusalOf(refusals: readonly ProblemError[]): ProblemError {
  const [first] = refusals;
  if (refusals.length === 1) return first;
  const issues = distinctIssues(refusals);
  return problem(first.code, {
    message: issues.length === 1 ? first.message : `The config has ${issues.length} faults; see issues.`,
    issues,
    extras: first.extras,
  });
}

/** One issue of a kind at each place: markets that share a symbol, a timeframe or params have its faults in common. */
const distinctIssues = (refusals: readonly ProblemError[]): ProblemIssue[] =>
  Map.groupBy(
    refusals.flatMap(({ issues }) => issues ?? []),
    ({ path, code }) => `${code} ${path}`,
  )
    .values()
    .map(([first]) => first)
    .toArray();

/** The refusal has the faults of a value that the space gave the config as faults of the space, not of the config. */
async function orRefusal<Accepted>(
  { space }: SweepSpec,
  config: BacktestConfig,
  accept: () => Promise<Accepted>,
): Promise<Accepted | ProblemError> {
  try {
    return await accept();
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const issues = error.issues?.map((issue) => {
      const [name, value, ...rest] = spaceMemberAt(issue.path, config) ?? [];
      const given = name === undefined ? undefined : space[name];
      if (name === undefined || value === undefined || given === undefined) return issue;
      if (!('values' in given)) return { ...issue, path: pointerTo('/space', name), field: 'space', patch: undefined };
      const path = pointerTo(
        '/space',
        name,
        'values',
        given.values.findIndex((each) => isSameLevel(each, value)),
        ...rest,
      );
      const patch = issue.patch?.map((operation) => ({ ...(operation as object), path }));
      return { ...issue, path, field: 'space', ...(patch && { patch }) };
    });
    return problem(error.code, { message: error.message, ...(issues && { issues }), extras: error.extras });
  }
}

type Level = string | number | boolean | readonly string[];
const isSameLevel = (a: Level, b: Level): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The name that a space has for the member of a config at a path, and the value of that member. */
function spaceMemberAt(path: string, config: BacktestConfig): readonly [string, Level | undefined, ...string[]] | null {
  if (path === '/config/signalInstrument/symbol') return ['symbol', symbolsOf(config)[0]];
  if (path === '/config/timeframe') return ['timeframe', config.timeframe];
  const [, section, name = ''] = parsePointer(path) ?? [];
  if (section === 'instruments') return ['instruments', symbolsOf(config), ...(name === '' ? [] : [name])];
  if (section === 'portfolio' && name === 'slots') return ['slots', config.portfolio?.slots];
  if (section === 'params') return [name, config.params?.[name]];
  return section === 'overrides' ? [name, config.overrides?.[name]] : null;
}

function tooMuchWork(bars: number): ProblemError {
  const most = MAX_SHARDS * COST_PER_SHARD;
  return problem('SWEEP_INVALID', {
    message:
      `This sweep is about ${bars.toPrecision(2)} bars of work; a sweep may be ${most.toPrecision(2)}. Use a shorter ` +
      'range, a coarser timeframe, fewer folds or fewer variants.',
  });
}

/** Every point of a grid is visited, those that the constraints rule out included. */
function limitPoints(tier: Tier, points: number): void {
  const limit = TIER_LIMITS[tier].sweepPoints;
  if (points <= limit) return;
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `The space of this sweep has ${points} points, those that its constraints rule out included; the ${tier} tier ` +
      `allows ${limit}. Use larger steps, or ${DRAWING_METHOD} with a budget.`,
    extras: { limitName: 'sweepPoints', limit, usage: points },
  });
}

function limitVariants(tier: Tier, variants: number): void {
  const limit = TIER_LIMITS[tier].sweepVariants;
  if (variants <= limit) return;
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `This sweep has ${variants} variants; the ${tier} tier allows ${limit}. Use larger steps, or ` +
      `${DRAWING_METHOD} with a budget.`,
    extras: { limitName: 'sweepVariants', limit, usage: variants },
  });
}
