// Ranking rows: what the result of a sweep reads of its rows, joined shard by shard, so that a million rows with all of
// their metrics are never in memory at the same time.
import type { FlatKey } from '../report/flatSummary.ts';
import { bestRows, scoresOf } from './scores.ts';
import type { Space } from './space.ts';
import { objectiveOf, type SweepJob } from './sweepJob.ts';
import { MAX_FAILURES_KEPT, type SweepRows } from './sweepRows.ts';

/** A row with all of its metrics. */
export interface WholeRow {
  /** The permanent name of the row: its index among the variants. */
  readonly variant: number;
  readonly coordinates: readonly number[];
  readonly metrics: Readonly<Partial<Record<FlatKey, number | null>>>;
  readonly dailySharpe: number;
  /** What it was chosen by; higher is better. */
  readonly score: number;
}

/** `metrics` has the columns that the ranking and the report read. */
export interface RankingRows extends Omit<SweepRows, 'training'> {
  /** The best rows, best first. */
  readonly top: readonly WholeRow[];
  /** The best row of each fold in its training window; null: no row has a score there. */
  readonly inTraining: readonly (WholeRow | null)[];
}

export const TOP_ROWS = 20;

/** The metrics that are read of every row: for ranking, for the landscape and for the cloud of the report. */
const readKeys = ({ spec }: SweepJob, space: Space): ReadonlySet<FlatKey> =>
  new Set([objectiveOf(spec).key, ...space.resultConstraints.map(({ key }) => key), 'returnPct', 'maxDrawdown']);

interface Ranked {
  readonly job: SweepJob;
  readonly space: Space;
}

/** The rows of one shard. */
export function rankingRows({ job, space }: Ranked, rows: SweepRows): RankingRows {
  const { key, sign } = objectiveOf(job.spec);
  const scores = scoresOf(space, rows, key, sign);
  const keys = readKeys(job, space);
  // Copies: the columns of a shard may be views on one buffer, which would stay in memory as a whole.
  return {
    indexes: rows.indexes.slice(),
    coordinates: rows.coordinates.map((column) => column.slice()),
    metrics: rows.metrics
      .filter((metric) => keys.has(metric.key))
      .map((metric) => ({ key: metric.key, values: metric.values.slice() })),
    dailySharpe: rows.dailySharpe.slice(),
    sampled: rows.sampled.slice(),
    sums: rows.sums.slice(),
    failures: rows.failures,
    top: bestRows(scores, TOP_ROWS).map((row) => wholeRow(rows, row, scores[row])),
    inTraining: rows.training.map((column) => {
      const [best] = bestRows(column, 1);
      return best === undefined ? null : wholeRow(rows, best, column[best]);
    }),
  };
}

function wholeRow(rows: SweepRows, row: number, score: number): WholeRow {
  return {
    variant: rows.indexes[row],
    coordinates: rows.coordinates.map((column) => column[row]),
    metrics: Object.fromEntries(
      rows.metrics.map(({ key, values }) => [key, values[row] === values[row] ? values[row] : null]),
    ),
    dailySharpe: rows.dailySharpe[row],
    score,
  };
}

/** The rows of all shards in the order of their variants, whatever the order of the shards; in shared memory. */
export function joinRankingRows(shards: readonly RankingRows[]): RankingRows {
  const ordered = shards.toSorted((a, b) => firstVariant(a) - firstVariant(b));
  const [head] = ordered;
  const join = (column: (rows: RankingRows) => Float64Array): Float64Array => {
    const length = ordered.reduce((sum, rows) => sum + column(rows).length, 0);
    const joined = new Float64Array(new SharedArrayBuffer(8 * length));
    let at = 0;
    for (const rows of ordered) {
      joined.set(column(rows), at);
      at += column(rows).length;
    }
    return joined;
  };
  // Ties keep the first variant, as in one list.
  const best = (rows: readonly WholeRow[], count: number): WholeRow[] =>
    rows.toSorted((a, b) => b.score - a.score || a.variant - b.variant).slice(0, count);
  return {
    indexes: join((rows) => rows.indexes),
    coordinates: head.coordinates.map((_, at) => join((rows) => rows.coordinates[at])),
    metrics: head.metrics.map(({ key }, at) => ({ key, values: join((rows) => rows.metrics[at].values) })),
    dailySharpe: join((rows) => rows.dailySharpe),
    sampled: join((rows) => rows.sampled),
    sums: join((rows) => rows.sums),
    failures: {
      count: ordered.reduce((count, rows) => count + rows.failures.count, 0),
      first: ordered.flatMap((rows) => rows.failures.first).slice(0, MAX_FAILURES_KEPT),
    },
    top: best(
      ordered.flatMap((rows) => rows.top),
      TOP_ROWS,
    ),
    inTraining: head.inTraining.map((_, fold) => {
      const [first] = best(
        ordered.flatMap((rows) => rows.inTraining[fold] ?? []),
        1,
      );
      return first ?? null;
    }),
  };
}

const firstVariant = (rows: RankingRows): number => rows.indexes[0] ?? rows.failures.first[0]?.variant ?? Infinity;
