// Body limits: how large the body of a request may be, by route and tier, and how many large ones a workspace may have
// in memory at the same time.
import type { FastifyRequest } from 'fastify';
import { TIER_LIMITS, type BodyLimit, type Tier } from '../../tiers.ts';
import type { App } from '../services.ts';
import { problem, type ProblemError } from './problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of the route's body; default: actionBytes. */
    readonly body?: BodyLimit;
  }
}

/** Who sends a request: the workspace of a key or of a signed-in member. */
export interface Asker {
  readonly workspaceId: string;
  readonly tier: Tier;
}

/** Null before authentication, and on routes without any. */
export const askerOf = (request: FastifyRequest): Asker | null => request.caller ?? request.member ?? null;

/** Smaller bodies are not counted: 4,000 connections of them are 64 MiB. */
export const LARGE_BODY_BYTES = 16 * 1024;
/**
 * How many of its tier's largest bodies a workspace may have in memory. A client that sends more at the same time must
 * wait for its answers.
 */
const LARGE_BODIES_OF_A_WORKSPACE = 4;
/** Bytes of large bodies of all workspaces together; of uploads besides, of which a workspace has one at a time. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Bytes of bodies in memory: of each workspace, and of all. */
interface HeldBytes {
  readonly held: Map<string, number>;
  total: number;
}

/** Must be called before the routes are registered. */
export function limitBodies(app: App): void {
  const bodies: HeldBytes = { held: new Map(), total: 0 };
  const uploads: HeldBytes = { held: new Map(), total: 0 };
  app.addHook('onRoute', (route) => {
    // Fastify reads up to the largest tier's limit; the hook below knows the tier.
    route.bodyLimit ??= TIER_LIMITS.pro[route.config?.body ?? 'actionBytes'];
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    const { length, isKnown } = lengthOf(request);
    if (isKnown && length > bodyLimitOf(request)) throw bodyTooLarge(request);
    const asker = askerOf(request);
    const bytes = isKnown ? length : bodyLimitOf(request);
    if (asker === null || bytes <= LARGE_BODY_BYTES) return payload;
    const { workspaceId, tier } = asker;
    const isUpload = request.routeOptions.config.body === 'uploadBytes';
    const all = isUpload ? uploads : bodies;
    const { held } = all;
    const ofWorkspace = held.get(workspaceId) ?? 0;
    const { uploadBytes, bodyBytes } = TIER_LIMITS[tier];
    const most = isUpload ? uploadBytes : LARGE_BODIES_OF_A_WORKSPACE * bodyBytes;
    if (ofWorkspace + bytes > most || all.total + bytes > MAX_BYTES) throw tooManyAtOnce();
    held.set(workspaceId, ofWorkspace + bytes);
    all.total += bytes;
    reply.raw.once('close', () => {
      all.total -= bytes;
      const left = (held.get(workspaceId) ?? bytes) - bytes;
      if (left > 0) held.set(workspaceId, left);
      else held.delete(workspaceId);
    });
    return payload;
  });
}

/** PAYLOAD_TOO_LARGE, with the limit of this route and tier. */
export function bodyTooLarge(request: FastifyRequest): ProblemError {
  const limitName = request.routeOptions.config.body ?? 'actionBytes';
  const limit = bodyLimitOf(request);
  const tier = askerOf(request)?.tier;
  const whose = tier === undefined ? '' : ` on the ${tier} tier`;
  return problem('PAYLOAD_TOO_LARGE', {
    message: `The body is larger than ${limit} bytes, the most that this request may send${whose}.`,
    extras: { limit, limitName, ...(tier && { tier }) },
  });
}

/** The most bytes that the body may have. */
export const bodyLimitOf = (request: FastifyRequest): number =>
  TIER_LIMITS[askerOf(request)?.tier ?? 'pro'][request.routeOptions.config.body ?? 'actionBytes'];

/** The length of a body as its header states it; a chunked body does not state one. */
function lengthOf({ headers }: FastifyRequest): { readonly length: number; readonly isKnown: boolean } {
  const isKnown = headers['transfer-encoding'] === undefined;
  return { length: Number(headers['content-length'] ?? 0), isKnown };
}

const tooManyAtOnce = (): ProblemError =>
  problem('RATE_LIMITED', {
    message: 'The workspace is sending too many large bodies at the same time. Wait for an answer before the next one.',
    retryAfterSeconds: 1,
  });
