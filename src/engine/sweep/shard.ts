// A shard: a range of a sweep's variants, each run as a separate backtest that shares columns and keeps only the
// requested numbers.
import { isPortfolio, symbolsOf, type BacktestConfig } from '../config.ts';
import { prepareComparedRun, openedMarkets, type ComparedRun, type MarketOf } from '../comparedRun.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { lowerBound } from '../kernels/search.ts';
import type { ColumnStore } from '../evaluate/columnStore.ts';
import { RunStopped } from '../evaluate/evaluatePlan.ts';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import { chosenSummary, dailyOf } from '../report/flatSummary.ts';
import type { DailySeries } from '../report/returns.ts';
import { LentMemory } from '../simulate/lentMemory.ts';
import { MemoryRefused } from '../simulate/tradeBudget.ts';
import type { BacktestTask, RunControl, RunError } from '../task.ts';
import { addBlockSums, cscvBlocksOf, isSampled, type CscvBlocks } from './cscvBlocks.ts';
import type { Coordinates } from './draws.ts';
import type { SweepHistory } from './methods/sweepMethod.ts';
import { methodOf } from './methods/sweepMethods.ts';
import { variantAt } from './samplers.ts';
import { configOf, holds, type Space } from './space.ts';
import { metricsOf, objectiveOf, spaceOf, type SweepControl, type SweepJob } from './sweepJob.ts';
import { MAX_FAILURES_KEPT, type SweepRows } from './sweepRows.ts';
import { foldsOf, reachesEnd, type Fold } from './folds.ts';
import { watchedTries } from './tries.ts';
import type { Market, Universe } from '../bars/bars.ts';

/** A range of indexes [first, last), and for a round the results of the earlier ones. */
export interface ShardRange {
  readonly first: number;
  readonly last: number;
  readonly history?: SweepHistory;
}

/** Everything that the variants of one sweep share in one thread. */
export interface SweepContext {
  readonly job: SweepJob;
  readonly space: Space;
  readonly marketOf: MarketOf;
  readonly universes: OpenUniverses;
  readonly store: ColumnStore;
  /** Says whether to stop, also in the middle of a variant; absent: the shard runs to its end. */
  readonly control?: Pick<RunControl, 'isCancelled' | 'mayTake'> | null;
}

interface Variant {
  readonly index: number;
  readonly coordinates: Coordinates;
}

/**
 * Runs the variants of a range; null if it was cancelled. The rows do not depend on other shards or on the thread.
 * @throws ConstraintsTooRare
 */
export function runShard(context: SweepContext, range: ShardRange, control: SweepControl | null): SweepRows | null {
  const variants = variantsOf(context, range, () => control?.isCancelled() ?? false);
  if (variants === null) return null;
  const rows = new RowWriter({ ...context, control }, variants);
  // Neighbors in the space share columns; in this order they are still cached.
  const order = variants.map((_, at) => at).sort((a, b) => compareCoordinates(variants[a], variants[b]));
  for (let done = 0; done < order.length;) {
    const kept = context.store.bytes;
    try {
      const prepared: PreparedRow[] = [];
      do {
        if (control?.isCancelled()) return null;
        prepared.push(rows.prepare(order[done++]));
      } while (
        done < order.length &&
        prepared.length < MAX_PREPARED &&
        context.store.bytes - kept < MAX_PREPARED_BYTES
      );
      for (const row of prepared) {
        if (control?.isCancelled()) return null;
        rows.run(row);
      }
    } catch (error) {
      if (error instanceof RunStopped) return null;
      throw error;
    } finally {
      context.store.trim();
    }
    control?.report(done, variants.length);
  }
  return rows.finish();
}

/**
 * How many variants are prepared before they are simulated. Computing columns flushes the cache; simulated one after
 * the other, neighbors, which trade on nearly the same bars, find these bars in it. It saves a tenth of the time of a
 * sweep of a thousand pairs of averages.
 */
const MAX_PREPARED = 32;
/** Fewer variants are prepared when their columns take more than this beyond the store's limit. */
const MAX_PREPARED_BYTES = 8 << 20;

/** A variant that is ready to be simulated, at its place in the shard. */
interface PreparedRow {
  readonly at: number;
  readonly config: BacktestConfig;
  readonly prepared: ComparedRun | RunError;
}

/**
 * The variants of a range; null when `shouldStop` said so.
 * @throws ConstraintsTooRare
 */
