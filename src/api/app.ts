// App: puts the HTTP service together, in the order a request passes through it.
import { randomUUID } from 'node:crypto';
import helmet from '@fastify/helmet';
import fastify, { LogController, type FastifyBaseLogger, type FastifyRequest } from 'fastify';
import { createSerializerCompiler, validatorCompiler, type FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi';
import { authenticateRequests, trustForwardedRequests, type AuthenticatedAs } from './http/auth/authentication.ts';
import { limitBodies } from './http/bodyLimits.ts';
import { compressAnswers } from './http/compression.ts';
import { readJsonBodies } from './http/body.ts';
import {
  answerBrokenRequest,
  boundConnections,
  HTTP_OPTIONS,
  isInjected,
  REQUEST_TIMEOUT_MS,
} from './http/connections.ts';
import { drainGracefully } from './http/connections.ts';
import type { HeavyRequests } from './http/heavyQueue.ts';
import { forwardHeavyRequests } from './http/heavyRequests.ts';
import { answerFailures, sendProblem } from './http/failures.ts';
import { forgetOldAnswers } from './http/idempotency.ts';
import { answerUnknownRoutes } from './http/methods.ts';
import { describeRoutes, openapiRoute } from './http/openapi.ts';
import { problem } from './http/problems.ts';
import { LateRefusals } from './http/lateRefusals.ts';
import { limitRates } from './http/rateLimits.ts';
import { limitRequestsInFlight } from './http/requestsInFlight.ts';
import { apiKeyRoutes } from './apiKeys/apiKeyRoutes.ts';
import { backtestRoutes } from './backtests/backtestRoutes.ts';
import { authoringPackRoutes } from './discovery/authoringPack.ts';
import { capabilitiesRoutes } from './discovery/capabilityRoutes.ts';
import { consoleRoutes } from './console/consoleRoutes.ts';
import { docsRoutes } from './docs/docsRoutes.ts';
import { healthRoutes, measureProcess } from './health/healthRoutes.ts';
import { editorRoutes } from './strategies/editorRoutes.ts';
import { manifestRoutes } from './discovery/manifest.ts';
import { marketDataRoutes } from './marketData/marketDataRoutes.ts';
import { servedMessage } from './mcp/apiCall.ts';
import { mcpRoutes } from './mcp/mcpRoutes.ts';
import { strategyRoutes } from './strategies/strategyRoutes.ts';
import { sweepRoutes } from './sweeps/sweepRoutes.ts';
import { templateRoutes } from './templates/templateRoutes.ts';
import { webhookRoutes } from './webhooks/webhookRoutes.ts';
import { workspaceRoutes } from './workspaces/workspaceRoutes.ts';
import { listenForChanges } from './http/waiting.ts';
import type { App, Services } from './services.ts';

/** What a caller may choose as its request id; anything else gets one of ours. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;

interface AppOptions {
  /** Adds routes beside ours, under the same hooks; for tests. */
  readonly registerMore?: (app: App) => Promise<void>;
  /** Finds the caller of a request that another thread has authenticated. */
  readonly authenticatedAs?: AuthenticatedAs;
  /** Told of each request before what it stores is committed. */
  readonly beforeCommit?: (request: FastifyRequest) => void;
  /** Default: every request is answered in place. */
  readonly heavyRequests?: HeavyRequests | null;
}

/**
 * Builds the app, ready for `inject` or `listen`. It closes nothing that it was given but `heavyRequests`: the caller
 * ends `services.sql`.
 *
 * Conventions of a route module: `export async function xRoutes(app: App, services: Services)`, called in
 * `registerRoutes` below. Each route has `onRequest: requireKey({scope, role})`, a schema with zod `body`/`querystring`
 * (z.strictObject) and `response`, and a short handler that throws `problem(CODE, …)`. Path ids go through `pathId`,
 * lists through `listQuery`, POSTs through `answerOnce`.
 */
