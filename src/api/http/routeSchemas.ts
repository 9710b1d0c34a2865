// Route schemas: the pieces that the schema of every route is made of.
import { isUuid } from './auth/uuid.ts';
import { z } from 'zod';
import { problem, type ProblemIssue } from './problems.ts';
import { PROBLEMS, type ProblemCode } from './problemTable.ts';

export const Uuid = z.uuid().meta({ description: 'A UUID.' });
/** An instant: a member of an answer whose name ends in `At`. @param what happened then, as a sentence */
export const instant = (what: string) => z.iso.datetime().meta({ description: `${what} ISO 8601, UTC.` });
/** The same where it may be null. @param what also says when it is null */
export const instantOrNull = (what: string) =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description: `${what} ISO 8601, UTC.` });
/** When a backtest, a sweep or a check was queued, begun and finished. */
export const RUN_TIMES = {
  createdAt: instant('When it was queued.'),
  startedAt: instantOrNull('When a worker began it; null while it waits.'),
  finishedAt: instantOrNull('When it became terminal; null before.'),
};
/** A date as such a member is answered. */
export const isoOrNull = (date: Date | null): string | null => date && date.toISOString();
export const Json = z.record(z.string(), z.unknown());

/** A path id, which `pathId` checks: one that is not a UUID is answered as not found, not as malformed. */
export const IdParams = z.object({ id: z.string() });
/** A route without query parameters; any is refused. */
export const NoQuery = z.strictObject({});
/** Only the header that the route reads is described; others pass. */
export const IdempotencyHeader = z.looseObject({
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description: 'Makes the request safe to repeat: the answer is kept for 24 hours.',
  }),
});

/** A text of `min` to `max` characters that Postgres and UTF-8 can hold: no NUL, no half of a surrogate pair. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be well-formed text without NUL');

/** The name of a strategy or template; it must not be blank. If it is empty, only its length is reported. */
export const name = (max: number) =>
  text(1, max).refine((value) => value === '' || value.trim() !== '', 'must have a character that shows');

/**
 * The id of a path, in Postgres's spelling. Anything but a UUID names nothing.
 * @throws NOT_FOUND
 */
export function pathId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what, id);
  return id.toLowerCase();
}
export const notFound = (what: string, id: string) =>
  problem('NOT_FOUND', { message: `No ${what} "${id}" in this workspace.` });
export const versionNotFound = (version: string) =>
  problem('NOT_FOUND', { message: `No version "${version}" of this strategy in this workspace.` });

export const Issue = z
  .object({
    code: z.string(),
    path: z.string().meta({
      description: 'RFC 6901 pointer into the request body; of a stored strategy, into its payload as it was sent.',
    }),
    field: z.string().optional().meta({ description: 'The top-level member concerned.' }),
    severity: z.string().optional().meta({ description: '`error` blocks, `warning` does not.' }),
    message: z.string(),
    suggestion: z.string().optional(),
    patch: z.array(Json).optional().meta({ description: 'RFC 6902, where the repair is certain.' }),
  })
  .meta({ id: 'ValidationIssue' });

/** A copy of the issues for a body, because the schema's type is not readonly. */
export const issueBodies = (issues: readonly ProblemIssue[]) => [...issues] as z.input<typeof Issue>[];

const Problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    message: z.string(),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
    retryable: z.boolean(),
    requestId: z.string(),
    retryAfterSeconds: z.int().optional().meta({
      description: 'In how many seconds to send the same request again; the same as Retry-After.',
    }),
    issues: z.array(Issue).optional(),
  })
  .meta({
    id: 'Problem',
    description:
      'Problem details (RFC 9457). `code` is stable and says what went wrong; `message` says it to a person.',
  });

const PROBLEM_DESCRIPTIONS = {
  400: 'The request is malformed.',
  401: 'No valid credentials.',
  403: 'Scope, role or tier does not allow it.',
  404: 'Not found in this workspace.',
  408: 'The request took too long to arrive.',
  409: 'It is in a state that does not allow this.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'Well-formed, but it cannot be done.',
  431: 'The query or a header is too long.',
  429: 'Too many requests; see Retry-After.',
  500: 'Something went wrong on our side.',
  503: 'The service cannot answer now; see Retry-After.',
} as const;
type ProblemStatus = keyof typeof PROBLEM_DESCRIPTIONS;

/** Response entries of the failures a route may answer. */
export function problems<const Status extends ProblemStatus>(...statuses: readonly Status[]) {
  const entries = statuses.map((status) => [
    status,
    { description: PROBLEM_DESCRIPTIONS[status], content: { 'application/problem+json': { schema: Problem } } },
  ]);
  return Object.fromEntries(entries) as Record<
    Status,
    { description: string; content: { 'application/problem+json': { schema: typeof Problem } } }
  >;
}
/** Statuses that every route with a key or token may answer; 431: the query is too long. */
export const KEY_PROBLEMS = [400, 401, 403, 429, 431, 500, 503] as const;
/** Statuses that every such route with a body may answer. */
export const BODY_PROBLEMS = [...KEY_PROBLEMS, 408, 413, 415] as const;

/** How a route is authenticated, for the description. */
export const API_KEY_SECURITY: Record<string, string[]>[] = [{ apiKey: [] }, { bearerApiKey: [] }];
export const JWT_SECURITY: Record<string, string[]>[] = [{ accessToken: [] }];
