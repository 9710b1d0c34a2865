// Robustness bodies: a check as the API answers it, whole and cut for an agent.
import type { Sweep } from '../../db/sweeps.ts';
import type { RobustnessSpec } from '../../engine/index.ts';
import { significant } from '../http/significant.ts';
import { BACKTESTS } from './backtestBodies.ts';
import type { RobustnessCheck } from './robustnessSchemas.ts';

const iso = (date: Date | null): string | null => date && date.toISOString();

/** @param check its `indexes` count steps, most of which are a run. */
export function robustnessBody(check: Sweep, backtestId: string): RobustnessCheck & { result: object | null } {
  const { id, status, spec, indexes, indexesDone, error, result } = check;
  const { robustness } = spec as { robustness: RobustnessSpec };
  const self = `${BACKTESTS}/${backtestId}/robustness/${id}`;
  return {
    id,
    backtestId,
    status,
    createdAt: check.createdAt.toISOString(),
    startedAt: iso(check.startedAt),
    finishedAt: iso(check.finishedAt),
    spec: { ...robustness },
    progress: {
      pct: status === 'completed' ? 1 : Math.min(1, indexesDone / indexes),
      runsDone: indexesDone,
      runsTotal: indexes,
    },
    error: error as RobustnessCheck['error'],
    result: result && { ...result },
    links: { self, cancel: `${self}/cancel`, backtest: `${BACKTESTS}/${backtestId}` },
  };
}

/** At most `maxBytes` of JSON in UTF-8: the verdict, the findings, then the analyses, as many as fit. */
export function robustnessAgentView(
  { id, backtestId, status, progress, error, result, links }: ReturnType<typeof robustnessBody>,
  maxBytes: number,
): Record<string, unknown> {
  const head = { id, backtestId, status, progress, error, links };
  if (result === null) return head;
  const { verdict, findings, baseline, seed, ...analyses } = result as Record<string, unknown>;
  const view: Record<string, unknown> = { ...head, verdict, findings, baseline: significant(baseline), seed };
  const omitted: string[] = [];
  let left = maxBytes - bytesOf({ ...view, omitted: Object.keys(analyses) });
  if (left < 0) {
    delete view.findings;
    left += bytesOf(findings);
    omitted.push('findings');
  }
  for (const [name, value] of Object.entries(analyses)) {
    const shown = significant(value);
    const bytes = bytesOf(shown) + name.length + 4;
    if (bytes > left) omitted.push(name);
    else {
      view[name] = shown;
      left -= bytes;
    }
  }
  return { ...view, omitted };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
