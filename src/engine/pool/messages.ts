// What crosses between the pool and its threads: tasks in, outcomes back. Plain data and shared memory, no bar is ever copied.
import type { MessagePort } from 'node:worker_threads';
import type { Snapshot } from '../columns/arrow.ts';
import type { Market } from '../columns/bars.ts';
import type { Settings, StrategyAst } from '../language/ast.ts';
import type { BacktestConfig, ResolvedConfig } from '../simulate/config.ts';
import type { RunControl } from '../simulate/program.ts';

/** One backtest as the engine takes it. */
export interface BacktestTask {
  readonly id: string;
  readonly strategyAst: StrategyAst;
  readonly settings: Settings;
  readonly config: BacktestConfig;
  readonly strategyHash: string;
}

/** An expected failure: data that crosses threads, jobs and HTTP unchanged. */
export interface RunError {
  readonly code: string;
  /** RFC 6901 pointer into what was asked, '' for the whole. */
  readonly path: string;
  readonly message: string;
}

export interface Reproducibility {
  readonly engineVersion: string;
  readonly strategyHash: string;
  readonly dataHash: string;
  readonly configHash: string;
  readonly runKey: string;
  readonly resultHash: string;
}

/** What `runBacktest` gives back. */
export type BacktestOutcome =
  | {
      readonly ok: true;
      readonly summaryJson: object;
      readonly trades: readonly object[];
      readonly reproducibility: Reproducibility;
      readonly warnings: readonly object[];
      readonly resolvedConfig: ResolvedConfig;
    }
  | { readonly ok: false; readonly error: RunError; readonly issues?: readonly object[] };

export const ARTIFACT_NAMES = ['trades', 'equity', 'orders', 'signals', 'report'] as const;
export const ARTIFACT_FORMATS = ['arrow', 'csv', 'json', 'html'] as const;
export type ArtifactName = (typeof ARTIFACT_NAMES)[number];
export type ArtifactFormat = (typeof ARTIFACT_FORMATS)[number];
/** The formats each artifact is made in, the default first. */
export const FORMATS_OF: Readonly<Record<ArtifactName, readonly ArtifactFormat[]>> = {
  trades: ['json', 'csv', 'arrow'],
  equity: ['json', 'csv', 'arrow'],
  orders: ['json', 'csv', 'arrow'],
  signals: ['json', 'csv', 'arrow'],
  report: ['html'],
};
export interface ArtifactRequest {
  readonly name: ArtifactName;
  readonly format: ArtifactFormat;
}
/** `resultHash` is that of the run the artifact was made from; the caller compares it with the stored one. */
export type ArtifactOutcome =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly resultHash: string }
  | { readonly ok: false; readonly error: RunError };

/** The engine as the pool sees it; a thread imports one module of this shape. */
export interface Runner {
  runBacktest(task: BacktestTask, market: Market, control: RunControl): BacktestOutcome;
  buildArtifact(task: BacktestTask, market: Market, control: RunControl, request: ArtifactRequest): ArtifactOutcome;
}

/** One run of a batch. `snapshots` are indexes into the batch's own list: what this run may read. */
export interface PoolRun {
  readonly task: BacktestTask;
  readonly snapshots: readonly number[];
}
export interface PoolBatch {
  readonly snapshots: readonly Snapshot[];
  readonly runs: readonly PoolRun[];
}

/** Why a run was told to stop. RETURNED: the process is going away, and another shall run it. */
export const STOP_REASONS = ['cancelled', 'time_limit', 'returned'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** What becomes of one run of a batch, in the form in which it is stored. */
export type PoolOutcome =
  | {
      readonly kind: 'completed';
      /** JSON of the flat members of the summary; the others lie in `detail`. */
      readonly summary: string;
      /** See detail.ts. */
      readonly detail: Uint8Array;
      readonly reproducibility: Reproducibility;
      readonly warnings: readonly object[];
      readonly resolvedConfig: ResolvedConfig;
    }
  | { readonly kind: 'failed'; readonly error: RunError; readonly issues?: readonly object[] }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/**
 * A batch on its way to a thread. Strategies are listed once: fifty variants of one strategy send its AST once. `control` is the memory of
 * control.ts; each outcome leaves through `port` as soon as it is there, so that none waits for a long run after it.
 */
export interface BatchMessage {
  readonly kind: 'batch';
  readonly snapshots: readonly Snapshot[];
  readonly strategies: readonly StrategyAst[];
  readonly runs: readonly MessageRun[];
  readonly control: SharedArrayBuffer;
  readonly port: MessagePort;
}
export interface OutcomeMessage {
  readonly run: number;
  readonly outcome: PoolOutcome;
}
export interface MessageRun {
  readonly id: string;
  readonly strategy: number;
  readonly settings: Settings;
  readonly config: BacktestConfig;
  readonly strategyHash: string;
  readonly snapshots: readonly number[];
}
export interface ArtifactMessage {
  readonly kind: 'artifact';
  readonly batch: Omit<BatchMessage, 'port'>;
  readonly request: ArtifactRequest;
}
export type ThreadMessage = BatchMessage | ArtifactMessage;
