// Sweep bodies: rows of the database as the API answers them, whole and cut for an agent.
import type { z } from 'zod';
import type { Sweep, SweepRow } from '../../db/sweeps.ts';
import { toSignificant } from '../http/significant.ts';
import { shownSummary } from '../../engine/index.ts';
import { labelMembers } from '../http/labelShapes.ts';
import { linksTo, type PublicAddress } from '../http/links.ts';
import { isoOrNull } from '../http/routeSchemas.ts';
import { addFitting, jsonBytes } from '../http/jsonBytes.ts';
import type { SweepDetail, SweepProgress, SweepRow as RowShape } from './sweepSchemas.ts';

export const SWEEPS = '/public/v1/sweeps';

type Best = z.input<typeof RowShape>['best'];

export const sweepRowBody = ({
  createdAt,
  startedAt,
  finishedAt,
  best,
  name,
  tags,
  note: _note,
  archivedAt,
  ...row
}: SweepRow): z.input<typeof RowShape> => ({
  ...row,
  ...labelMembers({ name, tags, note: null, archivedAt }),
  createdAt: createdAt.toISOString(),
  startedAt: isoOrNull(startedAt),
  finishedAt: isoOrNull(finishedAt),
  best: best as Best,
});

function sweepLinks(address: PublicAddress, id: string): Record<string, string> {
  const self = `${SWEEPS}/${id}`;
  return linksTo(address, {
    self,
    events: `${self}/events`,
    cancel: `${self}/cancel`,
    results: `${self}/results`,
    heatmap: `${self}/heatmap`,
    report: `${self}/report`,
    row: `${self}/rows/{variant}/backtest`,
  });
}

export function sweepProgress(sweep: Sweep): z.input<typeof SweepProgress> {
  const { status, variants, indexes, indexesDone, startedAt } = sweep;
  const share = status === 'completed' ? 1 : Math.min(1, indexesDone / indexes);
  const isUnderWay = status === 'running' && startedAt !== null && share > 0;
  const spentSeconds = isUnderWay ? (Date.now() - startedAt.getTime()) / 1_000 : 0;
  return {
    pct: share,
    variantsDone: Math.round(share * variants),
    variantsTotal: variants,
    secondsLeft: isUnderWay ? Math.round((spentSeconds * (1 - share)) / share) : null,
  };
}

export function sweepDetail(sweep: Sweep, address: PublicAddress): SweepDetail {
  const { id, status, strategyId, strategyVersionId, variants, spec, best, error, result } = sweep;
  return {
    id,
    status,
    strategyId,
    strategyVersionId,
    ...labelMembers(sweep),
    createdAt: sweep.createdAt.toISOString(),
    startedAt: isoOrNull(sweep.startedAt),
    finishedAt: isoOrNull(sweep.finishedAt),
    spec: { ...spec },
    variants,
    progress: sweepProgress(sweep),
    best: best as Best,
    error: error as SweepDetail['error'],
    result: result && shownResult(result),
    links: sweepLinks(address, id),
  };
}

/** The metrics of the best rows as answers show them. */
const shownResult = (result: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...result,
  top: (result.top as readonly TopRow[]).map((row) => ({ ...row, metrics: shownSummary(row.metrics) })),
});

interface TopRow {
  readonly rank: number;
  readonly variant: number;
  readonly params: Record<string, unknown>;
  readonly metrics: Record<string, number | null>;
  readonly plateau: { readonly score: number | null; readonly isCliff: boolean };
  readonly deflatedSharpe: number | null;
}
interface Marginal {
  readonly name: string;
  readonly influence: number | null;
  readonly points: readonly object[];
}

/** Room for the list of what is left out. */
const LIST_BYTES = 200;
/** The metrics of the table, besides the objective. */
const SHOWN = ['returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions', 'winRate', 'profitFactor'];

/** At most `maxBytes` of JSON in UTF-8: the verdict, the ranked table, then what the parameters do, as much as fits. */
export function sweepAgentView(detail: SweepDetail, maxBytes: number): Record<string, unknown> {
  const { id, status, progress, error, best, links } = detail;
  const view: Record<string, unknown> = { id, status, progress, error, best, links };
  const { result } = detail;
  if (result === null) return view;
  Object.assign(view, {
    verdict: result.verdict,
    objective: result.objective,
    trials: result.trials,
    warnings: result.warnings,
  });
  const { columns, rows } = tableOf(result);
  const shownRows: unknown[] = [];
  view.table = { columns, rows: shownRows };
  const omitted: string[] = [];
  let left = maxBytes - jsonBytes({ ...view, omitted: ['…'] }) - LIST_BYTES;
  for (const row of rows) {
    left -= jsonBytes(row) + 1;
    if (left < 0) break;
    shownRows.push(row);
  }
  if (shownRows.length < rows.length) omitted.push('table');
  const influence = (result.marginals as readonly Marginal[]).map(({ name, influence: share }) => ({
    name,
    influence: short(share),
  }));
  const { overfitting, marginals, heatmap } = result;
  const { name, tags, note } = detail;
  const more = {
    name,
    tags,
    note,
    influence,
    overfitting,
    walkForward: shortWalk(result.walkForward),
    marginals,
    heatmap,
  };
  const unfitting = addFitting(view, toSignificant(more) as typeof more, left);
  view.omitted = [...omitted, ...unfitting];
  return view;
}

/** The best rows as a table, in their order. */
function tableOf(result: Readonly<Record<string, unknown>>): {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
} {
  const { key } = result.objective as { key: string };
  const top = result.top as readonly TopRow[];
  const names = Object.keys(top[0]?.params ?? {});
  const metrics = [key, ...SHOWN.filter((name) => name !== key)];
  return {
    columns: ['rank', 'variant', ...names, ...metrics, 'deflatedSharpe', 'plateauScore', 'isCliff'],
    rows: top.map((row) => [
      row.rank,
      row.variant,
      ...names.map((name) => row.params[name]),
      ...metrics.map((name) => short(row.metrics[name])),
      short(row.deflatedSharpe),
      short(row.plateau.score),
      row.plateau.isCliff,
    ]),
  };
}

const short = (value: number | null | undefined): unknown => toSignificant(value ?? null);

/** A walk-forward without its equity points. */
function shortWalk(walk: unknown): unknown {
  if (walk === null || walk === undefined) return null;
  const { equity: _, ...rest } = walk as Record<string, unknown>;
  return rest;
}
