// Rate limits: requests per minute of each key, member and workspace, counted in this process and settled with Postgres
// once a second; and of each address failed authentications and requests without a key, counted in this process alone.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admitsCallers } from './auth/authentication.ts';
import { addRequestCounts, deleteOldRequestCounts } from '../../db/requestCounts.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import { problem } from './problems.ts';
import type { App, Services } from '../services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly rateLimits: RateLimits;
  }
  interface FastifyContextConfig {
    /**
     * Set for what an orchestrator or a monitor asks: it must not be refused because others share its address, so it
     * has to cost next to nothing however often it is asked.
     */
    readonly isProbe?: boolean;
  }
}

const WINDOW_MS = 60_000;
const SETTLE_EVERY_MS = 1_000;
/** A program with a wrong key retries once a second; behind one proxy there may be several. */
const FAILURES_PER_MINUTE = 300;
/** A page of the API reference loads ten files, and an office shares an address. */
const OPEN_PER_MINUTE = 1_200;
/** Beyond this many addresses the oldest is dropped, so that inventing them cannot fill the memory. */
const MAX_ADDRESSES = 20_000;

interface Count {
  /** Requests of all processes as of the last settlement, ours included. */
  settled: number;
  /** Requests of this process since then. */
  unsettled: number;
}

interface RateCaller {
  /** The id of the key, or of the member in its workspace. */
  readonly id: string;
  readonly workspaceId: string;
  readonly tier: Tier;
}

interface RateLimits {
  /**
   * Counts one request of a verified key or member and sets the RateLimit headers
   * (draft-ietf-httpapi-ratelimit-headers) by what is left to both it and its workspace.
   * @throws RATE_LIMITED with Retry-After when the minute is used up; a refused request is not counted.
   */
  charge(caller: RateCaller, reply: FastifyReply): void;
  /**
   * Counts one failed authentication of an address. Only failures are refused: a client that shares the address and
   * sends a right key is not locked out.
   * @throws RATE_LIMITED
   */
  chargeFailure(address: string): void;
  /**
   * Counts one request of an address to a route that needs no key, or to none at all.
   * @throws RATE_LIMITED
   */
  chargeOpen(address: string): void;
  /** Adds our counts to Postgres and reads those of other processes. On failure, ours are kept for the next time. */
  settle(): Promise<void>;
}

/** @param now ms since 1970; for tests */
export const createRateLimits = (
  services: Pick<Services, 'sql' | 'log'>,
  now: () => number = () => Date.now(),
): RateLimits => new CountedRateLimits(services, now);

/**
 * The minute is the clock's, the same in every process. Between two settlements a process knows nothing of the others,
 * so a key that uses several of them at once may go over by up to one second's requests per process: the price of
 * asking Postgres once per second instead of once per request.
 */
class CountedRateLimits implements RateLimits {
  readonly #services: Pick<Services, 'sql' | 'log'>;
  readonly #now: () => number;
  #windowStart = 0;
  #counts = new Map<string, Count>();
  readonly #failures = new Map<string, number>();
  readonly #open = new Map<string, number>();

  constructor(services: Pick<Services, 'sql' | 'log'>, now: () => number) {
    this.#services = services;
    this.#now = now;
  }

  charge({ id, workspaceId, tier }: RateCaller, reply: FastifyReply): void {
    const secondsLeft = this.#turnWindow();
    const { requestsPerMinute: limit, workspaceRequestsPerMinute } = TIER_LIMITS[tier];
    const own = this.#countOf(id);
    const all = this.#countOf(`workspace ${workspaceId}`);
    const ownLeft = leftOf(own, limit);
    const left = Math.min(ownLeft, leftOf(all, workspaceRequestsPerMinute));
    reply.header('ratelimit-policy', `"minute";q=${limit};w=60`);
    reply.header('ratelimit', `"minute";r=${Math.max(0, left - 1)};t=${secondsLeft}`);
    if (ownLeft <= 0) throw refusal(`More than ${limit} requests per minute with this credential.`, limit, secondsLeft);
    if (left <= 0)
      throw refusal(
        `More than ${workspaceRequestsPerMinute} requests per minute of this workspace.`,
        workspaceRequestsPerMinute,
        secondsLeft,
      );
    own.unsettled++;
    all.unsettled++;
  }

