// The webhooks of a workspace, and their messages: what the API reads and changes, and what the worker delivers. The
// messages of ended runs are written by the database itself (functions/note_ended_runs.sql).
import type { Queryable, Transaction } from './connect.ts';
import { keyset, type KeysetPage } from './keyset.ts';
import { addWebhookJob } from './tickets.ts';

/** The kinds of messages that a webhook can ask for. */
export const WEBHOOK_EVENTS = ['backtest.ended', 'sweep.ended', 'robustness.ended'] as const;
type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
/** The kind of the message that a workspace sends itself to try a webhook. */
const TEST_EVENT = 'webhook.test';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: WebhookEvent[];
  readonly isEnabled: boolean;
  readonly disabledReason: string | null;
  readonly waiting: number;
  readonly missed: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastDeliveredAt: Date | null;
}

export interface NewWebhook {
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly WebhookEvent[];
  readonly secret: string;
}

const columns = (sql: Queryable) => sql`
  w.id, w.url, w.description, w.events, w.is_enabled as "isEnabled", w.disabled_reason as "disabledReason", w.missed,
  w.waiting, w.created_at as "createdAt", w.updated_at as "updatedAt", w.last_delivered_at as "lastDeliveredAt"`;

/** Inserts a webhook, unless the workspace has `most` already. @returns undefined when it has */
export async function insertWebhook(
  tx: Transaction,
  workspaceId: string,
  { url, description, events, secret }: NewWebhook,
  most: number,
): Promise<Webhook | undefined> {
  // Two requests at once must not both be the last.
  await tx`select 1 from workspaces where id = ${workspaceId} for no key update`;
  const [made] = await tx<{ id: string }[]>`
    insert into webhooks (workspace_id, url, description, events, secret)
    select ${workspaceId}::uuid, ${url}, ${description}, ${[...events]}::text[], ${secret}
    where (select count(*) from webhooks where workspace_id = ${workspaceId}) < ${most}
    returning id`;
  return made && findWebhook(tx, workspaceId, made.id);
}

/** All webhooks of the workspace, oldest first; there are only a few. */
export const listWebhooks = (sql: Queryable, workspaceId: string) => sql<Webhook[]>`
  select ${columns(sql)} from webhooks w where w.workspace_id = ${workspaceId} order by w.id`;

export async function findWebhook(sql: Queryable, workspaceId: string, id: string): Promise<Webhook | undefined> {
  const [row] = await sql<Webhook[]>`
    select ${columns(sql)} from webhooks w where w.workspace_id = ${workspaceId} and w.id = ${id}`;
  return row;
}

export type WebhookChange = Partial<NewWebhook> & { readonly isEnabled?: boolean };

/**
 * Changes a webhook. Enabling it begins anew: it rests no longer, and all messages that were not delivered are due.
 * @returns undefined when there is none
 */
export async function changeWebhook(
  tx: Transaction,
  workspaceId: string,
  id: string,
  { url, description, events, secret, isEnabled }: WebhookChange,
): Promise<Webhook | undefined> {
  const rows = await tx`
    update webhooks set updated_at = now()
      ${url === undefined ? tx`` : tx`, url = ${url}`}
      ${description === undefined ? tx`` : tx`, description = ${description}`}
      ${events === undefined ? tx`` : tx`, events = ${[...events]}::text[]`}
      ${secret === undefined ? tx`` : tx`, secret = ${secret}`}
      ${isEnabled === undefined ? tx`` : tx`, is_enabled = ${isEnabled}, disabled_reason = null`}
      ${isEnabled ? tx`, failures = 0, rests_until = null` : tx``}
    where workspace_id = ${workspaceId} and id = ${id} returning 1`;
  if (rows.length === 0) return undefined;
  if (isEnabled) {
    await tx`
      with due as (
        update webhook_messages set due_at = now(), attempts = 0
        where webhook_id = ${id} and delivered_at is null returning 1)
      update webhooks set waiting = (select count(*) from due) where id = ${id}`;
    await addWebhookJob(tx, id);
  }
  return findWebhook(tx, workspaceId, id);
}

