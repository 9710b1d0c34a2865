// Tiers: the limits of each subscription, in one table. Everything that enforces or publishes a limit reads it here.

export const TIERS = ['free', 'plus', 'pro'] as const;
export type Tier = (typeof TIERS)[number];

export interface TierLimits {
  /** API keys that are neither revoked nor expired. */
  readonly activeApiKeys: number;
  /** Leaf conditions of all entries, and of all exits. */
  readonly entryConditions: number;
  readonly exitConditions: number;
  readonly exits: number;
  /** Expression nodes of one strategy, and how deep they nest. */
  readonly nodes: number;
  readonly depth: number;
  readonly strategies: number;
  readonly versionsPerStrategy: number;
  /** Bytes of versions, of labels and of answers kept under Idempotency-Keys, as JSON. */
  readonly storedBytes: number;
  /** Stored bytes of the results of backtests; below, those of sweeps and robustness checks. */
  readonly backtestResultBytes: number;
  readonly sweepResultBytes: number;
  /** Bytes of all uploaded snapshots that still exist, and how many series there are of a workspace's own. */
  readonly marketDataBytes: number;
  readonly marketDataSeries: number;
  /** Backtests queued or running at the same time. */
  readonly queuedBacktests: number;
  /** Days that a backtest or sweep is kept after it has ended; of each kind, a workspace keeps the latest so many. */
  readonly retentionDays: number;
  readonly keptBacktests: number;
  /** Sweeps and robustness checks: a sweep of a million variants takes as much room as ten thousand backtests. */
  readonly keptSweeps: number;
  /** Bars of all instruments of a run together. */
  readonly barsPerBacktest: number;
  /** Symbols in `config.instruments`. */
  readonly maxInstrumentsPerRun: number;
  /** Seconds that one run may take on a thread. */
  readonly runSeconds: number;
  readonly sweepVariants: number;
  /** Points of a grid before its constraints; they may leave a twentieth of them, on pro a quarter. */
  readonly sweepPoints: number;
  /** Requests per minute of one API key or member; below, of a whole workspace. */
  readonly requestsPerMinute: number;
  readonly workspaceRequestsPerMinute: number;
  /** Requests of a workspace that one API process works on at the same time. */
  readonly requestsInFlight: number;
  /** strategyAst and signalGraph together, as compact JSON in UTF-8. */
  readonly payloadBytes: number;
  /** Body of a request that sends a strategy; of a batch; of one backtest or sweep; of any other request. */
  readonly bodyBytes: number;
  readonly batchBytes: number;
  readonly configBytes: number;
  readonly actionBytes: number;
  /** A file of market data, as it is sent. */
  readonly uploadBytes: number;
}

/** The limits that a request body can have. */
export type BodyLimit = 'bodyBytes' | 'batchBytes' | 'configBytes' | 'actionBytes' | 'uploadBytes';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Enough for the longest names and descriptions that are allowed, with every character escaped. */
const ACTION_BYTES = 32 * KIB;

export const TIER_LIMITS: Readonly<Record<Tier, TierLimits>> = {
  free: {
    activeApiKeys: 5,
    entryConditions: 10,
    exitConditions: 10,
    exits: 2,
    nodes: 64,
    depth: 16,
    strategies: 25,
    versionsPerStrategy: 100,
    storedBytes: 64 * MIB,
    backtestResultBytes: 512 * MIB,
    sweepResultBytes: 128 * MIB,
    marketDataBytes: 256 * MIB,
    marketDataSeries: 100,
    queuedBacktests: 100,
    retentionDays: 30,
    keptBacktests: 10_000,
    keptSweeps: 500,
    barsPerBacktest: 1_000_000,
    maxInstrumentsPerRun: 10,
    runSeconds: 60,
    sweepVariants: 200,
    sweepPoints: 4_000,
    requestsPerMinute: 600,
    workspaceRequestsPerMinute: 1_800,
    requestsInFlight: 16,
    payloadBytes: 256 * KIB,
    bodyBytes: MIB,
    batchBytes: 256 * KIB,
    configBytes: 32 * KIB,
    actionBytes: ACTION_BYTES,
    uploadBytes: 8 * MIB,
  },
  plus: {
    activeApiKeys: 20,
    entryConditions: 30,
    exitConditions: 30,
    exits: 5,
    nodes: 256,
    depth: 24,
    strategies: 250,
    versionsPerStrategy: 1_000,
    storedBytes: GIB,
    backtestResultBytes: 8 * GIB,
    sweepResultBytes: 2 * GIB,
    marketDataBytes: 4 * GIB,
    marketDataSeries: 1_000,
    queuedBacktests: 2_000,
    retentionDays: 180,
    keptBacktests: 200_000,
    keptSweeps: 5_000,
    barsPerBacktest: 10_000_000,
    maxInstrumentsPerRun: 100,
    runSeconds: 300,
    sweepVariants: 10_000,
    sweepPoints: 200_000,
    requestsPerMinute: 3_000,
    workspaceRequestsPerMinute: 9_000,
    requestsInFlight: 32,
    payloadBytes: MIB,
    bodyBytes: 4 * MIB,
    batchBytes: MIB,
    configBytes: 128 * KIB,
    actionBytes: ACTION_BYTES,
    uploadBytes: 32 * MIB,
  },
  pro: {
    activeApiKeys: 50,
    entryConditions: 100,
    exitConditions: 100,
    exits: 20,
    nodes: 1_024,
    depth: 32,
    strategies: 5_000,
    versionsPerStrategy: 5_000,
    storedBytes: 16 * GIB,
    backtestResultBytes: 64 * GIB,
    sweepResultBytes: 32 * GIB,
    marketDataBytes: 64 * GIB,
    marketDataSeries: 10_000,
    queuedBacktests: 50_000,
    retentionDays: 730,
    keptBacktests: 2_000_000,
    keptSweeps: 20_000,
    barsPerBacktest: 100_000_000,
    maxInstrumentsPerRun: 1_000,
    runSeconds: 600,
    sweepVariants: 1_000_000,
    sweepPoints: 4_000_000,
    requestsPerMinute: 30_000,
    workspaceRequestsPerMinute: 90_000,
    requestsInFlight: 64,
    payloadBytes: 4 * MIB,
    bodyBytes: 8 * MIB,
    batchBytes: 4 * MIB,
    configBytes: 512 * KIB,
    actionBytes: ACTION_BYTES,
    uploadBytes: 64 * MIB,
  },
};
