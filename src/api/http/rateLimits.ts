// Rate limits: requests a minute of each API key, counted in this process and settled with Postgres once a second.
import type { FastifyReply } from 'fastify';
import { addRequestCounts, deleteOldRequestCounts } from '../../db/requestCounts.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import { problem } from './problems.ts';
import type { App, Services } from '../services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly rateLimits: RateLimits;
  }
}

const WINDOW_MS = 60_000;
const SETTLE_EVERY_MS = 1_000;

interface Count {
  /** Requests of all processes as of the last settlement, ours included. */
  settled: number;
  /** Requests of ours since then. */
  unsettled: number;
}

export interface RateLimits {
  /**
   * Counts one request of a verified key and sets the RateLimit headers (draft-ietf-httpapi-ratelimit-headers).
   * @throws RATE_LIMITED with Retry-After when the minute is used up; a refused request is not counted.
   */
  charge(caller: { readonly keyId: string; readonly tier: Tier }, reply: FastifyReply): void;
  /** Adds our counts to Postgres and learns those of the other processes. Failing, it keeps them for the next time. */
  settle(): Promise<void>;
}

/**
 * The minute is the clock's, the same in every process. Between two settlements a process knows nothing of the others,
 * so a key that uses several of them at once may go over by up to one second's requests a process: the price of asking
 * Postgres once a second instead of once a request.
 */
export function createRateLimits(
  services: Pick<Services, 'sql' | 'log'>,
  now: () => number = () => Date.now(),
): RateLimits {
  let windowStart = 0;
  let counts = new Map<string, Count>();

  const turnWindow = (time: number): void => {
    const start = time - (time % WINDOW_MS);
    if (start === windowStart) return;
    // What the last second of the old minute left unsettled no longer limits anyone.
    windowStart = start;
    counts = new Map();
  };

  return {
    charge({ keyId, tier }, reply) {
      const time = now();
      turnWindow(time);
      const limit = TIER_LIMITS[tier].requestsPerMinute;
      let count = counts.get(keyId);
      if (count === undefined) counts.set(keyId, (count = { settled: 0, unsettled: 0 }));
      const left = limit - count.settled - count.unsettled;
      const secondsLeft = Math.ceil((windowStart + WINDOW_MS - time) / 1000);
      reply.header('ratelimit-policy', `"minute";q=${limit};w=60`);
      reply.header('ratelimit', `"minute";r=${Math.max(0, left - 1)};t=${secondsLeft}`);
      if (left <= 0)
        throw problem('RATE_LIMITED', {
          message: `More than ${limit} requests a minute with this API key. Try again in ${secondsLeft} s.`,
          extras: { limit, retryAfterSeconds: secondsLeft },
          headers: { 'retry-after': String(secondsLeft) },
        });
      count.unsettled++;
    },
    async settle() {
      turnWindow(now());
      const settling = counts;
      const added = new Map(
        [...settling].filter(([, count]) => count.unsettled > 0).map(([id, c]) => [id, c.unsettled]),
      );
      if (added.size === 0) return;
      try {
        const totals = await addRequestCounts(services.sql, windowStart, added);
        for (const [id, total] of totals) {
          const count = settling.get(id);
          if (count === undefined) continue;
          count.settled = total;
          count.unsettled -= added.get(id) ?? 0;
        }
      } catch (error) {
        services.log.warn({ err: error }, 'request counts could not be settled; limits hold for this process alone');
      }
    },
  };
}

const UNLIMITED: RateLimits = { charge: () => {}, settle: async () => {} };

/** Puts `app.rateLimits` in place and settles it while the app runs. RATE_LIMITS=off: nothing is counted. */
export function limitRates(app: App, services: Services): void {
  const rateLimits = services.config.rateLimits ? createRateLimits(services) : UNLIMITED;
  app.decorate('rateLimits', rateLimits);
  if (!services.config.rateLimits) return;
  let running: Promise<void> | undefined;
  let settlements = 0;
  const timer = setInterval(() => {
    running ??= settleOnce().finally(() => (running = undefined));
  }, SETTLE_EVERY_MS).unref();
  const settleOnce = async (): Promise<void> => {
    await rateLimits.settle();
    if (++settlements % 60 === 0) await deleteOldRequestCounts(services.sql).catch(() => {});
  };
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await running;
    await rateLimits.settle();
  });
}