/** Deletes a webhook with its messages. @returns whether there was one */
export async function deleteWebhook(sql: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from webhooks where workspace_id = ${workspaceId} and id = ${id} returning 1`;
  return rows.length > 0;
}

export interface WebhookMessage {
  readonly id: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly dueAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
}

const messageColumns = (sql: Queryable) => sql`
  m.id, m.event, m.body, m.attempts, m.due_at as "dueAt", m.delivered_at as "deliveredAt",
  m.last_status as "lastStatus", m.last_error as "lastError", m.created_at as "createdAt"`;

/** Adds a test message to a webhook, and a job that delivers it at once. */
export async function addTestMessage(tx: Transaction, webhookId: string): Promise<WebhookMessage> {
  await tx`update webhooks set waiting = waiting + 1 where id = ${webhookId}`;
  const [message] = await tx<WebhookMessage[]>`
    insert into webhook_messages as m (webhook_id, event, body)
    values (${webhookId}, ${TEST_EVENT}, ${JSON.stringify({
      type: TEST_EVENT,
      timestamp: new Date().toISOString(),
      data: { webhookId },
    })})
    returning ${messageColumns(tx)}`;
  await addWebhookJob(tx, webhookId);
  return message;
}

/** What became of a message. */
export const MESSAGE_STATES = ['waiting', 'delivered', 'given_up'] as const;
type MessageState = (typeof MESSAGE_STATES)[number];

export async function listWebhookMessages(
  sql: Queryable,
  webhookId: string,
  { state }: { readonly state?: MessageState | undefined },
  page: KeysetPage,
): Promise<{ rows: { row: WebhookMessage; value: string; id: string }[]; total: number }> {
  const states = {
    waiting: sql`and m.due_at is not null`,
    delivered: sql`and m.delivered_at is not null`,
    given_up: sql`and m.delivered_at is null and m.due_at is null`,
  };
  const where = sql`m.webhook_id = ${webhookId} ${state ? states[state] : sql``}`;
  const { value, startsAfter, orderAndLimit } = keyset(
    sql,
    { expression: 'm.created_at', type: 'timestamptz' },
    'm.id',
    page,
  );
  const rows = await sql<(WebhookMessage & { sortValue: string })[]>`
    select ${messageColumns(sql)}, ${value} as "sortValue" from webhook_messages m
    where ${where} ${startsAfter} ${orderAndLimit}`;
  const [{ total }] = await sql<[{ total: number }]>`
    select count(*)::int as total from webhook_messages m where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row, value: sortValue, id: row.id })), total };
}

/** The workspace of a webhook; undefined when it is gone. */
export async function findWebhookOwner(sql: Queryable, webhookId: string): Promise<string | undefined> {
  const [row] = await sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId" from webhooks where id = ${webhookId}`;
  return row?.workspaceId;
}

/** A delivery: the due messages of one webhook, which no other worker sends meanwhile. */
export interface Delivery {
  readonly workspaceId: string;
  readonly url: string;
  readonly secret: string;
  readonly failures: number;
  readonly messages: readonly Pick<WebhookMessage, 'id' | 'body' | 'attempts'>[];
}

/**
 * Takes the messages that are due, oldest first; of a webhook that is disabled or rests, only tests. They are due again
 * after `leaseMs`, should the process die meanwhile.
 * @returns undefined when the webhook is gone
 */
export async function takeDelivery(
  sql: Queryable,
  webhookId: string,
  most: number,
  leaseMs: number,
): Promise<Delivery | undefined> {
  const [row] = await sql<Delivery[]>`
    with taken as (
      update webhook_messages m set attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 millisecond'
      where m.id in (
        select due.id from webhook_messages due join webhooks w on w.id = due.webhook_id
        where due.webhook_id = ${webhookId} and due.due_at <= now()
          and (due.event = ${TEST_EVENT} or w.is_enabled and (w.rests_until is null or w.rests_until <= now()))
        order by due.due_at, due.id limit ${most} for update of due skip locked)
      returning m.id, m.body, m.attempts
    )
    select w.workspace_id as "workspaceId", w.url, w.secret, w.failures,
      (select coalesce(json_agg(json_build_object('id', id, 'body', body, 'attempts', attempts) order by id), '[]')
        from taken) as messages
    from webhooks w where w.id = ${webhookId}`;
  return row;
}

