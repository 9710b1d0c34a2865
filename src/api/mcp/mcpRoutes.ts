// The MCP door: /mcp speaks the Model Context Protocol over streamable HTTP, with an API key as the bearer.
import { createMcpHandler } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { TIER_LIMITS } from '../../tiers.ts';
import type { App, Services } from '../services.ts';
import { callApp } from './apiCall.ts';
import { createMcpServer } from './server.ts';

/** A strategy that an agent writes has kilobytes; the caller's tier may allow less. */
const MAX_BODY_BYTES = TIER_LIMITS.pro.configBytes;
const CREDENTIALS = ['x-api-key', 'authorization'] as const;

/** Both the current protocol and clients of the 2025 revisions are served, each request by a server of its own. */
export async function mcpRoutes(app: App, { log }: Pick<Services, 'log'>): Promise<void> {
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const sent = CREDENTIALS.flatMap((name) => {
        const value = requestInfo?.headers.get(name);
        return value ? [[name, value] as const] : [];
      });
      return createMcpServer(callApp(app, Object.fromEntries(sent)));
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror: (error) => log.debug({ err: error }, 'an MCP request failed') },
  );
  app.addHook('preClose', () => handler.close());
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES });
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    schema: { hide: true },
    config: { body: 'configBytes' },
    // The calls that a tool makes are charged to the key; the envelope around them is not.
    onRequest: async (request) => {
      request.caller = await app.authentication.authenticateKey(request);
    },
    handler: async (request, reply) => {
      reply.hijack();
      await serve(request.raw, reply.raw, request.body);
    },
  });
}
