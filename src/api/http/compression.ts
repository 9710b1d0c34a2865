// Compression: answers as gzip or brotli, for clients that ask for one.
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyRequest } from 'fastify';
import type { App } from '../services.ts';

/** Below this a compressed answer saves less than its headers and the work cost. */
const THRESHOLD_BYTES = 1_024;
/** Brotli's own default (11) takes seconds per megabyte; 4 is smaller than gzip and as fast. */
const BROTLI_QUALITY = 4;

/** Texts and data. Streams of events are not compressed: a compressor would hold events back. */
const COMPRESSED = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|javascript|xml|vnd\.apache\.arrow))/;

/** Before the first route: the plugin wraps routes as they are registered. */
export async function compressAnswers(app: App): Promise<void> {
  await app.register(compress, {
    encodings: ['br', 'gzip', 'identity'],
    // Bodies are read as they are sent: a small one must not unpack to a large one.
    globalDecompression: false,
    threshold: THRESHOLD_BYTES,
    customTypes: COMPRESSED,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  });
  // A strong tag identifies bytes, and compressed bytes differ (RFC 9110 §8.8.1). Runs after the plugin's own hook.
  app.addHook('onRoute', (route) => {
    const hooks = [route.onSend ?? []].flat();
    route.onSend = [
      ...hooks,
      async (_request, reply, payload) => {
        const etag = reply.getHeader('etag');
        if (reply.hasHeader('content-encoding') && typeof etag === 'string') reply.header('etag', weakened(etag));
        return payload;
      },
    ];
  });
}

/** Whether the answer to this request with this body of JSON is compressed. */
export const isCompressible = (request: FastifyRequest, body: string): boolean =>
  Buffer.byteLength(body) >= THRESHOLD_BYTES && /\b(?:br|gzip)\b|\*/.test(request.headers['accept-encoding'] ?? '');

export const weakened = (etag: string): string => (etag.startsWith('W/') ? etag : `W/${etag}`);