/** How one message fared. */
export interface Attempt {
  readonly id: string;
  /** Unsent: it was left for the next delivery, and the attempt does not count. */
  readonly outcome: 'delivered' | 'failed' | 'unsent';
  readonly status: number | null;
  readonly error: string | null;
  /** In how many ms it is tried again; null: never. */
  readonly retryInMs: number | null;
}

/** What a delivery means for its webhook. */
export interface Aftermath {
  readonly failures: number;
  /** How long it rests, in ms. */
  readonly restMs: number;
  /** Why it is disabled; null: it is not. */
  readonly disabledReason: string | null;
}

/** Records a delivery, and adds the job for whatever is due next. */
export async function finishDelivery(
  tx: Transaction,
  webhookId: string,
  attempts: readonly Attempt[],
  { failures, restMs, disabledReason }: Aftermath,
): Promise<void> {
  // A webhook is locked before its messages, as when it is changed.
  await tx`select 1 from webhooks where id = ${webhookId} for no key update`;
  // A message that outlived its lease may have been delivered by another process meanwhile.
  const written = await tx<{ isEnded: boolean }[]>`
    update webhook_messages m set
      delivered_at = case when a.outcome = 'delivered' then now() end,
      attempts = case when a.outcome = 'unsent' then attempts - 1 else attempts end,
      last_status = case when a.outcome = 'unsent' then last_status else a.status end,
      last_error = case when a.outcome = 'unsent' then last_error else a.error end,
      due_at = now() + a."retryInMs" * interval '1 millisecond'
    from json_to_recordset(${JSON.stringify(attempts)}::text::json)
      as a (id uuid, outcome text, status integer, error text, "retryInMs" double precision)
    where m.id = a.id and m.due_at is not null returning m.due_at is null as "isEnded"`;
  const ended = written.filter(({ isEnded }) => isEnded).length;
  const hasDelivered = attempts.some(({ outcome }) => outcome === 'delivered');
  await tx`
    update webhooks set waiting = waiting - ${ended}, failures = ${failures},
      rests_until = case when ${restMs}::float8 > 0 then now() + ${restMs} * interval '1 millisecond' end,
      last_delivered_at = case when ${hasDelivered} then now() else last_delivered_at end,
      is_enabled = is_enabled and ${disabledReason === null},
      disabled_reason = coalesce(${disabledReason}, disabled_reason)
    where id = ${webhookId}`;
  await addNextWebhookJob(tx, webhookId);
}

/** Adds a job for the time at which the webhook's next message is due; none when nothing waits. */
export async function addNextWebhookJob(sql: Queryable, webhookId: string): Promise<void> {
  const [next] = await sql<{ inMs: number }[]>`
    select greatest(0, extract(epoch from greatest(w.rests_until, min(m.due_at)) - now()) * 1000)::float8 as "inMs"
    from webhooks w join webhook_messages m on m.webhook_id = w.id
    where w.id = ${webhookId} and w.is_enabled and m.due_at is not null
    group by w.id`;
  if (next !== undefined) await addWebhookJob(sql, webhookId, next.inMs);
}

/** Deletes delivered messages older than three days, and those given up a month ago. @returns how many */
export async function deleteOldWebhookMessages(sql: Queryable, slice: number): Promise<number> {
  const rows = await sql`
    delete from webhook_messages where id in (
      select id from webhook_messages
      where due_at is null and created_at < now() - interval '3 days'
        and (delivered_at is not null or created_at < now() - interval '30 days')
      order by created_at limit ${slice}) returning 1`;
  return rows.length;
}
