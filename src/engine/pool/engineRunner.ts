// The engine as the pool's threads import it: the one seam between the pool and what it runs.
import type { ArtifactOutcome } from './messages.ts';

export { runBacktest } from '../backtest.ts';

/** Artifacts are built by src/engine/report; until it does, asking for one is an expected failure. */
export function buildArtifact(): ArtifactOutcome {
  return { ok: false, error: { code: 'NOT_AVAILABLE_YET', path: '', message: 'Artifacts cannot be built yet.' } };
}
