// Backtest bodies: database rows as the API answers them.
import type { z } from 'zod';
import type { ResultDetail } from '../../engine/index.ts';
import { runSettings } from '../strategies/effectiveSettings.ts';
import type { BacktestRow } from '../../db/backtestLists.ts';
import type { Backtest, BacktestState } from '../../db/backtests.ts';
import { isTerminal } from '../../db/runStatus.ts';
import {
  ARTIFACT_NAMES,
  FORMATS_OF,
  PORTFOLIO_ARTIFACT_NAMES,
  decodeDetail,
  shownSummary,
} from '../../engine/index.ts';
import { symbolsText } from '../../market/formatting.ts';
import { linksTo, linkTo, type PublicAddress } from '../http/links.ts';
import { isoOrNull } from '../http/routeSchemas.ts';
import type { BacktestDetail, BacktestRow as RowShape, Progress } from './backtestSchemas.ts';

export const BACKTESTS = '/public/v1/backtests';

export function rowBody({
  isCached,
  createdAt,
  startedAt,
  finishedAt,
  symbols,
  symbolCount,
  ...row
}: BacktestRow): z.input<typeof RowShape> {
  return {
    ...row,
    symbol: symbolsText(symbols, symbolCount),
    ...(symbolCount > 1 && { instruments: symbolCount }),
    createdAt: createdAt.toISOString(),
    startedAt: isoOrNull(startedAt),
    finishedAt: isoOrNull(finishedAt),
    cached: isCached,
  };
}

export function linksOf(address: PublicAddress, id: string): Record<string, string> {
  const self = `${BACKTESTS}/${id}`;
  return linksTo(address, {
    self,
    events: `${self}/events`,
    cancel: `${self}/cancel`,
    verify: `${self}/verify`,
    robustness: `${self}/robustness`,
  });
}

/** `pct` is a fraction from 0 to 1. */
export function progressOf(backtest: BacktestState): z.input<typeof Progress> {
  const { status, barsDone, barsTotal, queuePosition } = backtest;
  const doneOfTotal = barsTotal > 0 ? Math.min(1, barsDone / barsTotal) : 0;
  const pct = status === 'completed' ? 1 : doneOfTotal;
  return { phase: phaseOf(backtest), pct, barsDone, barsTotal, queuePosition };
}

/** `barsTotal` is 0 until the run has begun to read bars. */
function phaseOf({ status, barsTotal }: BacktestState): z.input<typeof Progress>['phase'] {
  if (isTerminal(status)) return 'done';
  if (status === 'queued') return 'queued';
  return barsTotal > 0 ? 'simulating' : 'starting';
}

const SUMMARY = '/result/summaryJson';

/** JSON pointers into the detail, in the order to read them. */
export function readFirstOf({
  result,
  error,
  isPortfolio = false,
}: {
  readonly result: unknown;
  readonly error: unknown;
  readonly isPortfolio?: boolean;
}): string[] {
  if (result)
    return [
      `${SUMMARY}/strategyTrace/diagnosis`,
      `${SUMMARY}/strategyTrace/funnel`,
      `${SUMMARY}/ruleStatsSummary/rules`,
      ...(isPortfolio ? [`${SUMMARY}/portfolio`, `${SUMMARY}/instruments`] : []),
    ];
  return ['/status', error ? '/error' : '/progress'];
}

export function detailBody(backtest: Backtest, address: PublicAddress): BacktestDetail {
  const { id, status, strategyId, strategyVersionId, config } = backtest;
  const detail = backtest.detail && decodeDetail(backtest.detail);
  return {
    id,
    status,
    readFirst: readFirstOf({
      result: detail,
      error: backtest.error,
      isPortfolio: detail?.summary.instruments !== undefined,
    }),
    strategyId,
    strategyVersionId,
    createdAt: backtest.createdAt.toISOString(),
    startedAt: isoOrNull(backtest.startedAt),
    finishedAt: isoOrNull(backtest.finishedAt),
    cancelRequestedAt: isoOrNull(backtest.cancelRequestedAt),
    config: { ...config },
    resolvedConfig: detail && { ...detail.resolvedConfig },
    progress: progressOf(backtest),
    reproducibility: detail && { ...detail.reproducibility, cached: backtest.isCached },
    warnings: detail === null ? [] : detail.warnings.map((warning) => ({ ...warning })),
    error: backtest.error as BacktestDetail['error'],
    effectiveSettings: detail && settingsOf(backtest, detail),
    result: detail && resultBody(address, id, shownSummary({ ...detail.summary, ...backtest.summary })),
    links: linksOf(address, id),
  };
}

function settingsOf({ settings, defaults, config }: Backtest, { resolvedConfig, summary }: ResultDetail) {
  const { warmupBars } = (summary.evaluationWindow ?? {}) as { readonly warmupBars?: number };
  return runSettings({ settings: settings ?? {}, defaults }, config, resolvedConfig, warmupBars ?? null);
}

function resultBody(
  address: PublicAddress,
  id: string,
  summaryJson: Record<string, unknown>,
): BacktestDetail['result'] {
  const urlOf = (name: string): string => linkTo(address, `${BACKTESTS}/${id}/artifacts/${name}`);
  const names =
    summaryJson.instruments !== undefined ? [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES] : ARTIFACT_NAMES;
  return {
    summaryJson,
    artifactUrls: Object.fromEntries(names.map((name) => [name, urlOf(name)])),
    artifacts: names.map((name) => ({ name, formats: [...FORMATS_OF[name]], url: urlOf(name) })),
  };
}
