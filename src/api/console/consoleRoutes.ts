// Console: the pages under /console, which call the public API from the browser. The pages need no key; the user enters
// a key, and the browser keeps it until its tab is closed.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sendTagged, tagged } from '../http/etag.ts';
import { problem } from '../http/problems.ts';
import type { App } from '../services.ts';
import { consoleFiles } from './consoleFiles.ts';

/** Scripts and styles of this service alone, and requests to it alone. */
const policyOf = (importMapHash: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${importMapHash}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * A report is one file with inline scripts, which the console's own policy would stop. It is written into a frame of an
 * origin of its own, which can reach neither the console, nor its key, nor the network.
 */
const FRAME_POLICY = [
  'sandbox allow-scripts allow-downloads',
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Takes one report from the page around it, and then tells that page how high the report is. */
const FRAME = tagged(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Report</title>
<script>
addEventListener('message', ({ source, data }) => {
  if (source !== parent || parent === window || typeof data !== 'string') return;
  const tell = '<script>new ResizeObserver(() => parent.postMessage({ height: document.body.offsetHeight }, "*"))' +
    '.observe(document.body)<' + '/script>';
  document.open();
  document.write(data.replace(/<\\/body>(?![^]*<\\/body>)/, () => tell + '</body>'));
  document.close();
});
parent.postMessage({ ready: true }, '*');
</script>
</html>
`);

const HTML = 'text/html; charset=utf-8';
/** The address names the content. */
const FOREVER = 'public, max-age=31536000, immutable';
const AssetParams = z.object({ digest: z.string().max(64), '*': z.string().max(200) });

/** `GET /console/`, its frame for reports, and its files. */
export function consoleRoutes(app: App): void {
  const hidden = { schema: { hide: true } } as const;
  app.get('/console', hidden, async (request: FastifyRequest, reply: FastifyReply) => {
    const [path, query] = request.url.split('?', 2);
    // Relative addresses of the page begin at the slash.
    if (!path.endsWith('/')) return reply.redirect(`console/${query === undefined ? '' : `?${query}`}`);
    const { page, importMapHash } = await consoleFiles();
    return sendTagged(request, reply.header('content-security-policy', policyOf(importMapHash)), page, HTML);
  });
  app.get('/console/report', hidden, async (request, reply) =>
    // Its origin is opaque, which cannot have a cluster of its own.
    sendTagged(
      request,
      reply.header('content-security-policy', FRAME_POLICY).header('origin-agent-cluster', '?0'),
      FRAME,
      HTML,
    ),
  );
  app.get(
    '/console/assets/:digest/*',
    { schema: { hide: true, params: AssetParams } },
    async (request: FastifyRequest<{ Params: z.infer<typeof AssetParams> }>, reply) => {
      const { digest, files } = await consoleFiles();
      const file = request.params.digest === digest ? files.get(request.params['*']) : undefined;
      if (file === undefined) throw problem('NOT_FOUND', { message: 'The console has no such file; load it again.' });
      return sendTagged(request, reply, file, file.type, FOREVER);
    },
  );
}
