// The messages between the pool and its threads: tasks in, outcomes out. Plain data and shared memory; no bar is ever
// copied.
import type { MessagePort } from 'node:worker_threads';
import type { Snapshot } from '../bars/arrow.ts';
import type { Market, Timeframe, Universe } from '../bars/bars.ts';
import type { BacktestConfig } from '../config.ts';
import type { Result } from './result.ts';
import type { SignalGraph } from '../language/grammar/graph.ts';
import type { RankingRows } from '../sweep/rankingRows.ts';
import type { FailedRun } from '../report/simulatedRun.ts';
import type { ShardRange } from '../sweep/shard.ts';
import type { MarketOf } from '../comparedRun.ts';
import type { SweepJob } from '../sweep/sweepJob.ts';
import type { SweepResult } from '../sweep/sweepResult.ts';
import type { Settings, StrategyAst } from '../language/grammar/ast.ts';
import type { RobustnessJob } from '../robustness/robustnessRequest.ts';
import type { StepOutcome } from '../robustness/robustnessSteps.ts';
import type { ArtifactOutcome, ArtifactRequest, BacktestTask, RunControl, RunError } from '../task.ts';

/** The engine as the pool sees it; a thread imports one module of this shape. */
export interface Runner {
  runBacktest(
    task: BacktestTask,
    market: Market | Universe,
    control: RunControl,
  ): { readonly ok: true; readonly result: Result } | FailedRun;
  /** `write` takes the file piece by piece; what it throws ends the artifact. */
  buildArtifact(
    task: BacktestTask,
    market: Market | Universe,
    control: RunControl,
    request: ArtifactRequest,
    write: (piece: Uint8Array) => void,
  ): ArtifactOutcome;
  /** Bounds what the thread keeps between tasks. Absent in stand-ins that keep nothing. */
  keepBytes?(bytes: number): void;
  /** null: it was stopped. Absent in stand-ins that run no sweeps. */
  runSweepWork?(job: SweepJob, work: SweepWork, marketOf: MarketOf, control: RunControl): SweepProduct | null;
  /** null: it was stopped. Absent in stand-ins that check no robustness. */
  runRobustnessSteps?(
    job: RobustnessJob,
    range: StepRange,
    marketOf: MarketOf,
    control: RunControl,
  ): readonly StepOutcome[] | null;
}

/** What a thread is started with. */
export interface ThreadSettings {
  /** URL of a module of the shape of `Runner`. */
  readonly runner: string;
  /** The most that the thread may keep between tasks. */
  readonly keptBytes: number;
  /** Memory of a Bell: rung when a run asks for memory. */
  readonly bell: SharedArrayBuffer;
}

/** One run of a batch. `snapshots` are indexes into the batch's own list: what this run may read. */
export interface PoolRun {
  readonly task: BacktestTask;
  readonly snapshots: readonly number[];
  /** Who it runs for, a workspace: owners share the threads evenly. Absent: one owner for all such runs. */
  readonly owner?: string;
  /** What `estimateRunBytes` says, when it is known already. */
  readonly memoryBytes?: number;
  /** It ends within some tens of milliseconds, as far as is known; it does not wait while slow runs hold threads. */
  readonly isQuick?: boolean;
  /** The run is stopped after this long, with reason time_limit; absent: the limit of the pool. */
  readonly timeLimitMs?: number;
}
export interface PoolBatch {
  readonly snapshots: readonly Snapshot[];
  readonly runs: readonly PoolRun[];
  /** The thread collects garbage first, where Node runs with `--expose-gc`; used by the warm-up. */
  readonly collectsGarbage?: boolean;
}

