// The domain types that cross threads, jobs and HTTP unchanged: a backtest task, its outcome and its errors.
import type { Settings, StrategyAst } from './language/grammar/ast.ts';
import type { SignalGraph } from './language/grammar/graph.ts';
import type { BacktestConfig } from './config.ts';

/** One backtest as the engine takes it. */
export interface BacktestTask {
  readonly id: string;
  readonly strategyAst: StrategyAst;
  /** The graph the strategy was sent as, for overrides that point into it; absent: it was sent as an AST. */
  readonly signalGraph?: SignalGraph;
  readonly settings: Settings;
  readonly config: BacktestConfig;
  readonly strategyHash: string;
  /** Who it runs for, a workspace: columns are shared by the runs of one owner only. Absent: one owner for all such. */
  readonly owner?: string;
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

export const ARTIFACT_NAMES = ['trades', 'equity', 'orders', 'signals', 'report'] as const;
export const ARTIFACT_FORMATS = ['arrow', 'csv', 'json', 'html'] as const;
/** Artifacts that only runs of several instruments have. */
export const PORTFOLIO_ARTIFACT_NAMES = ['weights', 'instruments'] as const;
export type ArtifactName = (typeof ARTIFACT_NAMES | typeof PORTFOLIO_ARTIFACT_NAMES)[number];
/**
 * The daily equity from which runs are compared and combined, as CSV. The service makes it for itself: no route and no
 * command takes it by name.
 */
export const DAILY_EQUITY = 'daily_equity';
export type ArtifactFormat = (typeof ARTIFACT_FORMATS)[number];
/** The formats each artifact is made in, the default first. */
export const FORMATS_OF: Readonly<Record<ArtifactName, readonly ArtifactFormat[]>> = {
  trades: ['json', 'csv', 'arrow'],
  equity: ['json', 'csv', 'arrow'],
  orders: ['json', 'csv', 'arrow'],
  signals: ['json', 'csv', 'arrow'],
  report: ['html'],
  weights: ['json', 'csv', 'arrow'],
  instruments: ['json', 'csv', 'arrow'],
};
export interface ArtifactRequest {
  readonly name: ArtifactName | typeof DAILY_EQUITY;
  readonly format: ArtifactFormat;
  /** What the report's heading says of the run, which is not in its task; absent: nothing is known. */
  readonly heading?: ReportHeading;
  /** The result as it is stored, to be compared with the recomputed one; absent: nothing is stored. */
  readonly stored?: StoredResult;
}

export interface ReportHeading {
  readonly strategyName: string | null;
  readonly strategyVersion: number | null;
  readonly backtestId: string | null;
}

/** A result in the form in which it is stored. */
export interface StoredResult {
  readonly engineVersion: string;
  readonly resultHash: string;
  /** The flat members of the summary. */
  readonly summary: Readonly<Record<string, unknown>>;
  /** The other members, and the trades (pool/result.ts). */
  readonly detail: Uint8Array;
  readonly trades: Uint8Array;
}

/** Says that an artifact was recomputed and differs from the stored result, and how. */
export interface ArtifactNotice {
  readonly code: 'RESULT_DIFFERS';
  /** One or two sentences in ASCII, fit for a header. */
  readonly message: string;
  readonly stored: { readonly engineVersion: string; readonly resultHash: string };
  readonly recomputed: { readonly engineVersion: string; readonly resultHash: string };
  /** Trade rows that differ in a stored column, those that one side lacks included. */
  readonly tradesDiffering: number;
  /** Trade rows whose numbers differ in their last digits only. */
  readonly tradesRounded: number;
  /** Members of the summary whose values differ, blocks as `block.member`. */
  readonly summaryDiffering: readonly string[];
  /** Members of the summary whose numbers differ in their last digits only. */
  readonly summaryRounded: readonly string[];
  /** Members of the summary and columns of the trades that the stored result does not have. */
  readonly added: readonly string[];
}

/**
 * The outcome of an artifact whose bytes have been written. `resultHash` is that of the run it was made from; `notice`
 * is null when it equals the stored one or none is stored.
 */
export type ArtifactOutcome =
  | { readonly ok: true; readonly resultHash: string; readonly notice: ArtifactNotice | null }
  | { readonly ok: false; readonly error: RunError };

/** How a run is stopped and followed from another thread. */
export interface RunControl {
  isCancelled(): boolean;
  report(barsDone: number, barsTotal: number): void;
  /**
   * Asks for a total of `bytes` beyond what the run was admitted by. Absent: it may take what there is. `later`: it
   * must end, and runs again once it can have that much; `never`: no run may take that much.
   */
  mayTake?(bytes: number): 'yes' | 'later' | 'never';
}
