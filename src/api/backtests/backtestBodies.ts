// Backtest bodies: database rows as the API answers them.
import type { z } from 'zod';
import type { FlatKey, ResultDetail } from '../../engine/index.ts';
import { runSettings } from '../strategies/effectiveSettings.ts';
import { HEADLINES, type BacktestRow } from '../../db/backtestLists.ts';
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
import { labelMembers } from '../http/labelShapes.ts';
import { linksTo, linkTo, type PublicAddress } from '../http/links.ts';
import { isoOrNull } from '../http/routeSchemas.ts';
import { keysAmong } from './listColumns.ts';
import type { BacktestDetail, BacktestRow as RowShape, Progress } from './backtestSchemas.ts';

type Json = Readonly<Record<string, unknown>>;

export const BACKTESTS = '/public/v1/backtests';

/**
 * A row of a list.
 * @param columns those that are asked for; undefined: the usual ones
 * @param sort the member that sorts, which is always there
 */
export function rowBody(row: BacktestRow, columns: readonly string[] | undefined, sort: string) {
  const { isCached, createdAt, startedAt, finishedAt, symbols, symbolCount, ...others } = row;
  const { name, tags, note, archivedAt, ...rest } = others;
  const usual = {
    ...rest,
    symbol: symbolsText(symbols, symbolCount),
    ...(symbolCount > 1 && { instruments: symbolCount }),
    ...labelMembers({ name, tags, note: null, archivedAt }),
    createdAt: createdAt.toISOString(),
    startedAt: isoOrNull(startedAt),
    finishedAt: isoOrNull(finishedAt),
    cached: isCached,
  };
  if (columns === undefined) return usual as z.input<typeof RowShape>;
  const all: Json = { ...usual, instruments: symbolCount, name, tags, note, archivedAt: isoOrNull(archivedAt) };
  return Object.fromEntries(shownColumns(columns, sort).map((column) => [column, all[column]])) as { id: string };
}

/** The id first, then the columns that are asked for, and the one that sorts. */
export const shownColumns = (columns: readonly string[], sort: string): readonly string[] => [
  ...new Set(['id', ...columns, sort]),
];

/** The keys of the summary that a list reads. */
export const keysRead = (columns: readonly string[] | undefined, sort: string): FlatKey[] => [
  ...new Set(keysAmong([...(columns ?? HEADLINES), sort])),
];

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
    ...labelMembers(backtest),
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
