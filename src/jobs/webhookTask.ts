// The webhook task: delivers what is due at one webhook, records what came of it, and says when the next try is.
import pLimit from 'p-limit';
import type { Sql } from '../db/connect.ts';
import { addNextWebhookJob, finishDelivery, findWebhookOwner, takeDelivery } from '../db/webhooks.ts';
import type { Aftermath, Attempt, Delivery } from '../db/webhooks.ts';
import { addWebhookJob, PASS_ON_MS } from '../db/tickets.ts';
import type { Receipt } from './webhookRequest.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The pause after each attempt of a message, as Standard Webhooks suggests: three days in all, then it is given up. */
const RETRY_AFTER = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** How long a webhook rests after its first delivery that failed as a whole; then twice as long each time. */
const REST_MS = 5 * SECOND;
const MAX_REST_MS = HOUR;

/** Messages of one delivery, and how long it begins to send them before it leaves its place to others. */
const MESSAGES_PER_DELIVERY = 100;
const DELIVERY_MS = 10 * SECOND;
const SENT_AT_A_TIME = 4;
const GONE = 410;
/** Longer than any delivery, with its last attempt. */
const LEASE_MS = MINUTE;
/** Webhooks that one process delivers to at a time, and those of one workspace among them. */
export const WEBHOOK_PLACES = 4;
const PLACES_PER_WORKSPACE = 2;

/** Delivers to a few webhooks at a time: slow receivers of one workspace leave places for others. */
export class WebhookDeliveries {
  readonly #sql: Sql;
  readonly #allowsPrivate: boolean;
  /** How many deliveries each workspace has under way. */
  readonly #underWay = new Map<string, number>();
  readonly #stopping = new AbortController();
  #places = 0;

  constructor(sql: Sql, allowsPrivate: boolean) {
    this.#sql = sql;
    this.#allowsPrivate = allowsPrivate;
  }

  /** Ends attempts under way; what they sent is sent again under the same id. */
  close(): void {
    this.#stopping.abort();
  }

  /** Delivers the messages that are due at a webhook; a job for the next ones is added. */
  async deliver(webhookId: string): Promise<void> {
    if (this.#places === WEBHOOK_PLACES) return addWebhookJob(this.#sql, webhookId, PASS_ON_MS);
    this.#places++;
    try {
      await this.#deliverInPlace(webhookId);
    } finally {
      this.#places--;
    }
  }

  async #deliverInPlace(webhookId: string): Promise<void> {
    const sql = this.#sql;
    const workspaceId = await findWebhookOwner(sql, webhookId);
    if (workspaceId === undefined) return;
    const others = this.#underWay.get(workspaceId) ?? 0;
    if (others === PLACES_PER_WORKSPACE) return addWebhookJob(sql, webhookId, PASS_ON_MS);
    this.#underWay.set(workspaceId, others + 1);
    try {
      const delivery = await takeDelivery(sql, webhookId, MESSAGES_PER_DELIVERY, LEASE_MS);
      if (delivery === undefined || delivery.messages.length === 0) return await addNextWebhookJob(sql, webhookId);
      const attempts = await this.#send(delivery);
      await sql.begin((tx) => finishDelivery(tx, webhookId, attempts, aftermathOf(delivery.failures, attempts)));
    } finally {
      const left = this.#underWay.get(workspaceId)! - 1;
      if (left === 0) this.#underWay.delete(workspaceId);
      else this.#underWay.set(workspaceId, left);
    }
  }

  /**
   * Sends a few messages at a time. Once four in a row have failed, the receiver is taken to be down, and the other
   * messages are left for the next delivery.
   */
  async #send({ url, secret, messages }: Delivery): Promise<Attempt[]> {
    const limit = pLimit(SENT_AT_A_TIME);
    // Loaded with the first message: it needs clients of HTTP and of TLS, which most workers never do.
    const { sendMessage } = await import('./webhookRequest.ts');
    const until = performance.now() + DELIVERY_MS;
    const stopping = this.#stopping.signal;
    let failuresInRow = 0;
    const send = async ({ id, body, attempts }: Delivery['messages'][number]): Promise<Attempt> => {
      const unsent: Attempt = { id, outcome: 'unsent', status: null, error: null, retryInMs: 0 };
      if (failuresInRow >= SENT_AT_A_TIME || performance.now() > until || stopping.aborted) return unsent;
      const receipt = await sendMessage({ url, secret, id, body }, this.#allowsPrivate, stopping);
      if (stopping.aborted && receipt.status === undefined) return unsent;
      const attempt = attemptOf(id, receipt, attempts);
      failuresInRow = attempt.outcome === 'delivered' ? 0 : failuresInRow + 1;
      return attempt;
    };
    return Promise.all(messages.map((message) => limit(send, message)));
  }
}

/** @param attempts how often it has been sent, this time included */
function attemptOf(id: string, { status, error }: Receipt, attempts: number): Attempt {
  if (status !== undefined && status >= 200 && status < 300)
    return { id, outcome: 'delivered', status, error: null, retryInMs: null };
  const isRedirect = status !== undefined && status >= 300 && status < 400;
  const failure = error ?? `the receiver answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  return {
    id,
    outcome: 'failed',
    status: status ?? null,
    error: failure,
    retryInMs: RETRY_AFTER[attempts - 1] ?? null,
  };
}

/**
 * What a delivery means for its webhook. If all that was sent failed, it rests. A receiver that is gone, or that has
 * refused everything until a message was given up, disables it.
 * @param before deliveries before this one that failed as a whole, in a row
 */
export function aftermathOf(before: number, attempts: readonly Attempt[]): Aftermath {
  const sent = attempts.filter(({ outcome }) => outcome !== 'unsent');
  const hasFailed = sent.length > 0 && sent.every(({ outcome }) => outcome === 'failed');
  const hasGone = sent.some(({ status }) => status === GONE);
  if (!hasFailed && !hasGone) return { failures: sent.length > 0 ? 0 : before, restMs: 0, disabledReason: null };
  const hasGivenUp = sent.some(({ retryInMs }) => retryInMs === null);
  const reasons = [
    ...(hasGone ? [`The receiver answered ${GONE}: it is gone for good.`] : []),
    ...(hasGivenUp ? [`Nothing was delivered for three days: ${sent.at(-1)?.error}.`] : []),
  ];
  return {
    failures: before + 1,
    restMs: Math.min(REST_MS * 2 ** before, MAX_REST_MS),
    disabledReason: reasons[0] ?? null,
  };
}
