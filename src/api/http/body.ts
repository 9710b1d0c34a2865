// Body: how a request body becomes a JSON value, with its bytes kept for the idempotency hash.
import { isUtf8 } from 'node:buffer';
import { pointerTo } from '../../engine/index.ts';
import type { App } from '../services.ts';
import { askerOf, bodyLimitOf, bodyTooLarge } from './bodyLimits.ts';
import { duplicateMembers, mayRepeatMembers } from './duplicateMembers.ts';
import { isHeavy } from './heavyRequests.ts';
import { loopShare } from './loopShare.ts';
import { faultsMessage, problem, type ProblemIssue } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; null when there was none. */
    rawBody: Buffer | null;
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
    const read = (): void =>
      void parse(request, bytes.toString('utf8'), (error, value) => {
        if (error) return done(problem('MALFORMED_JSON', { message: parseFault(bytes.toString('utf8')) }));
        const issues = faultsBeforeSchema(value, bytes);
        if (issues.length === 0) done(null, value);
        else done(problem('VALIDATION_FAILED', { message: faultsMessage(issues), issues }));
      });
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

/** What no schema sees: too many values, and members that JSON.parse has dropped. */
function faultsBeforeSchema(body: unknown, bytes: Buffer): ProblemIssue[] {
  const { members, excess } = countMembers(body);
  if (excess !== null) return [excess];
  return mayRepeatMembers(bytes, members) ? duplicateMembers(bytes.toString('utf8')) : [];
}

/**
 * The largest objects of a legitimate body are the params and overrides of a config: at most a few for each of 1,024
 * nodes.
 */
const MAX_MEMBERS = 5_000;
/** A pro strategy of 4 MiB has about 200,000. */
const MAX_VALUES = 500_000;

interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Place | null;
}

/**
 * Counts what a body holds before any schema looks at it: a schema reports a fault for each member, which for a million
 * members takes seconds and gigabytes.
 */
function countMembers(body: unknown): { readonly members: number; readonly excess: ProblemIssue | null } {
  let count = 0;
  let members = 0;
  const open: Place[] = [{ value: body, key: '', parent: null }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    const isArray = Array.isArray(value);
    const entries: readonly (readonly [string | number, unknown])[] | ArrayIterator<[number, unknown]> = isArray
      ? value.entries()
      : Object.entries(value);
    const size = isArray ? value.length : (entries as readonly unknown[]).length;
    count += size;
    if (!isArray) members += size;
    if (!isArray && size > MAX_MEMBERS) {
      const message = `This object has ${size} members; at most ${MAX_MEMBERS} are allowed.`;
      return { members, excess: tooMany(place, message) };
    }
    if (count > MAX_VALUES) {
      const message = `The body holds more than ${MAX_VALUES} values. Send less at a time.`;
      return { members, excess: tooMany({ ...place, parent: null }, message) };
    }
    for (const [key, child] of entries)
      if (typeof child === 'object' && child !== null) open.push({ value: child, key, parent: place });
  }
  return { members, excess: null };
}

/** A pointer of more segments than this helps nobody. */
const MAX_SEGMENTS = 32;

function tooMany(place: Place, message: string): ProblemIssue {
  const keys: (string | number)[] = [];
  for (let at: Place | null = place; at?.parent; at = at.parent) keys.push(at.key);
  const path = keys
    .reverse()
    .slice(0, MAX_SEGMENTS)
    .reduce<string>((pointer, key) => pointerTo(pointer, key), '');
  return { code: 'TOO_MANY_VALUES', path, message };
}
