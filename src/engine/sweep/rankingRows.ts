// Ranking rows: what the result of a sweep reads of its rows, joined shard by shard, so that a million rows with all of
// their metrics are never in memory at the same time.
import type { FlatKey } from '../definitions/statistics/statistics.ts';
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
  /** The score that it was chosen by; higher is better. */
  readonly score: number;
}

/** `metrics` has the columns that the ranking and the report read. */
export interface RankingRows extends Omit<SweepRows, 'training'> {
  /** The best rows, best first, each point once. */
  readonly top: readonly WholeRow[];
  /** The best row of each fold in its training window; null: no row has a score there. */
  readonly inTraining: readonly (WholeRow | null)[];
}

const TOP_ROWS = 20;

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
    top: bestRows(scores, TOP_ROWS, rows.coordinates).map((row) => wholeRow(rows, row, scores[row])),
    inTraining: rows.training.map((column) => {
      const [best] = bestRows(column, 1, rows.coordinates);
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

/**
 * The rows of all shards in the order of their variants, whatever the order of the shards; in shared memory. Empties
 * the list and lets each column go once it is joined: a second copy of a million variants would be 100 MB.
 */
export function joinRankingRows(shards: RankingRows[]): RankingRows {
  const ordered = shards.toSorted((a, b) => firstVariant(a) - firstVariant(b));
  const keys = ordered[0].metrics.map(({ key }) => key);
  const folds = ordered[0].inTraining.length;
  const dimensions = ordered[0].coordinates.length;
  const columns = ordered.map(columnsOf);
  // From here on only `columns` refers to the columns of the shards.
  shards.length = 0;
  ordered.forEach((rows, shard) => (ordered[shard] = { ...rows, ...NO_COLUMNS }));
  let next = 0;
  const join = (): Float64Array => joinColumn(columns, next++);
  return {
    // In the order of columnsOf.
    indexes: join(),
    coordinates: Array.from({ length: dimensions }, join),
    metrics: keys.map((key) => ({ key, values: join() })),
    dailySharpe: join(),
    sampled: join(),
    sums: join(),
    failures: {
      count: ordered.reduce((count, rows) => count + rows.failures.count, 0),
      first: ordered.flatMap((rows) => rows.failures.first).slice(0, MAX_FAILURES_KEPT),
    },
    top: bestPoints(ordered.flatMap((rows) => rows.top)).slice(0, TOP_ROWS),
    inTraining: Array.from({ length: folds }, (_, fold) => {
      const [first] = bestPoints(ordered.flatMap((rows) => rows.inTraining[fold] ?? []));
      return first ?? null;
    }),
  };
}

/** Column `at` of all shards in one, which is then empty in each of them. */
function joinColumn(columns: readonly Float64Array[][], at: number): Float64Array {
  const joined = new Float64Array(new SharedArrayBuffer(8 * columns.reduce((sum, own) => sum + own[at].length, 0)));
  let row = 0;
  for (const own of columns) {
    joined.set(own[at], row);
    row += own[at].length;
    own[at] = EMPTY;
  }
  return joined;
}

/** Best first, each point once; ties keep the first variant, as `bestRows` does within a shard. */
function bestPoints(rows: readonly WholeRow[]): WholeRow[] {
  const points = new Map<string, WholeRow>();
  for (const row of rows.toSorted((a, b) => b.score - a.score || a.variant - b.variant)) {
    const point = row.coordinates.join();
    if (!points.has(point)) points.set(point, row);
  }
  return [...points.values()];
}

const columnsOf = (rows: RankingRows): Float64Array[] => [
  rows.indexes,
  ...rows.coordinates,
  ...rows.metrics.map(({ values }) => values),
  rows.dailySharpe,
  rows.sampled,
  rows.sums,
];
const EMPTY = new Float64Array(0);
const NO_COLUMNS = { indexes: EMPTY, coordinates: [], metrics: [], dailySharpe: EMPTY, sampled: EMPTY, sums: EMPTY };

const firstVariant = (rows: RankingRows): number => rows.indexes[0] ?? rows.failures.first[0]?.variant ?? Infinity;
