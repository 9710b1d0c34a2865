// Retries: a request that fails for a while is made again, later and later, and as late as the source asks for.
import { SourceError } from './barSource.ts';
import { isoTime } from '../formatting.ts';

/** Waits of 1, 2, 4 … 60 seconds: about three minutes in all, which outlast a lost connection and a restart. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
/** A source that asks for a longer wait has banned the address; nobody watches a command that long. */
const LONGEST_WAIT_MS = 5 * 60_000;

export interface Patience {
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** Called before each wait. */
  readonly onWait?: (ms: number, error: SourceError) => void;
}

/**
 * The answer of `request`, which is made again after each temporary failure.
 * @throws SourceError when it fails for good, after the last try, or when the source asks for a long wait
 */
export async function withRetries<Answer>(request: () => Promise<Answer>, patience: Patience): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof SourceError) || !error.isTemporary) throw error;
      const asked = error.retryAfterMs;
      if (asked !== null && asked > LONGEST_WAIT_MS)
        throw new SourceError(`${error.message} It asks for no request before ${isoTime(patience.now() + asked)}.`);
      if (attempt === WAITS_MS.length) throw new SourceError(`${error.message} ${attempt + 1} tries failed.`);
      const ms = Math.max(asked ?? 0, WAITS_MS[attempt]);
      patience.onWait?.(ms, error);
      await patience.wait(ms);
    }
  }
}
