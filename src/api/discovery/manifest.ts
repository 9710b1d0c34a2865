// Manifest: the workflow contract in one answer, for an agent that knows nothing yet.
import { z } from 'zod';
import { VERSION } from '../../config.ts';
import { RUN_STATUSES, TERMINAL_STATUSES } from '../../db/runStatus.ts';
import { ARTIFACT_NAMES } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { sendTagged, tagged } from '../http/etag.ts';
import { linksTo, linkTo, type PublicAddress } from '../http/links.ts';
import { API_KEY_SECURITY, Json, KEY_PROBLEMS, NoQuery, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';

const BASE = '/public/v1';

const Step = z.object({
  step: z.int(),
  tool: z.string(),
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  scope: z.string().nullable(),
  role: z.enum(['viewer', 'member']),
  description: z.string(),
});
const Manifest = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    baseUrl: z
      .url()
      .optional()
      .meta({ description: 'What every path begins with, if the operator has set PUBLIC_URL.' }),
    authentication: Json,
    workflow: z.array(Step),
    protocols: Json,
    strategyVersionStates: Json,
    backtestStates: Json,
    polling: Json,
    results: Json,
    semantics: z.array(z.string()),
    validation: Json,
    errors: Json,
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Manifest' });

type Step = z.infer<typeof Step>;
const step = (number: number, tool: string, call: string, scope: string | null, description: string): Step => {
  const [method, path] = call.split(' ') as ['GET' | 'POST', string];
  const role = scope?.endsWith('_write') ? 'member' : 'viewer';
  return { step: number, tool, method, path: BASE + path, scope, role, description };
};

/** In the order in which an agent is recommended to call them; the tool names are part of the contract. */
const WORKFLOW: Step[] = [
  step(1, 'get_manifest', 'GET ', null, 'Read this.'),
  step(2, 'get_workspace_context', 'GET /workspace', 'workspace_read', 'Role, scopes, tier, limits, usage.'),
  step(3, 'get_capabilities', 'GET /capabilities', null, 'Read GET /public/v1/authoring-pack?part=core instead: an example, a line per node kind, names, and which ?part= has the rest.'),
  step(4, 'validate_strategy', 'POST /strategies/validate', 'strategies_write', 'Repair and repeat until `valid` is true; errors before warnings. Issues carry `patch` where the repair is certain.'),
  step(5, 'create_strategy', 'POST /strategies', 'strategies_write', 'Makes draft version 1.'),
  step(6, 'finalize_strategy_version', 'POST /strategies/{id}/versions/finalize', 'strategies_write', 'Makes a ready version; `{"version": 1}` promotes the stored draft. Its `id` is the strategyVersionId of a backtest.'),
  step(7, 'run_backtest', 'POST /backtests', 'backtests_write', 'Queues a run; many: POST /backtests/batch.'),
  step(8, 'get_backtest', 'GET /backtests/{id}', 'backtests_read', '`?view=agent&wait=30` answers at its end, in 8 KB; without view, in 50.'),
]; // prettier-ignore

/** The engine's rules in short; docs/semantics.md has them in full. */
const SEMANTICS = [
  'Expressions are read at the close of a bar; its orders fill at the next open.',
  'Logic is three-valued: a missing operand makes a comparison unknown, and unknown never trades.',
  'A value on another timeframe is that of its last closed bar. Nothing can see the future.',
  'Within a bar: funding; orders due at the open, exits first; liquidation, risk, limit and stop levels; then the close marks equity and is read for signals.',
  'Risk levels are live from the fill on; touching counts; a level that the open has passed fills at the open.',
  'Where several levels lie in one bar, ambiguityResolution decides (default multi_resolution: finer imported bars), then ambiguityFallback (default pessimistic).',
  'An order that cannot be paid is rejected and counted, never rescaled. Fee tiers go by the notional of all earlier fills.',
  'Percents are points in the language (5 = 5 %), fractions in results (0.05 = 5 %, also in keys that end in Pct). Times of bars are ms UTC; keys that end in At are ISO 8601. A range has the bars that open at or after `start` and have closed by `end`.',
  'Bars: GET /market-data/{symbol}/{timeframe}/bars; values and conditions on them: POST /columns; bars of your own: POST /market-data (scope market_data_write).',
];

const manifestOf = (address: PublicAddress): z.infer<typeof Manifest> => ({
  name: 'Candlepool',
  version: VERSION,
  description: 'Author trading strategies as JSON, have them validated, and run backtests of them.',
  ...(address.publicUrl !== undefined && { baseUrl: address.publicUrl }),
  authentication: {
    header: 'x-api-key',
    alternative: 'Authorization: Bearer <API_KEY>',
    keyFormat: 'svc_live_<keyId>_<secret>',
    roles: 'A viewer key cannot write, whatever its scopes are; a member key can.',
  },
  workflow: WORKFLOW,
  protocols: {
    signalGraph: { protocol: 'svc.signal-graph', version: 2, recommended: true },
    strategyAst: { protocol: 'svc.strategy', version: 1, canonical: true },
  },
  strategyVersionStates: { states: ['draft', 'ready'], runnable: ['ready'] },
  backtestStates: {
    states: RUN_STATUSES,
    terminal: TERMINAL_STATUSES,
  },
  polling: {
    path: `${BASE}/backtests/{id}`,
    longPoll: '?wait=30 answers when the backtest is terminal, or after that many seconds (at most 60).',
    intervalSeconds: 2,
    events: linkTo(address, `${BASE}/backtests/{id}/events`),
  },
  results: {
    readFirst: [
      'result.summaryJson.strategyTrace',
      'result.summaryJson.ruleStatsSummary',
      'result.summaryJson.portfolio',
      'result.summaryJson.instruments',
    ],
    bounded: linkTo(address, `${BASE}/backtests/{id}?view=agent&maxBytes=8000`),
    artifacts: ARTIFACT_NAMES,
  },
  semantics: SEMANTICS,
  validation: {
    valid: 'True exactly when finalize would accept the same body.',
    requiresConfirmation:
      'An entry can never be true (warning CONTRADICTION): finalize answers WARNINGS_REQUIRE_CONFIRMATION.',
    ignoreWarnings: 'True accepts such an entry, nothing else: other warnings never block, and errors always do.',
  },
  errors: {
    mediaType: 'application/problem+json',
    advice: 'Check the status, then `code`; `retryable` says whether the same request may succeed later.',
    idempotency: 'A POST with Idempotency-Key is safe to repeat; its answer is kept for 24 hours.',
  },
  links: linksTo(address, {
    openapi: `${BASE}/openapi.json`,
    docs: '/docs',
    workspace: `${BASE}/workspace`,
    authoringPack: `${BASE}/authoring-pack`,
    capabilities: `${BASE}/capabilities`,
    systemStrategies: `${BASE}/system-strategies`,
    strategies: `${BASE}/strategies`,
    backtests: `${BASE}/backtests`,
    sweeps: `${BASE}/sweeps`,
    marketData: `${BASE}/market-data`,
  }),
});

export async function manifestRoutes(app: App, { config }: Services): Promise<void> {
  const manifest = tagged(JSON.stringify(manifestOf(config)));
  app.get(
    BASE,
    {
      onRequest: requireKey(),
      schema: {
        tags: ['Discovery'],
        operationId: 'get_manifest',
        summary: 'The workflow contract',
        security: API_KEY_SECURITY,
        querystring: NoQuery,
        response: { 200: Manifest, ...problems(...KEY_PROBLEMS) },
      },
    },
    async (request, reply) => sendTagged(request, reply, manifest),
  );
}
