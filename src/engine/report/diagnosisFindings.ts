// Findings of the diagnosis: their codes, and how one is made.
import type { ConditionStats } from './conditionStatistics.ts';

/** Findings that only runs of several instruments have. */
export const PORTFOLIO_DIAGNOSIS_CODES = [
  'NEVER_HELD', 'SIGNALS_LOST', 'ONE_INSTRUMENT_DOMINATES', 'FUNDING_OF_CLOSED_MARKETS', 'HOLDS_ITS_BENCHMARK',
] as const; // prettier-ignore

export const DIAGNOSIS_CODES = [
  'ALL_WARMUP', 'SERIES_INCOMPLETE', 'WARMUP_TOO_SHORT', 'FINER_BARS_CONTRADICT', 'RULE_ALWAYS_FALSE',
  'NEVER_TOGETHER', 'FILTER_BLOCKS_ALL', 'REJECTED_BALANCE', 'ORDERS_NEVER_FILLED',
  'NEVER_EXITS', 'ORDERS_REJECTED', 'FEES_EXCEED_EDGE', 'TOO_FEW_TRADES', 'AMBIGUITY_SENSITIVE',
  'SINGLE_TRADE_DOMINATES', 'LOST_MONEY', 'TRAILS_BUY_HOLD', 'OK',
] as const; // prettier-ignore

export interface Diagnosis {
  readonly code: (typeof DIAGNOSIS_CODES)[number] | (typeof PORTFOLIO_DIAGNOSIS_CODES)[number];
  readonly severity: 'error' | 'warning' | 'info';
  /** The node to change; null when the finding is not about a single node. */
  readonly nodeId: string | null;
  /** Its place in the payload as sent. */
  readonly path: string | null;
  readonly message: string;
  readonly suggestion: string;
}

export const percent = (fraction: number): string => `${(100 * fraction).toFixed(2)} %`;
/** The node that a finding is about; null: it is not about a single node. */
export type DiagnosedNode = Pick<ConditionStats, 'nodeId' | 'path'> | null;

const finding =
  (severity: Diagnosis['severity']) =>
  (code: Diagnosis['code'], node: DiagnosedNode, message: string, suggestion: string): Diagnosis => ({
    code,
    severity,
    nodeId: node?.nodeId ?? null,
    path: node?.path ?? null,
    message,
    suggestion,
  });
export const error = finding('error');
export const warning = finding('warning');
export const info = finding('info');