export function variantsOf(
  { job, space }: Pick<SweepContext, 'job' | 'space'>,
  { first, last, history }: ShardRange,
  shouldStop: () => boolean,
): Variant[] | null {
  const tries = watchedTries(() => {
    if (shouldStop()) throw new RunStopped('The search for variants was stopped.');
  });
  const variants: Variant[] = [];
  const add = (coordinates: Coordinates | null, index: number): void => {
    if (coordinates !== null) variants.push({ index, coordinates });
  };
  try {
    const { rounds } = methodOf(job.spec.method);
    if (rounds !== null && history !== undefined) {
      const asked = { seed: job.spec.seed, first, count: last - first };
      rounds.propose(space, history, asked, tries).forEach((coordinates, at) => add(coordinates, first + at));
    } else for (let index = first; index < last; index++) add(variantAt(job.spec, space, index, tries), index);
    return variants;
  } catch (error) {
    if (error instanceof RunStopped) return null;
    throw error;
  }
}

function compareCoordinates(a: Variant, b: Variant): number {
  for (let at = 0; at < a.coordinates.length; at++) {
    const difference = a.coordinates[at] - b.coordinates[at];
    if (difference !== 0) return difference;
  }
  return a.index - b.index;
}

/**
 * One variant as a backtest. The task of a single backtest with this config is equal in every member that affects the
 * result.
 */
export const taskOf = ({ strategy, owner = '' }: SweepJob, config: BacktestConfig): BacktestTask => ({
  id: 'variant',
  owner,
  ...strategy,
  config,
});

/** @throws RunStopped when the control of the context says so */
export function prepareVariant(context: SweepContext, config: BacktestConfig): ComparedRun | RunError {
  const { job, marketOf, universes, store, control = null } = context;
  const market = universes.marketsOf(config, marketOf);
  return 'code' in market ? market : prepareComparedRun(taskOf(job, config), market, store, control);
}

/** Fills the columns of a shard's rows. */
class RowWriter {
  readonly #context: SweepContext;
  readonly #variants: readonly Variant[];
  readonly #keys: readonly FlatKey[];
  readonly #wanted: ReadonlySet<FlatKey>;
  readonly #trainingKeys: ReadonlySet<FlatKey>;
  readonly #cscv: CscvBlocks;
  readonly #folds: readonly Fold[];
  readonly #metrics: readonly Float64Array[];
  readonly #training: readonly Float64Array[];
  readonly #dailySharpe: Float64Array;
  readonly #sums: Float64Array;
  readonly #sampled: Int32Array;
  readonly #failures = new Map<number, RunError>();
  readonly #memory = new LentMemory(Infinity);

  constructor(context: SweepContext, variants: readonly Variant[]) {
    const { job, space, marketOf } = context;
    const count = variants.length;
    this.#context = context;
    this.#variants = variants;
    this.#keys = metricsOf(job, space);
    this.#wanted = new Set(this.#keys);
    this.#trainingKeys = new Set([objectiveOf(job.spec).key, ...space.resultConstraints.map(({ key }) => key)]);
    this.#cscv = cscvBlocksOf(job, space, marketOf);
    this.#folds = foldsOf(job.spec, marketOf);
    this.#metrics = this.#keys.map(() => new Float64Array(count));
    this.#training = this.#folds.map(() => new Float64Array(count));
    this.#dailySharpe = new Float64Array(count);
    const { blocks } = this.#cscv;
    const sampled =
      blocks === 0 ? [] : variants.flatMap(({ index }, at) => (isSampled(index, job.variants) ? [at] : []));
    this.#sampled = Int32Array.from(sampled);
    this.#sums = new Float64Array(sampled.length * 2 * blocks);
  }

