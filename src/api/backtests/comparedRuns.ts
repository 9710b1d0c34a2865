// Compared runs: the stored results that a request compares or combines, read in the order of the request.
import { findComparedBacktests, type ComparedBacktest } from '../../db/comparedBacktests.ts';
import type { Sql } from '../../db/connect.ts';
import {
  canonicalize,
  comparableRun,
  decodeDetail,
  STATISTIC_POSITIONS,
  type ComparableRun,
  type ResultDetail,
  type StrategyAst,
} from '../../engine/index.ts';
import { symbolsText } from '../../market/formatting.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { problem } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';
import type { Services } from '../services.ts';

/** A completed backtest of a comparison. */
export interface ComparedRun extends ComparableRun {
  readonly stored: ComparedBacktest;
  readonly detail: ResultDetail;
  /** Its name, or strategy, version, market and timeframe. */
  readonly label: string;
  /** Its symbols, the first ones of a portfolio. */
  readonly symbol: string;
}

/** @throws NOT_FOUND when one does not exist in the workspace or has not completed */
export async function comparedRuns(
  { sql, catalogs }: Pick<Services, 'sql' | 'catalogs'>,
  caller: Caller,
  ids: readonly string[],
): Promise<ComparedRun[]> {
  const stored = await requireCompleted(sql, caller, ids);
  const instruments = await catalogs.of(caller.workspaceId).instruments();
  const quotes = new Map(instruments.map(({ symbol, quote }) => [symbol, quote]));
  return stored.map((backtest) => runOf(backtest, quotes));
}

async function requireCompleted(sql: Sql, caller: Caller, ids: readonly string[]): Promise<ComparedBacktest[]> {
  const wanted = ids.map((id) => id.toLowerCase());
  const found = await findComparedBacktests(sql, caller.workspaceId, wanted, STATISTIC_POSITIONS);
  const byId = new Map(found.map((backtest) => [backtest.id, backtest]));
  return wanted.map((id) => {
    const backtest = byId.get(id);
    if (backtest === undefined) throw notFound('backtest', id);
    if (backtest.status === 'completed') return backtest;
    const advice = 'Only completed ones can be compared and combined.';
    throw problem('NOT_FOUND', { message: `The backtest ${id} is ${backtest.status}. ${advice}` });
  });
}

function runOf(stored: ComparedBacktest, quotes: ReadonlyMap<string, string | null>): ComparedRun {
  const detail = decodeDetail(stored.detail!);
  const run = comparableRun(detail, (symbol) => quotes.get(symbol) ?? null);
  const symbol = symbolsText(run.symbols, run.symbols.length);
  const version = `${stored.strategyName} v${stored.version}`;
  const label = stored.name ?? `${version}, ${symbol} ${run.config.timeframe}`;
  return { ...run, stored, detail, label, symbol };
}

/** What was set, in canonical form: the strategy, the settings of its version, and the config with its defaults. */
export function settingsOf({ stored, config }: ComparedRun): Readonly<Record<string, unknown>> {
  const { strategy } = canonicalize(stored.strategyAst as unknown as StrategyAst);
  return { strategy, settings: stored.settings, config };
}
