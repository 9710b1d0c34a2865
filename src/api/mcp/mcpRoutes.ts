// The MCP door: /mcp speaks the Model Context Protocol over streamable HTTP, with an API key as the bearer.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { FastifyReply } from 'fastify';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { loopShare } from '../http/loopShare.ts';
import { problem, type ProblemBody } from '../http/problems.ts';
import type { App, Services } from '../services.ts';
import { callApp, serveMessage, servedMessage, type Measure } from './apiCall.ts';
import { refuseForeignOrigins } from './origins.ts';
import { createMcpServer } from './server.ts';
import { MESSAGE_BOUNDS } from './toolArguments.ts';

/** A strategy that an agent writes has kilobytes; the caller's tier may allow less. */
const MAX_BODY_BYTES = TIER_LIMITS.pro.configBytes;
const CREDENTIALS = ['x-api-key', 'authorization'] as const;

/** What the protocol costs for a message besides the work that is measured: reading, routing and writing it. */
const MESSAGE_MS = 1;
/** A workspace that has used its share of the event loop waits for as long as this, and looks again this often. */
const MAX_PAUSE_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/**
 * Both the current protocol and clients of the 2025 revisions are served, each request by a server of its own. Every
 * request has one message, which is admitted as a request to any other route is; the calls that its tool makes are part
 * of it. There are no streams of the server's own: GET is answered 405, and nothing that it lists ever changes.
 */
export async function mcpRoutes(app: App, { log, config }: Pick<Services, 'log' | 'config'>): Promise<void> {
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const sent = CREDENTIALS.flatMap((name) => {
        const value = requestInfo?.headers.get(name);
        return value ? [[name, value] as const] : [];
      });
      const workspaceId = servedMessage()!.caller.workspaceId;
      const measure: Measure = (work) => loopShare.measure(workspaceId, work);
      return createMcpServer(callApp(app, Object.fromEntries(sent), measure), measure);
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror: (error) => log.debug({ err: error }, 'an MCP request failed') },
  );
  app.addHook('preClose', () => handler.close());
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES });
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    schema: { hide: true },
    config: { body: 'configBytes', jsonBounds: MESSAGE_BOUNDS, wrapProblem: asJsonRpcError },
    onRequest: [refuseForeignOrigins(config), requireKey()],
    handler: async (request, reply) => {
      if (Array.isArray(request.body)) throw batchRefused();
      // The calls of its tool take turns; the message must not hold one while it waits for them.
      request.flight?.endTurn();
      await pauseIfSpent(request.caller.workspaceId);
      loopShare.add(request.caller.workspaceId, MESSAGE_MS);
      keepHeaders(reply);
      await serveMessage(request, () => serve(request.raw, reply.raw, request.body));
    },
  });
}

/** Clients of revision 2025-03-26 may send batches, the only ones; none is known that does. */
const batchRefused = () =>
  problem('VALIDATION_FAILED', {
    message:
      'Send one JSON-RPC message per request. Batches were removed from the protocol with revision 2025-06-18, and ' +
      'this service takes none.',
  });

/** Takes the answer over from the framework, with the headers that it has set so far. */
function keepHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.hijack();
}

/** Messages of a workspace that has used its share of the event loop wait until it comes back, counted as in flight. */
async function pauseIfSpent(workspaceId: string): Promise<void> {
  for (let waited = 0; waited < MAX_PAUSE_MS && loopShare.isSpent(workspaceId); waited += LOOK_AGAIN_MS)
    await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
}

/** JSON-RPC's own codes for what it calls a parse error and an invalid request; the rest is the server's to choose. */
const RPC_CODES: Partial<Record<ProblemBody['code'], number>> = { MALFORMED_JSON: -32_700, VALIDATION_FAILED: -32_600 };
const SERVER_ERROR = -32_000;

/** A refusal as clients of the protocol read it. It comes before the message is read, so its id is not known. */
const asJsonRpcError = (body: ProblemBody) => ({
  jsonrpc: '2.0',
  error: { code: RPC_CODES[body.code] ?? SERVER_ERROR, message: body.message, data: body },
  id: null,
});
