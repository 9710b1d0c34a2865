// The status of a run: of a backtest, a sweep or a robustness check.

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run that has one of these has ended. */
export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[];
export const isTerminal = (status: RunStatus): boolean => (TERMINAL_STATUSES as readonly RunStatus[]).includes(status);
