// The memory of a run: an estimate of what it may need, made before it starts (admission.ts bounds what runs at once),
// and what it takes beyond that as it makes more trades than expected.
import { symbolsOf } from '../config.ts';
import type { Snapshot } from '../bars/arrow.ts';
import { DAY_MS } from '../bars/bars.ts';
import { isFiner, longestMs, shortestMs } from '../bars/timeframes.ts';
import { estimateBacktest } from '../estimateBacktest.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import type { ArtifactRequest, BacktestTask } from '../task.ts';
import type { Lease } from './admission.ts';
import type { MemoryAnswer } from './control.ts';

/** A thread's own heap while it runs the smallest backtest. */
const BYTES_PER_RUN = 8 << 20;
/**
 * A row of a snapshot: time, four prices and volume, 8 bytes each. Extra columns make rows longer and the estimate
 * higher, which is safe.
 */
const BYTES_PER_ROW = 6 * 8;
/** The times of an opened snapshot, and the bars that are resampled from it. */
const OPENED_BYTES_PER_ROW = 8;
/**
 * How many times as many bars a coarser timeframe may have as the same rows of a market without gaps would give.
 * Minutes are missing at night and on weekends, days less often.
 */
const GAPS_WITHIN_DAY = 1.5;
const GAPS_BETWEEN_DAYS = 4;

/** Bytes a run may need at its peak, besides the shared snapshots. */
export function estimateRunBytes(task: Omit<BacktestTask, 'id' | 'strategyHash'>, read: readonly Snapshot[]): number {
  const rows = read.reduce((sum, snapshot) => sum + rowsIn(snapshot), 0);
  const estimate = estimateBacktest(task, rowsAmong(read));
  return runBytes(estimate?.bytes ?? 0, rows);
}

/** Bytes that making an artifact may need at its peak, besides its run. */
export function estimateArtifactBytes(
  { name, format }: Pick<ArtifactRequest, 'name' | 'format'>,
  { config }: Pick<BacktestTask, 'config'>,
  read: readonly Snapshot[],
): number {
  const rowsOf = rowsAmong(read);
  const { timeframe } = config;
  const rows = symbolsOf(config).reduce((sum, symbol) => sum + rowsOf({ symbol, timeframe }), 0);
  const { table, arrow } = ARTIFACT_BYTES_PER_BAR[name];
  const kept = rows * (table + (format === 'arrow' ? arrow : 0));
  return kept + Math.min(WRITING_BYTES, 2 * WRITTEN_BYTES_PER_BAR * rows);
}

/**
 * What an artifact holds besides the columns of its run, and what an Arrow file adds, which has all of its columns in
 * memory. One trade and one order per bar are assumed; a run that makes more trades asks for more memory (RunMemory).
 */
const ARTIFACT_BYTES_PER_BAR: Readonly<
  Record<ArtifactRequest['name'], { readonly table: number; readonly arrow: number }>
> = {
  trades: { table: 100, arrow: 50 },
  equity: { table: 16, arrow: 24 },
  orders: { table: 400, arrow: 200 },
  signals: { table: 64, arrow: 32 },
  report: { table: 224, arrow: 0 },
  weights: { table: 16, arrow: 24 },
  instruments: { table: 1, arrow: 1 },
  daily_equity: { table: 16, arrow: 0 },
};
/**
 * Text that is not collected yet, the page of a report, and chunks on their way (artifactChunks.ts), also as encoded
 * for Postgres.
 */
const WRITING_BYTES = 64 << 20;
const WRITTEN_BYTES_PER_BAR = 256;

/** Bytes that a run of this plan may need. @param openedRows rows of all snapshots that the run may read */
export const runBytes = (planBytes: number, openedRows: number): number =>
  BYTES_PER_RUN + OPENED_BYTES_PER_ROW * openedRows + planBytes;

const rowsIn = ({ byteLength }: Snapshot): number => byteLength / BYTES_PER_ROW;

/** Tells the bars of a series that is among the snapshots, or resampled from one of them. */
function rowsAmong(read: readonly Snapshot[]): (series: SeriesName) => number {
  const bySymbol = Map.groupBy(read, ({ meta }) => meta.symbol);
  return ({ symbol, timeframe }) => {
    const wanted = shortestMs(timeframe);
    const gaps = wanted > DAY_MS / 8 ? GAPS_BETWEEN_DAYS : GAPS_WITHIN_DAY;
    const ofSymbol = (bySymbol.get(symbol) ?? []).filter(({ meta }) => !isFiner(timeframe, meta.timeframe));
    const own = ofSymbol.find(({ meta }) => meta.timeframe === timeframe);
    if (own) return rowsIn(own);
    return ofSymbol.reduce((most, snapshot) => {
      const share = Math.min(1, (longestMs(snapshot.meta.timeframe) * gaps) / wanted);
      return Math.max(most, rowsIn(snapshot) * share);
    }, 0);
  };
}

/** What a run is admitted with, and what it has been granted since. */
export class RunMemory {
  readonly #estimate: number;
  readonly #maxBytes: number;
  readonly #tables: number;
  /** Bytes beyond the estimate, as the run counts them: those granted, or those it needs before it runs again. */
  #more = 0;
  #isRefused = false;

  /**
   * @param estimate bytes that the run is first admitted with
   * @param maxBytes the most that any task may have
   * @param tables how many tables of its trades it may hold at the same time
   */
  constructor(estimate: number, maxBytes: number, tables = 1) {
    this.#estimate = estimate;
    this.#maxBytes = maxBytes;
    this.#tables = tables;
  }

  /** The bytes to ask admission for. */
  get bytes(): number {
    return this.#total(this.#more);
  }

  get more(): number {
    return this.#more;
  }

  #total = (more: number): number => this.#estimate + this.#tables * more;

  /** Answers a run that asks for `more` bytes beyond the estimate. */
  answer(more: number, lease: Pick<Lease, 'raise'>): MemoryAnswer {
    if (this.#total(more) > this.#maxBytes) return 'never';
    const isGranted = lease.raise(this.#total(more));
    // A run that is refused gets twice as much when it starts over, so that it rarely starts over again.
    const most = (this.#maxBytes - this.#estimate) / this.#tables;
    this.#more = isGranted ? more : Math.min(2 * more, most);
    this.#isRefused ||= !isGranted;
    return isGranted ? 'yes' : 'later';
  }

  /** Whether the run was refused memory and so must start over. Resets the answer. */
  takeRefusal(): boolean {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    return isRefused;
  }
}
