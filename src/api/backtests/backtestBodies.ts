// Backtest bodies: database rows as the API answers them.
import type { z } from 'zod';
import type { Backtest, BacktestRow } from '../../db/backtests.ts';
import { isTerminal } from '../../db/backtests.ts';
import { ARTIFACT_NAMES, FORMATS_OF, decodeDetail } from '../../engine/index.ts';
import type { BacktestDetail, BacktestRow as RowShape, Progress } from './backtestSchemas.ts';

export const BACKTESTS = '/public/v1/backtests';

const iso = (date: Date | null): string | null => date && date.toISOString();

export function rowBody({ isCached, createdAt, startedAt, finishedAt, ...row }: BacktestRow): z.input<typeof RowShape> {
  return {
    ...row,
    createdAt: createdAt.toISOString(),
    startedAt: iso(startedAt),
    finishedAt: iso(finishedAt),
    cached: isCached,
  };
}

export function linksOf(id: string): Record<string, string> {
  const self = `${BACKTESTS}/${id}`;
  return {
    self,
    events: `${self}/events`,
    cancel: `${self}/cancel`,
    verify: `${self}/verify`,
    robustness: `${self}/robustness`,
  };
}

export function progressOf(backtest: Backtest): z.input<typeof Progress> {
  const { status, barsDone, barsTotal, queuePosition } = backtest;
  const phase = isTerminal(status)
    ? 'done'
    : status === 'queued'
      ? 'queued'
      : barsTotal > 0
        ? 'simulating'
        : 'starting';
  const pct = status === 'completed' ? 1 : barsTotal > 0 ? Math.min(1, barsDone / barsTotal) : 0;
  return { phase, pct, barsDone, barsTotal, queuePosition };
}

export function detailBody(backtest: Backtest): BacktestDetail {
  const { id, status, strategyId, strategyVersionId, config, resolvedConfig, reproducibility, warnings } = backtest;
  return {
    id,
    status,
    strategyId,
    strategyVersionId,
    createdAt: backtest.createdAt.toISOString(),
    startedAt: iso(backtest.startedAt),
    finishedAt: iso(backtest.finishedAt),
    cancelRequestedAt: iso(backtest.cancelRequestedAt),
    config: { ...config },
    resolvedConfig: resolvedConfig && { ...resolvedConfig },
    progress: progressOf(backtest),
    reproducibility: reproducibility && { ...reproducibility, cached: backtest.isCached },
    warnings: warnings.map((warning) => ({ ...warning })),
    error: backtest.error as BacktestDetail['error'],
    result: resultBody(backtest),
    links: linksOf(id),
  };
}

function resultBody({ id, status, summary, detail }: Backtest): BacktestDetail['result'] {
  if (status !== 'completed' || summary === null || detail === null) return null;
  const urlOf = (name: string): string => `${BACKTESTS}/${id}/artifacts/${name}`;
  return {
    // What readers need first comes first.
    summaryJson: { ...decodeDetail(detail).summary, ...summary },
    artifactUrls: Object.fromEntries(ARTIFACT_NAMES.map((name) => [name, urlOf(name)])),
    artifacts: ARTIFACT_NAMES.map((name) => ({ name, formats: [...FORMATS_OF[name]], url: urlOf(name) })),
  };
}
