// Body: how a request body becomes a JSON value, with its bytes kept for the idempotency hash.
import { isUtf8 } from 'node:buffer';
import type { App } from '../services.ts';
import { askerOf, bodyLimitOf, bodyTooLarge } from './bodyLimits.ts';
import { duplicateMembers, mayRepeatMembers } from './duplicateMembers.ts';
import { isHeavy } from './heavyRequests.ts';
import { exceededBound, type JsonBounds } from './jsonBounds.ts';
import { loopShare } from './loopShare.ts';
import { faultsMessage, problem, type ProblemIssue } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; null when there was none. */
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    /** What the body of the route may hold; default: BODY_BOUNDS. */
    readonly jsonBounds?: JsonBounds;
  }
}

/**
 * Takes application/json and nothing else. A body of no bytes is no body: clients that always send the header may call
 * an action without one, and a route that needs a body refuses its absence by name. `__proto__` and
 * `constructor.prototype` are refused.
 */
export function readJsonBodies(app: App): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    if (bytes.length > bodyLimitOf(request)) return done(bodyTooLarge(request));
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      return done(problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without Content-Encoding.' }));
    if (isHeavy(request, bytes.length)) {
      request.rawBody = bytes;
      request.isHeavy = true;
      return done(null, undefined);
    }
    if (!isUtf8(bytes)) return done(problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' }));
    request.rawBody = bytes;
    const refuse = (issues: readonly ProblemIssue[]): void =>
      done(problem('VALIDATION_FAILED', { message: faultsMessage(issues), issues }));
    const read = (): void => {
      const excess = exceededBound(bytes, request.routeOptions.config.jsonBounds);
      if (excess !== null) return refuse([excess]);
      return void parse(request, bytes.toString('utf8'), (error, value) => {
        if (error) return done(problem('MALFORMED_JSON', { message: parseFault(bytes.toString('utf8')) }));
        const repeated = repeatedMembers(value, bytes);
        if (repeated.length === 0) done(null, value);
        else refuse(repeated);
      });
    };
    const asker = askerOf(request);
    if (asker === null) read();
    else loopShare.measure(asker.workspaceId, read);
  });
}

/**
 * Why a body was refused. The framework's parser does not say where; JSON.parse does. A body that JSON.parse accepts
 * holds a forbidden key such as __proto__.
 */
function parseFault(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return `The body is not valid JSON: ${(error as Error).message}`;
  }
  return 'The body holds the key "__proto__" or "constructor.prototype", which is refused.';
}

/** The members that JSON.parse has dropped. */
function repeatedMembers(body: unknown, bytes: Buffer): ProblemIssue[] {
  return mayRepeatMembers(bytes, countMembers(body)) ? duplicateMembers(bytes.toString('utf8')) : [];
}

/** How many members the objects of a body have in all. */
function countMembers(body: unknown): number {
  let members = 0;
  const open: unknown[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) members += children.length;
    for (const child of children) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return members;
}