  chargeFailure(address: string): void {
    this.#chargeAddress(this.#failures, address, FAILURES_PER_MINUTE, 'failed authentications');
  }

  chargeOpen(address: string): void {
    this.#chargeAddress(this.#open, address, OPEN_PER_MINUTE, 'requests without a key');
  }

  #chargeAddress(counts: Map<string, number>, address: string, limit: number, what: string): void {
    const secondsLeft = this.#turnWindow();
    const count = (counts.get(address) ?? 0) + 1;
    if (count > limit) throw refusal(`More than ${limit} ${what} per minute from this address.`, limit, secondsLeft);
    if (!counts.has(address) && counts.size >= MAX_ADDRESSES) counts.delete(counts.keys().next().value!);
    counts.set(address, count);
  }

  async settle(): Promise<void> {
    this.#turnWindow();
    const settling = this.#counts;
    const added = new Map([...settling].filter(([, count]) => count.unsettled > 0).map(([id, c]) => [id, c.unsettled]));
    if (added.size === 0) return;
    try {
      const totals = await addRequestCounts(this.#services.sql, this.#windowStart, added);
      for (const [id, total] of totals) {
        const count = settling.get(id);
        if (count === undefined) continue;
        count.settled = total;
        count.unsettled -= added.get(id) ?? 0;
      }
    } catch (error) {
      const message = 'request counts could not be settled; limits hold for this process alone';
      this.#services.log.warn({ err: error }, message);
    }
  }

  /** Begins a new minute when it is time. @returns how many seconds of the minute are left */
  #turnWindow(): number {
    const time = this.#now();
    const start = time - (time % WINDOW_MS);
    if (start !== this.#windowStart) {
      // Requests of the last minute that are not settled yet no longer limit anyone.
      this.#windowStart = start;
      this.#counts = new Map();
      this.#failures.clear();
      this.#open.clear();
    }
    return Math.ceil((start + WINDOW_MS - time) / 1000);
  }

  #countOf(name: string): Count {
    let count = this.#counts.get(name);
    if (count === undefined) this.#counts.set(name, (count = { settled: 0, unsettled: 0 }));
    return count;
  }
}

const leftOf = ({ settled, unsettled }: Count, limit: number): number => limit - settled - unsettled;

const refusal = (reason: string, limit: number, secondsLeft: number) =>
  problem('RATE_LIMITED', {
    message: `${reason} Try again in ${secondsLeft} s.`,
    extras: { limit },
    retryAfterSeconds: secondsLeft,
  });

const UNLIMITED: RateLimits = {
  charge: () => {},
  chargeFailure: () => {},
  chargeOpen: () => {},
  settle: async () => {},
};

/**
 * Puts `app.rateLimits` in place and settles it while the app runs. RATE_LIMITS=off: nothing is counted. Must be called
 * before the first route is registered: a route that asks for no key gets the limit by address here, so that none can
 * be without a limit.
 */
export function limitRates(app: App, services: Services): void {
  const rateLimits = services.config.rateLimits ? createRateLimits(services) : UNLIMITED;
  app.decorate('rateLimits', rateLimits);
  const chargeAddress = async ({ ip }: FastifyRequest): Promise<void> => rateLimits.chargeOpen(ip);
  app.addHook('onRoute', (route) => {
    const hooks = [route.onRequest ?? []].flat();
    if (route.config?.isProbe || admitsCallers(hooks) || hooks.includes(chargeAddress)) return;
    route.onRequest = [chargeAddress, ...hooks];
  });
  if (!services.config.rateLimits) return;
  let running: Promise<void> | undefined;
  let settlements = 0;
  const timer = setInterval(() => {
    running ??= settleOnce().finally(() => (running = undefined));
  }, SETTLE_EVERY_MS).unref();
  const settleOnce = async (): Promise<void> => {
    await rateLimits.settle();
    if (++settlements % 60 !== 0) return;
    await deleteOldRequestCounts(services.sql).catch((error: unknown) =>
      services.log.warn({ err: error }, 'old request counts could not be deleted, trying again later'),
    );
  };
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await running;
    await rateLimits.settle();
  });
}
