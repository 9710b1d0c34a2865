// Failures: turns whatever a request ran into (a problem, a failed schema, a framework or database error) into one
// problem answer.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { RequestValidationError } from 'fastify-zod-openapi';
import { z } from 'zod';
import {
  faultsMessage,
  PROBLEM_MEDIA_TYPE,
  ProblemError,
  problem,
  problemBody,
  type ProblemBody,
  type ProblemIssue,
} from './problems.ts';
import { WorkAlreadyDone } from '../../db/idempotencyKeys.ts';
import { isDatabaseAway, isDataError, isDiskFull, isReferenceGone } from '../../db/sqlErrors.ts';
import { bodyTooLarge } from './bodyLimits.ts';
import { issuesOfZod } from './envelopeIssues.ts';
import type { LateRefusals } from './lateRefusals.ts';
import type { App } from '../services.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Puts a problem into the form that the clients of the route read; default: the problem itself. */
    readonly wrapProblem?: (body: ProblemBody) => object;
  }
}

/** Sends `error` as application/problem+json, or in the form of the route, with its headers. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ProblemError): FastifyReply {
  const path = request.url.split('?', 1)[0];
  if (error.status === 401) reply.header('www-authenticate', 'Bearer');
  const body = problemBody(error, path, request.id);
  // A path that cannot be decoded has no route.
  const wrapProblem = request.routeOptions?.config?.wrapProblem;
  return reply
    .code(error.status)
    .headers(error.headers)
    .type(wrapProblem ? 'application/json; charset=utf-8' : PROBLEM_MEDIA_TYPE)
    .send(JSON.stringify(wrapProblem?.(body) ?? body));
}

/** @param lateRefusals null: refusals are sent at once. */
export function answerFailures(app: App, lateRefusals: LateRefusals | null): void {
  app.setErrorHandler(async (error: FastifyError | ProblemError, request, reply) => {
    const known = error instanceof ProblemError ? error : asProblem(error, request);
    noteFailure(request, known, error);
    if (known.status === 429) await lateRefusals?.wait(request);
    return sendProblem(request, reply, known);
  });
}

/** During an outage every request fails, for a reason that needs no stack. Our own defects are logged with theirs. */
function noteFailure({ log, id: requestId }: FastifyRequest, known: ProblemError, error: Error): void {
  if (known.status === 503) log.warn({ requestId, reason: error.message }, 'request refused');
  else if (known.status >= 500) log.error({ requestId, err: error }, 'request failed');
}

const ALREADY_DONE =
  'A request with this Idempotency-Key has already done its work, but its answer was lost. List what the workspace ' +
  'has to find it.';

/** The problem for what the framework or the database has thrown. Anything unknown is a defect of ours: 500. */
function asProblem(error: FastifyError, request: FastifyRequest): ProblemError {
  if (error.validation) {
    const issues = validationIssues(error, request);
    return problem('VALIDATION_FAILED', { message: faultsMessage(issues), issues });
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(request);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('MALFORMED_JSON', { message: 'The body is not as long as Content-Length says.' });
  }
  const refusal = refusalOf(error.statusCode ?? 0);
  if (refusal !== null) return refusal;
  if (error instanceof WorkAlreadyDone) return problem('IDEMPOTENCY_KEY_REUSED', { message: ALREADY_DONE });
  if (isDatabaseAway(error)) return problem('UNAVAILABLE', { message: DATABASE_AWAY });
  if (isDiskFull(error))
    return problem('UNAVAILABLE', { message: 'The disk of the database is full. Its operator must make room.' });
  if (isReferenceGone(error))
    return problem('NOT_FOUND', { message: 'Something that the request names has been deleted.' });
  // The database refused a value that every check let through, such as an instant in the year 20000.
  if (isDataError(error))
    return problem('VALIDATION_FAILED', { message: `A value of the request cannot be stored: ${error.message}.` });
  return problem('INTERNAL_ERROR', { message: INTERNAL });
}

const DATABASE_AWAY = 'The database of the service did not answer in time. Send the same request again in a moment.';
const INTERNAL = 'Something went wrong on our side. Try again once; if it fails again, report the requestId.';

/**
 * The problem for a refusal by the framework or a plugin that has only a status, such as a path outside of a folder or
 * a body that was cut off.
 */
function refusalOf(status: number): ProblemError | null {
  if (status === 403 || status === 404) return problem('NOT_FOUND');
  if (status === 415)
    return problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
  return status >= 400 && status < 500 ? problem('MALFORMED_REQUEST') : null;
}

/**
 * The faults of a request that failed its schema; query and path faults are told apart from body ones by their first
 * segment.
 */
export function validationIssues(
  error: { readonly validation?: unknown; readonly validationContext?: string },
  request: Pick<FastifyRequest, 'body' | 'query' | 'routeOptions'>,
): ProblemIssue[] {
  const { body, querystring } = request.routeOptions.schema ?? {};
  const zodIssues = ([error.validation ?? []].flat() as unknown[])
    .filter((each) => each instanceof RequestValidationError)
    .map((each) => each.params.issue);
  const { validationContext: context = 'body' } = error;
  if (context === 'body') return issuesOfZod(zodIssues, '', request.body, namesIn(body));
  if (context === 'querystring') return issuesOfZod(zodIssues, '/query', request.query, namesIn(querystring));
  return issuesOfZod(zodIssues, `/${context}`);
}

/** The members that a schema names; none where it is not that of an object. */
const namesIn = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