/** Why a run was told to stop. `returned`: the process is stopping, and another process will run it. */
export const STOP_REASONS = ['cancelled', 'time_limit', 'returned'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** How a run of a batch ended. */
export type Outcome =
  | {
      readonly kind: 'completed';
      readonly result: Result;
    }
  | { readonly kind: 'failed'; readonly error: RunError; readonly issues?: readonly object[] }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/**
 * A batch on its way to a thread. Strategies are listed once: fifty variants of one strategy send its AST once.
 * `control` is the memory of control.ts. Each outcome is posted to `port` as soon as its run has ended.
 */
export interface BatchMessage {
  readonly kind: 'batch';
  readonly snapshots: readonly Snapshot[];
  readonly strategies: readonly StrategyAst[];
  readonly runs: readonly MessageRun[];
  readonly control: SharedArrayBuffer;
  readonly collectsGarbage?: boolean;
  readonly port: MessagePort;
}
/** What a thread posts; `run` is an index into the message's runs. */
export interface EndedRun {
  readonly run: number;
  readonly outcome: Outcome;
}
export interface MessageRun {
  readonly id: string;
  readonly strategy: number;
  readonly signalGraph?: SignalGraph;
  readonly settings: Settings;
  readonly config: BacktestConfig;
  readonly strategyHash: string;
  readonly owner: string;
  readonly snapshots: readonly number[];
}
export interface ArtifactMessage {
  readonly kind: 'artifact';
  readonly batch: Omit<BatchMessage, 'port'>;
  readonly request: ArtifactRequest;
  /** Where its chunks go, and the count of those that have been taken (artifactChunks.ts). */
  readonly port: MessagePort;
  readonly taken: SharedArrayBuffer;
}
/** `chunks`: how many were posted. */
export type ArtifactAnswer = ArtifactOutcome & { readonly chunks: number };
/** A part of a sweep: some of its rows, or the result of all of them. */
export type SweepWork =
  | { readonly kind: 'shard'; readonly range: ShardRange }
  | {
      readonly kind: 'finish';
      /** The rows of every shard, joined in shared memory. */
      readonly rows: RankingRows;
      readonly earlierTrials: number | null;
      readonly title: string;
    };
type SweepProduct =
  | {
      readonly kind: 'rows';
      /** See sweepBytes.ts. */
      readonly bytes: Uint8Array;
      readonly evaluated: number;
      readonly best: { readonly variant: number; readonly value: number; readonly params: object } | null;
    }
  | { readonly kind: 'result'; readonly result: SweepResult; readonly page: string };
export type SweepOutcome =
  | SweepProduct
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'stopped'; readonly reason: StopReason };
export interface SweepBatch {
  /** As `PoolRun.owner`. */
  readonly owner?: string;
  /** It ends within some tenths of a second, as far as is known; it does not wait while longer tasks hold threads. */
  readonly isQuick?: boolean;
  readonly snapshots: readonly Snapshot[];
  /** The snapshots that variants on each symbol or universe and timeframe read, as a single backtest would. */
  readonly markets: readonly SweepMarket[];
  readonly job: SweepJob;
  readonly work: SweepWork;
}
/** What the runs on one instrument read, or on all instruments of a universe. */
export type SweepMarket = ({ readonly symbol: string } | { readonly symbols: readonly string[] }) & {
  readonly timeframe: Timeframe;
  readonly snapshots: readonly number[];
};
export interface SweepMessage extends Omit<SweepBatch, 'owner' | 'isQuick'> {
  readonly kind: 'sweep';
  readonly control: SharedArrayBuffer;
}

/** Steps [first, last) of a robustness check. */
interface StepRange {
  readonly first: number;
  readonly last: number;
}
export interface RobustnessBatch {
  /** As `PoolRun.owner`. */
  readonly owner?: string;
  /** It ends within some tenths of a second, as far as is known; it does not wait while longer tasks hold threads. */
  readonly isQuick?: boolean;
  readonly snapshots: readonly Snapshot[];
  readonly markets: readonly SweepMarket[];
  readonly job: RobustnessJob;
  readonly range: StepRange;
}
export interface RobustnessMessage extends Omit<RobustnessBatch, 'owner' | 'isQuick'> {
  readonly kind: 'robustness';
  readonly control: SharedArrayBuffer;
}
export type RobustnessOutcome =
  | { readonly kind: 'steps'; readonly outcomes: readonly StepOutcome[] }
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/** Does nothing: for it, a thread is started. */
interface LoadMessage {
  readonly kind: 'load';
}

export type ThreadMessage = LoadMessage | BatchMessage | ArtifactMessage | SweepMessage | RobustnessMessage;
