// Requests in flight: how many requests of one workspace this process holds, and works on, at the same time, so that
// nobody fills the queues of the event loop and of the database. One that waits for a backtest to end is not counted.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TIER_LIMITS } from '../../tiers.ts';
import type { App } from '../services.ts';
import type { Asker } from './bodyLimits.ts';
import { problem } from './problems.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly requestsInFlight: RequestsInFlight;
  }
  interface FastifyRequest {
    /** Null before authentication, and where nothing is counted. */
    flight: Flight | null;
  }
}

/**
 * Requests of one workspace that are worked on at a time; the others wait for their turn. While one waits for Postgres,
 * another computes. All workspaces share ten connections.
 */
const MAX_TURNS = 4;
/**
 * Requests of one workspace that may be open, those that wait for a run included, as a multiple of its limit in flight:
 * 128, 256 or 512 by tier. One that waits costs little but its connection, of which a process has 4,000.
 */
const OPEN_PER_IN_FLIGHT = 8;
const RETRY_AFTER_S = 1;

/** A request that is counted. */
interface Flight {
  /** Resolves when it is the request's turn, which lasts until `endTurn`. */
  takeTurn(): Promise<void>;
  endTurn(): void;
  /** Does `work` within a turn of the request. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Waits without being counted, and without a turn. Afterwards it is counted again, whatever the limit: an answer that
   * is due is sent.
   */
  pause<Result>(wait: Promise<Result>): Promise<Result>;
}

interface RequestsInFlight {
  /**
   * Counts a request until its connection has its answer or is closed.
   * @throws RATE_LIMITED with Retry-After when the workspace has as many as its tier allows, or too many that wait
   */
  begin(asker: Asker, request: FastifyRequest, reply: FastifyReply): void;
  /** Requests of a workspace whose connections are open, those that wait included. */
  openOf(workspaceId: string): number;
}

/** The requests of one workspace; dropped when no connection is open. */
interface Held {
  /** Requests whose connections are open, those that pause included. */
  open: number;
  /** Those that are counted. */
  requests: number;
  turns: number;
  /** Requests that wait for a turn, in the order in which they came. */
  readonly waiting: Set<() => void>;
}

function createRequestsInFlight(): RequestsInFlight {
  const workspaces = new Map<string, Held>();
  return {
    openOf: (workspaceId) => workspaces.get(workspaceId)?.open ?? 0,
    begin({ workspaceId, tier }, request, reply) {
      const limit = TIER_LIMITS[tier].requestsInFlight;
      const held = workspaces.get(workspaceId) ?? { open: 0, requests: 0, turns: 0, waiting: new Set() };
      if (held.requests >= limit) throw tooMany(limit, tier);
      if (held.open >= limit * OPEN_PER_IN_FLIGHT) throw tooManyWaiting(limit * OPEN_PER_IN_FLIGHT, tier);
      workspaces.set(workspaceId, held);
      request.flight = new CountedFlight(held, reply, () => {
        const isDone = held.open === 0 && held.turns === 0;
        // A request whose client has gone may still end after others have come.
        if (isDone && workspaces.get(workspaceId) === held) workspaces.delete(workspaceId);
      });
    },
  };
}

class CountedFlight implements Flight {
  readonly #held: Held;
  readonly #onLess: () => void;
  #isCounted = true;
  #hasTurn = false;
  #hasEnded = false;

  constructor(held: Held, reply: FastifyReply, onLess: () => void) {
    this.#held = held;
    this.#onLess = onLess;
    held.open++;
    held.requests++;
    reply.raw.once('close', () => {
      this.#hasEnded = true;
      held.open--;
      this.#count(false);
      this.endTurn();
    });
  }

  async takeTurn(): Promise<void> {
    const { turns, waiting } = this.#held;
    if (this.#hasTurn || this.#hasEnded) return;
    if (turns < MAX_TURNS) this.#held.turns++;
    // The request that ends a turn hands it over.
    else await new Promise<void>((resolve) => waiting.add(resolve));
    this.#hasTurn = true;
    // Its client has gone in the meantime, and nobody may be left to end the turn.
    if (this.#hasEnded) this.endTurn();
  }

  endTurn(): void {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    const [next] = this.#held.waiting;
    if (next === undefined) this.#held.turns--;
    else {
      this.#held.waiting.delete(next);
      next();
    }
    this.#onLess();
  }

  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#hasTurn) return work();
    await this.takeTurn();
    try {
      return await work();
    } finally {
      this.endTurn();
    }
  }

  async pause<Result>(wait: Promise<Result>): Promise<Result> {
    const hadTurn = this.#hasTurn;
    this.#count(false);
    this.endTurn();
    try {
      return await wait;
    } finally {
      if (!this.#hasEnded) this.#count(true);
      if (hadTurn) await this.takeTurn();
    }
  }

  #count(isCounted: boolean): void {
    if (this.#isCounted !== isCounted) this.#held.requests += isCounted ? 1 : -1;
    this.#isCounted = isCounted;
    this.#onLess();
  }
}

const tooMany = (limit: number, tier: string) =>
  problem('RATE_LIMITED', {
    message:
      `${limit} requests of the workspace are being answered, and the ${tier} tier allows no more at the same time. ` +
      'Wait for an answer before the next one.',
    extras: { limit, limitName: 'requestsInFlight' },
    retryAfterSeconds: RETRY_AFTER_S,
  });

const tooManyWaiting = (limit: number, tier: string) =>
  problem('RATE_LIMITED', {
    message:
      `${limit} requests of the workspace wait for runs to end, and the ${tier} tier allows no more at the same ` +
      'time. Follow fewer runs, or ask for them without "wait".',
    extras: { limit, limitName: 'requestsWaiting' },
    retryAfterSeconds: RETRY_AFTER_S,
  });

const UNLIMITED: RequestsInFlight = { begin: () => {}, openOf: () => 0 };

/**
 * Must be called before the routes are registered, and after what answers requests elsewhere: those take no turn
 * here. `isLimited` false: nothing is counted.
 */
export function limitRequestsInFlight(app: App, isLimited: boolean): void {
  app.decorateRequest('flight', null);
  app.decorate('requestsInFlight', isLimited ? createRequestsInFlight() : UNLIMITED);
  if (!isLimited) return;
  // A turn begins when the body has arrived: one that never arrives must not take a turn.
  app.addHook('preValidation', async ({ flight }) => flight?.takeTurn());
  // A turn ends when the answer is ready: a client that reads slowly must not hold one.
  app.addHook('onSend', async ({ flight }) => flight?.endTurn());
}