  /** @throws RunStopped */
  prepare(at: number): PreparedRow {
    const { job, space } = this.#context;
    const config = configOf(job.spec.config, space, this.#variants[at].coordinates);
    return { at, config, prepared: prepareVariant(this.#context, config) };
  }

  /** @throws RunStopped; MemoryRefused when it would have to run again */
  run(row: PreparedRow): void {
    const { at, prepared } = row;
    if ('code' in prepared) {
      this.#failures.set(at, prepared);
      return;
    }
    try {
      this.#measure({ ...row, prepared });
    } catch (error) {
      if (!(error instanceof MemoryRefused) || !error.isFinal) throw error;
      this.#failures.set(at, error.runError);
    }
  }

  #measure({ at, config, prepared }: PreparedRow & { readonly prepared: ComparedRun }): void {
    const { job } = this.#context;
    const reported = prepared.simulate({ wanted: this.#wanted, memory: this.#memory });
    const daily = dailyOf(reported);
    const summary = chosenSummary(reported, daily, this.#wanted);
    this.#keys.forEach((key, column) => (this.#metrics[column][at] = summary[key] ?? NaN));
    const periods = periodsPerYear(reported.input.instrument);
    this.#dailySharpe[at] = (summary.sharpeRatio ?? NaN) / Math.sqrt(periods);
    this.#keepSums(at, daily);
    this.#folds.forEach(({ train }, fold) => {
      const narrowed = prepared.narrow(taskOf(job, { ...config, range: train }));
      this.#training[fold][at] = reachesEnd(narrowed.rows, train) ? this.#score(narrowed) : NaN;
    });
  }

  finish(): SweepRows {
    const kept = this.#variants.flatMap((_, at) => (this.#failures.has(at) ? [] : [at]));
    const isWhole = kept.length === this.#variants.length;
    const pick = (values: Float64Array): Float64Array =>
      isWhole ? values : Float64Array.from(kept, (at) => values[at]);
    const width = 2 * this.#cscv.blocks;
    const sampled = [...this.#sampled.entries()].filter(([, at]) => !this.#failures.has(at));
    const sums = new Float64Array(sampled.length * width);
    sampled.forEach(([from], to) => sums.set(this.#sums.subarray(from * width, (from + 1) * width), to * width));
    const failed = [...this.#failures].sort(([a], [b]) => a - b);
    return {
      indexes: Float64Array.from(kept, (at) => this.#variants[at].index),
      coordinates: this.#context.space.dimensions.map((_, dimension) =>
        Float64Array.from(kept, (at) => this.#variants[at].coordinates[dimension]),
      ),
      metrics: this.#keys.map((key, column) => ({ key, values: pick(this.#metrics[column]) })),
      dailySharpe: pick(this.#dailySharpe),
      training: this.#training.map(pick),
      sampled: Float64Array.from(sampled, ([, at]) => this.#variants[at].index),
      sums,
      failures: {
        count: failed.length,
        first: failed
          .slice(0, MAX_FAILURES_KEPT)
          .map(([at, error]) => ({ ...error, variant: this.#variants[at].index })),
      },
    };
  }

  #score(prepared: ComparedRun): number {
    const { job, space } = this.#context;
    const reported = prepared.simulate({ wanted: this.#trainingKeys, memory: this.#memory });
    const summary = chosenSummary(reported, null, this.#trainingKeys);
    const isFeasible = space.resultConstraints.every(({ key, op, value }) => holds(summary[key] ?? NaN, op, value));
    const { key, sign } = objectiveOf(job.spec);
    return isFeasible ? sign * (summary[key] ?? NaN) : NaN;
  }

  #keepSums(at: number, daily: DailySeries): void {
    const sample = lowerBound(this.#sampled, at);
    if (this.#sampled[sample] === at) addBlockSums(this.#cscv, daily, this.#sums, sample * 2 * this.#cscv.blocks);
  }
}

/** The context of a job on the markets that are open in a thread. */
export const sweepContext = (job: SweepJob, marketOf: MarketOf, store: ColumnStore): SweepContext => ({
  job,
  space: spaceOf(job),
  marketOf,
  universes: new OpenUniverses(),
  store,
});

/** As many as variants are prepared before they are simulated; a universe takes some hundred bytes per instrument. */
const MAX_UNIVERSES = 32;

class OpenUniverses {
  /** By their instruments and timeframe, the latest last. */
  readonly #open = new Map<string, Market | Universe | RunError>();

  /** The market of a config, or the universe of its list; the error names an instrument without bars. */
  marketsOf(config: BacktestConfig, marketOf: MarketOf): Market | Universe | RunError {
    if (!isPortfolio(config)) return openedMarkets(config, marketOf);
    const key = JSON.stringify([config.timeframe, symbolsOf(config)]);
    const known = this.#open.get(key);
    const opened = known ?? openedMarkets(config, marketOf);
    this.#open.delete(key);
    if (this.#open.size === MAX_UNIVERSES) this.#open.delete(this.#open.keys().next().value!);
    this.#open.set(key, opened);
    return opened;
  }
}
