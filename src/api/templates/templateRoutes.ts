// Templates: the built-in strategies, and copying one into the workspace.
import { z } from 'zod';
import { nearestName } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { answerOnce } from '../http/idempotency.ts';
import { problem } from '../http/problems.ts';
import { fixedListQuery, pageOf, paginateItems } from '../http/pagination.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, KEY_PROBLEMS, notFound, problems, text } from '../http/routeSchemas.ts';
import { IdempotencyHeader, Json, NoQuery } from '../http/routeSchemas.ts';
import { CopyBody, CreatedStrategy } from '../strategies/strategySchemas.ts';
import type { App, Services } from '../services.ts';
import { checkPayloads, contentOf } from '../strategies/strategyChecks.ts';
import { findTemplate, TEMPLATES } from './catalog.ts';
import { compiledAst, instrumentsOf, payloadsOf, TEMPLATE_CATEGORIES, type Template } from './template.ts';
import { createStrategy } from '../strategies/strategyRoutes.ts';

const BASE = '/public/v1/system-strategies';
const read = requireKey({ scope: 'system_strategies_read' });
const described = { tags: ['Templates'], security: API_KEY_SECURITY };

const TemplateRow = z
  .object({
    key: z.string(),
    name: z.string(),
    description: z.string(),
    category: z.enum(TEMPLATE_CATEGORIES),
    tags: z.array(z.string()),
    instruments: z.array(z.string()).meta({
      description: 'The symbols that it is meant for, as in `suggestedConfig`; several: a portfolio.',
    }),
  })
  .meta({ id: 'TemplateRow' });
const TemplateBody = TemplateRow.extend({
  settings: Json,
  strategyAst: Json,
  signalGraph: Json.nullable(),
  suggestedConfig: Json.meta({ description: 'A config for POST /public/v1/backtests under which it trades.' }),
}).meta({ id: 'Template' });

const KeyParams = z.object({ key: z.string() });
const ListQuery = fixedListQuery({
  category: z.enum(TEMPLATE_CATEGORIES).optional(),
  tags: text(1, 200).optional().meta({ description: 'Separated by commas; a template must have all of them.' }),
  search: text(1, 200).optional().meta({ description: 'Part of the key, name or description.' }),
});

const rowOf = (template: Template) => {
  const { key, name, description, category, tags } = template;
  return { key, name, description, category, tags: [...tags], instruments: [...instrumentsOf(template)] };
};

const templateOf = (key: string): Template => {
  const template = findTemplate(key);
  if (template !== undefined) return template;
  const nearest = nearestName(
    key,
    TEMPLATES.map((each) => each.key),
  );
  const advice = nearest ? `Did you mean "${nearest.name}"?` : `GET ${BASE} lists them.`;
  throw problem('NOT_FOUND', { message: `There is no system strategy "${key}". ${advice}` });
};

export async function templateRoutes(app: App, services: Services): Promise<void> {
  app.get(
    BASE,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_system_strategies',
        summary: 'System strategy templates, by key',
        querystring: ListQuery,
        response: { 200: pageOf(TemplateRow), ...problems(...KEY_PROBLEMS) },
      },
    },
    ({ query }) => paginateItems(query, TEMPLATES.filter(matching(query)).map(rowOf), (row) => row.key),
  );

  app.get(
    `${BASE}/:key`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_system_strategy',
        summary: 'A template with its payload',
        params: KeyParams,
        querystring: NoQuery,
        response: { 200: TemplateBody, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ params }) => {
      const template = templateOf(params.key);
      const { settings, signalGraph = null, suggestedConfig } = template;
      return { ...rowOf(template), settings, strategyAst: compiledAst(template), signalGraph, suggestedConfig };
    },
  );
  copyRoute(app, services);
}

function copyRoute(app: App, services: Services): void {
  app.post(
    `${BASE}/:key/copy`,
    {
      onRequest: requireKey({ scope: 'strategies_write', role: 'member' }),
      schema: {
        ...described,
        operationId: 'copy_system_strategy',
        summary: 'A draft strategy made from a template',
        params: KeyParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: CopyBody,
        response: { 201: CreatedStrategy, ...problems(...BODY_PROBLEMS, 404, 409, 422) },
      },
    },
    async (request, reply) => {
      // An unknown key is an answer to keep as well.
      const template = findTemplate(request.params.key);
      const outcome = template && (await checkPayloads(services, request.caller, payloadsOf(template)));
      return answerOnce(services, request, reply, async (tx, requestKey) => {
        if (template === undefined || outcome === undefined) throw notFound('system strategy', request.params.key);
        const { name = template.name, description } = request.body ?? {};
        const strategy = { name, description: description ?? template.description, templateKey: template.key };
        const content = contentOf(payloadsOf(template), outcome);
        return createStrategy(tx, requestKey, request.caller, strategy, content, outcome);
      });
    },
  );
}

function matching({ category, tags, search }: z.infer<typeof ListQuery>): (template: Template) => boolean {
  const wantedTags = tags?.split(',').map((tag) => tag.trim().toLowerCase()) ?? [];
  const part = search?.toLowerCase() ?? '';
  return (template) =>
    (category === undefined || template.category === category) &&
    wantedTags.every((tag) => template.tags.includes(tag)) &&
    `${template.key}\n${template.name}\n${template.description}`.toLowerCase().includes(part);
}
