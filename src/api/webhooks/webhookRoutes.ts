// Webhooks: where the service says that a backtest, a sweep or a robustness check has ended, so that nobody needs to
// poll. The worker delivers (src/jobs/webhookTask.ts).
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  addTestMessage,
  changeWebhook,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhookMessages,
  listWebhooks,
} from '../../db/webhooks.ts';
import type { Webhook } from '../../db/webhooks.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { linkTo } from '../http/links.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdParams,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import * as shapes from './webhookSchemas.ts';
import { messageBody, urlFault, webhookBody } from './webhookSchemas.ts';

const WEBHOOKS = '/public/v1/webhooks';
const WEBHOOK = `${WEBHOOKS}/:id`;
/** Of one workspace. Each of them is told of every run. */
const MAX_WEBHOOKS = 10;
/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;
/** A test behind more messages than these would come too late to tell anything. */
const MAX_WAITING_AT_TEST = 100;

const onRequest = requireKey({ scope: 'webhooks_write', role: 'member' });
const described = { tags: ['Webhooks'], security: API_KEY_SECURITY, querystring: NoQuery };

export async function webhookRoutes(app: App, services: Services): Promise<void> {
  createRoute(app, services);
  readRoutes(app, services);
  changeRoute(app, services);
  secretRoute(app, services);
  deleteRoute(app, services);
  testRoute(app, services);
  messagesRoute(app, services);
}

/** Takes no Idempotency-Key: a kept answer would keep the secret. */
function createRoute(app: App, { sql, config }: Services): void {
  app.post(
    WEBHOOKS,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'create_webhook',
        summary: 'Create a webhook; its secret is in this answer and nowhere else',
        body: shapes.NewWebhookBody,
        response: { 201: shapes.WebhookWithSecret, ...problems(...BODY_PROBLEMS) },
      },
    },
    async ({ caller, body }, reply) => {
      requireUrl(body.url, config.webhooksPrivate);
      const secret = newSecret();
      const made = await sql.begin((tx) => insertWebhook(tx, caller.workspaceId, { ...body, secret }, MAX_WEBHOOKS));
      if (made === undefined) {
        throw problem('WEBHOOK_LIMIT_REACHED', {
          message: `The workspace has ${MAX_WEBHOOKS} webhooks, the most that it may have. Delete one first.`,
          extras: { limit: MAX_WEBHOOKS, usage: MAX_WEBHOOKS },
        });
      }
      // A secret must not stay in any cache.
      reply
        .code(201)
        .header('cache-control', 'no-store')
        .header('location', linkTo(config, `${WEBHOOKS}/${made.id}`));
      return { ...webhookBody(made), secret };
    },
  );
}

function readRoutes(app: App, { sql }: Services): void {
  app.get(
    WEBHOOKS,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'list_webhooks',
        summary: 'All webhooks of the workspace, oldest first',
        response: { 200: z.object({ data: z.array(shapes.WebhookBody) }), ...problems(...KEY_PROBLEMS) },
      },
    },
    async ({ caller }) => ({ data: (await listWebhooks(sql, caller.workspaceId)).map(webhookBody) }),
  );
  app.get(
    WEBHOOK,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'get_webhook',
        summary: 'A webhook, and how many of its messages wait',
        params: IdParams,
        response: { 200: shapes.WebhookBody, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }) => {
      const id = pathId(params.id, 'webhook');
      return webhookBody(found(await findWebhook(sql, caller.workspaceId, id), id));
    },
  );
}

function changeRoute(app: App, { sql, config }: Services): void {
  app.patch(
    WEBHOOK,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'change_webhook',
        summary: 'Change a webhook, pause it, or let it begin anew',
        params: IdParams,
        body: shapes.WebhookChangeBody,
        response: { 200: shapes.WebhookBody, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, body: { enabled, ...body } }) => {
      const id = pathId(params.id, 'webhook');
      if (body.url !== undefined) requireUrl(body.url, config.webhooksPrivate);
      const change = { ...body, ...(enabled !== undefined && { isEnabled: enabled }) };
      return webhookBody(found(await sql.begin((tx) => changeWebhook(tx, caller.workspaceId, id, change)), id));
    },
  );
}

function secretRoute(app: App, { sql }: Services): void {
  app.post(
    `${WEBHOOK}/secret`,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'replace_webhook_secret',
        summary: 'Give a webhook a new secret, which signs every message from now on',
        params: IdParams,
        response: { 200: shapes.WebhookWithSecret, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }, reply) => {
      const id = pathId(params.id, 'webhook');
      const secret = newSecret();
      const changed = await sql.begin((tx) => changeWebhook(tx, caller.workspaceId, id, { secret }));
      reply.header('cache-control', 'no-store');
      return { ...webhookBody(found(changed, id)), secret };
    },
  );
}

function deleteRoute(app: App, { sql }: Services): void {
  app.delete(
    WEBHOOK,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'delete_webhook',
        summary: 'Delete a webhook with its messages; those that wait are not sent',
        params: IdParams,
        response: { 200: z.object({ deleted: z.literal(true) }), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }) => {
      const id = pathId(params.id, 'webhook');
      if (!(await deleteWebhook(sql, caller.workspaceId, id))) throw notFound('webhook', id);
      return { deleted: true as const };
    },
  );
}

function testRoute(app: App, { sql }: Services): void {
  app.post(
    `${WEBHOOK}/test`,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'test_webhook',
        summary: 'Send the message `webhook.test`, even to a disabled webhook; its messages say what came of it',
        params: IdParams,
        response: { 201: shapes.WebhookMessageBody, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }, reply) => {
      const id = pathId(params.id, 'webhook');
      const message = await sql.begin(async (tx) => {
        const { waiting } = found(await findWebhook(tx, caller.workspaceId, id), id);
        if (waiting < MAX_WAITING_AT_TEST) return addTestMessage(tx, id);
        throw problem('WEBHOOK_LIMIT_REACHED', {
          message: `${waiting} messages wait for it already. Their \`lastError\` says what a test would say.`,
          extras: { limit: MAX_WAITING_AT_TEST, usage: waiting },
        });
      });
      reply.code(201);
      return messageBody(message);
    },
  );
}

function messagesRoute(app: App, { sql }: Services): void {
  app.get(
    `${WEBHOOK}/messages`,
    {
      onRequest,
      schema: {
        ...described,
        operationId: 'list_webhook_messages',
        summary: 'The messages of a webhook, oldest first: delivered ones for 3 days, others for 30',
        params: IdParams,
        querystring: shapes.MessageListQuery,
        response: { 200: pageOf(shapes.WebhookMessageBody), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, query }) => {
      const id = pathId(params.id, 'webhook');
      found(await findWebhook(sql, caller.workspaceId, id), id);
      return paginate(query, messageBody, (page) => listWebhookMessages(sql, id, query, page));
    },
  );
}

const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** @throws NOT_FOUND */
function found(webhook: Webhook | undefined, id: string): Webhook {
  if (webhook === undefined) throw notFound('webhook', id);
  return webhook;
}

/** @throws VALIDATION_FAILED */
function requireUrl(url: string, allowsPrivate: boolean): void {
  const issue = urlFault(url, allowsPrivate);
  if (issue !== null) throw problem('VALIDATION_FAILED', { message: `url ${issue.message}.`, issues: [issue] });
}
