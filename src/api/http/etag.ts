// ETags: answers that clients may keep, with 304 when theirs is still the same.
import { createHash } from 'node:crypto';
import { isCompressible, weakened } from './compression.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface TaggedBody {
  /** A text, usually serialized JSON. */
  readonly body: string;
  /** With its quotes, as the header has it. */
  readonly etag: string;
}

/** A strong tag: equal bytes, equal tag, on every host. */
export function tagged(body: string): TaggedBody {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

/** Sends the body, or 304 when the caller named its tag in If-None-Match. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, etag }: TaggedBody,
  type = 'application/json; charset=utf-8',
  cacheControl = 'private, no-cache',
): FastifyReply {
  reply.header('etag', etag).header('cache-control', cacheControl);
  if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding');
  if (matches(request.headers['if-none-match'], etag)) {
    // The tag that 200 would have had.
    if (isCompressible(request, body)) reply.header('etag', weakened(etag));
    return reply.code(304).send();
  }
  return reply.type(type).send(body);
}

/**
 * Sends the body of an answer that the schema of its route describes. By Fastify's types, such a route returns the
 * body; it is sent as text, so that its tag is that of the bytes.
 */
export const sendTaggedJson = (request: FastifyRequest, reply: FastifyReply, body: object): never =>
  sendTagged(request, reply, tagged(JSON.stringify(body))) as never;

/** If-None-Match compares weakly (RFC 9110 §13.1.2): `W/` does not count, `*` matches whatever there is. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
}
