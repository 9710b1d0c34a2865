// Body: how a request body becomes a JSON value, with its bytes kept for the idempotency hash.
import { isUtf8 } from 'node:buffer';
import type { App } from './services.ts';
import { problem } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; null when there was none. */
    rawBody: Buffer | null;
  }
}

/**
 * Takes application/json and nothing else. A body of no bytes is no body: clients that always send the header may call an action
 * without one, and a route that needs a body refuses its absence by name. `__proto__` and `constructor.prototype` are refused.
 */
export function readJsonBodies(app: App): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' }));
    request.rawBody = bytes;
    void parse(request, bytes.toString('utf8'), (error, value) => {
      if (error) done(problem('MALFORMED_JSON', { message: faultOf(bytes.toString('utf8')) }));
      else done(null, value);
    });
  });
}

/** The framework's parser does not say where; the plain one does. What that one takes holds a key that must not reach an object. */
function faultOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return `The body is not valid JSON: ${(error as Error).message}`;
  }
  return 'The body holds the key "__proto__" or "constructor.prototype", which is refused.';
}