export async function buildApp(
  services: Services,
  { registerMore, authenticatedAs, beforeCommit, heavyRequests = null }: AppOptions = {},
): Promise<App> {
  const app = createServer(services);
  app.setValidatorCompiler(validatorCompiler);
  // The schema is parsed once more on the way out, so that no member leaves that the contract does not list.
  app.setSerializerCompiler(createSerializerCompiler({ stringify: JSON.stringify }));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  // Refusals of forwarded requests are delayed by the thread that holds the connection.
  answerFailures(app, services.config.rateLimits && !authenticatedAs ? new LateRefusals() : null);
  answerUnknownRoutes(app);
  limitBodies(app);
  readJsonBodies(app);
  forwardHeavyRequests(app, heavyRequests, beforeCommit);
  limitRequestsInFlight(app, services.config.rateLimits);
  boundConnections(app, services.config);
  drainGracefully(app);
  await app.register(helmet, { contentSecurityPolicy: { directives: { defaultSrc: ["'none'"] }, useDefaults: false } });
  await compressAnswers(app);
  limitRates(app, services);
  await describeRoutes(app, services.config);
  forgetOldAnswers(app, services);
  if (authenticatedAs) trustForwardedRequests(app, authenticatedAs);
  else authenticateCallers(app, services);
  listenForChanges(app, services);
  await registerRoutes(app, services);
  // Nobody reads the metrics of the thread of heavy requests, and recording every garbage collection costs time.
  if (!authenticatedAs) measureProcess(app);
  await registerMore?.(app);
  await app.ready();
  return app;
}

function createServer(services: Services): App {
  // Typed as Fastify's own logger; with ours, the app's type would no longer be App.
  const log: FastifyBaseLogger = services.log;
  return fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: services.config.trustedProxies,
    http: HTTP_OPTIONS,
    clientErrorHandler: answerBrokenRequest,
    // A stopping process still answers what reaches it; `connection: close` sends the client elsewhere afterwards.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    // A path that cannot be decoded names nothing.
    frameworkErrors: (_error, request, reply) =>
      sendProblem(request, reply.header('x-request-id', request.id), problem('NOT_FOUND')),
  }).withTypeProvider<FastifyZodOpenApiTypeProvider>();
}

/** Authenticates callers. Admitted requests count against the caller's limits, refused ones against the address's. */
function authenticateCallers(app: App, services: Services): void {
  authenticateRequests(app, services, {
    admit: ({ apiKeyId, workspaceId, tier }, request, reply) => {
      const message = isInjected(request.raw) ? servedMessage() : undefined;
      if (message !== undefined) {
        // A call that a tool makes is part of its message, which has been admitted.
        request.flight = message.flight;
        return;
      }
      app.rateLimits.charge({ id: apiKeyId, workspaceId, tier }, reply);
      app.requestsInFlight.begin({ workspaceId, tier }, request, reply);
    },
    admitMember: ({ userId, workspaceId, tier }, request, reply) => {
      app.rateLimits.charge({ id: `${workspaceId} ${userId}`, workspaceId, tier }, reply);
      app.requestsInFlight.begin({ workspaceId, tier }, request, reply);
    },
    reject: ({ ip }) => app.rateLimits.chargeFailure(ip),
  });
}

/** Every route of the service, by hand and in reading order. */
async function registerRoutes(app: App, services: Services): Promise<void> {
  await healthRoutes(app, services);
  await manifestRoutes(app, services);
  await workspaceRoutes(app, services);
  await authoringPackRoutes(app, services);
  await capabilitiesRoutes(app, services);
  await templateRoutes(app, services);
  await strategyRoutes(app, services);
  await backtestRoutes(app, services);
  await sweepRoutes(app, services);
  await marketDataRoutes(app, services);
  await webhookRoutes(app, services);
  await editorRoutes(app, services);
  await apiKeyRoutes(app, services);
  await mcpRoutes(app, services);
  openapiRoute(app);
  docsRoutes(app, services);
  consoleRoutes(app);
}
