// Robustness bodies: a check as the API answers it, whole and cut for an agent.
import type { z } from 'zod';
import type { CheckRow, Sweep } from '../../db/sweeps.ts';
import type { RobustnessSpec } from '../../engine/index.ts';
import { linksTo, type PublicAddress } from '../http/links.ts';
import { isoOrNull } from '../http/routeSchemas.ts';
import { addFitting, jsonBytes } from '../http/jsonBytes.ts';
import { toSignificant } from '../http/significant.ts';
import { BACKTESTS } from './backtestBodies.ts';
import type { CheckRow as RowShape, RobustnessCheck } from './robustnessSchemas.ts';

/** @param check its `indexes` count steps, most of which are a run. */
export function robustnessBody(
  check: Sweep,
  backtestId: string,
  address: PublicAddress,
): RobustnessCheck & { result: object | null } {
  const { id, status, spec, indexes, indexesDone, error, result } = check;
  const { robustness } = spec as { robustness: RobustnessSpec };
  return {
    id,
    backtestId,
    status,
    createdAt: check.createdAt.toISOString(),
    startedAt: isoOrNull(check.startedAt),
    finishedAt: isoOrNull(check.finishedAt),
    spec: { ...robustness },
    progress: {
      pct: status === 'completed' ? 1 : Math.min(1, indexesDone / indexes),
      runsDone: indexesDone,
      runsTotal: indexes,
    },
    error: error as RobustnessCheck['error'],
    result: result && { ...result },
    links: checkLinks(address, id, backtestId),
  };
}

export const checkRowBody = (row: CheckRow, backtestId: string, address: PublicAddress): z.input<typeof RowShape> => ({
  ...row,
  backtestId,
  createdAt: row.createdAt.toISOString(),
  startedAt: isoOrNull(row.startedAt),
  finishedAt: isoOrNull(row.finishedAt),
  spec: { ...row.spec },
  links: checkLinks(address, row.id, backtestId),
});

export const checkPath = (id: string, backtestId: string): string => `${BACKTESTS}/${backtestId}/robustness/${id}`;

function checkLinks(address: PublicAddress, id: string, backtestId: string): Record<string, string> {
  const self = checkPath(id, backtestId);
  return linksTo(address, {
    self,
    report: `${self}/report`,
    cancel: `${self}/cancel`,
    backtest: `${BACKTESTS}/${backtestId}`,
  });
}

/** At most `maxBytes` of JSON in UTF-8: the verdict, the findings, then the analyses, as many as fit. */
export function robustnessAgentView(
  { id, backtestId, status, progress, error, result, links }: ReturnType<typeof robustnessBody>,
  maxBytes: number,
): Record<string, unknown> {
  const head = { id, backtestId, status, progress, error, links };
  if (result === null) return head;
  const { verdict, findings, baseline, seed, ...analyses } = result as Record<string, unknown>;
  const view: Record<string, unknown> = { ...head, verdict, findings, baseline: toSignificant(baseline), seed };
  const omitted: string[] = [];
  let left = maxBytes - jsonBytes({ ...view, omitted: Object.keys(analyses) });
  if (left < 0) {
    delete view.findings;
    left += jsonBytes(findings);
    omitted.push('findings');
  }
  const unfitting = addFitting(view, toSignificant(analyses) as typeof analyses, left);
  return { ...view, omitted: [...omitted, ...unfitting] };
}
