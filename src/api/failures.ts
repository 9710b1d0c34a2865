// Failures: turns whatever a request ran into (a problem, a failed schema, a framework or database error) into one problem answer.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { RequestValidationError } from 'fastify-zod-openapi';
import { BODY_LIMIT_BYTES } from '../tiers.ts';
import { PROBLEM_MEDIA_TYPE, ProblemError, problem, problemBody, type ProblemIssue } from './problems.ts';
import { issuesOfZod } from './schemas/issues.ts';
import type { App } from './services.ts';

/** Sends `error` as application/problem+json, with its headers. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ProblemError): FastifyReply {
  const path = request.url.split('?', 1)[0];
  if (error.status === 401) reply.header('www-authenticate', 'Bearer');
  if (error.status === 503) reply.header('retry-after', '1');
  return reply
    .code(error.status)
    .headers(error.headers)
    .type(PROBLEM_MEDIA_TYPE)
    .send(JSON.stringify(problemBody(error, path, request.id)));
}

export function answerFailures(app: App): void {
  app.setErrorHandler((error: FastifyError | ProblemError, request, reply) => {
    const known = error instanceof ProblemError ? error : asProblem(error);
    if (known.status >= 500) request.log.error({ err: error, requestId: request.id }, 'request failed');
    return sendProblem(request, reply, known);
  });
}

/** What the framework and the database throw, in our table's words. Whatever is not known is ours to repair: 500. */
function asProblem(error: FastifyError): ProblemError {
  if (error.validation) {
    const issues = validationIssues(error);
    const message = issues.length === 1 ? issues[0].message : `The request has ${issues.length} faults; see issues.`;
    return problem('VALIDATION_FAILED', { message, issues });
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('PAYLOAD_TOO_LARGE', {
        message: `The body is larger than ${BODY_LIMIT_BYTES} bytes.`,
        extras: { limit: BODY_LIMIT_BYTES },
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('MALFORMED_JSON', { message: 'The body is not as long as Content-Length says.' });
    default:
      return isDatabaseAway(error) ? problem('UNAVAILABLE') : problem('INTERNAL_ERROR');
  }
}

/** The faults of a request that failed its schema; query and path faults are told apart from body ones by their first segment. */
export function validationIssues(error: {
  readonly validation?: unknown;
  readonly validationContext?: string;
}): ProblemIssue[] {
  const zodIssues = ([error.validation ?? []].flat() as unknown[])
    .filter((each) => each instanceof RequestValidationError)
    .map((each) => each.params.issue);
  const place = error.validationContext === 'querystring' ? 'query' : error.validationContext;
  return issuesOfZod(zodIssues, place === undefined || place === 'body' ? '' : `/${place}`);
}

/** postgres.js names for a lost connection, and the server's own: admin shutdown, crash shutdown, starting up, too many clients. */
const DATABASE_AWAY = new Set([
  'CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'CONNECT_TIMEOUT', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE',
  '57P01', '57P02', '57P03', '53300',
]); // prettier-ignore
const isDatabaseAway = (error: { readonly code?: string }): boolean => DATABASE_AWAY.has(error.code ?? '');
