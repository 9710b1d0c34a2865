// The shapes of webhooks and of their messages in requests and answers, and the addresses that a webhook may have.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { MESSAGE_STATES, WEBHOOK_EVENTS } from '../../db/webhooks.ts';
import type { Webhook, WebhookMessage } from '../../db/webhooks.ts';
import { fixedListQuery } from '../http/pagination.ts';
import { instant, instantOrNull, isoOrNull, Json, text, Uuid } from '../http/routeSchemas.ts';
import type { ProblemIssue } from '../http/problems.ts';

const MAX_URL = 2_000;
const Url = text(1, MAX_URL).meta({
  description: 'The receiver: an https address without user and password. Redirects are not followed.',
  format: 'uri',
});
const Description = text(0, 500).nullable();
const Events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1)
  .max(100)
  .meta({ description: 'The kinds of messages that are sent; `ended` is completed, failed or cancelled.' });

export const NewWebhookBody = z
  .strictObject({
    url: Url,
    description: Description.default(null),
    events: Events.default([...WEBHOOK_EVENTS]),
  })
  .meta({
    id: 'NewWebhook',
    examples: [{ url: 'https://example.com/candlepool', events: ['backtest.ended', 'sweep.ended'] }],
  });

export const WebhookChangeBody = z
  .strictObject({
    url: Url.optional(),
    description: Description.optional(),
    events: Events.optional(),
    enabled: z
      .boolean()
      .optional()
      .meta({
        description:
          '`false` pauses it: runs that end meanwhile are not told. `true` begins anew: messages that were not ' +
          'delivered are due again.',
      }),
  })
  .refine((change) => Object.keys(change).length > 0, 'must name at least one member to change')
  .meta({ id: 'WebhookChange', examples: [{ enabled: true }] });

const members = {
  id: Uuid,
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  enabled: z.boolean(),
  disabledReason: z.string().nullable().meta({
    description: 'Why the service disabled it: the receiver answered 410, or nothing was delivered for three days.',
  }),
  waiting: z.int().meta({ description: 'Messages that are still to be delivered.' }),
  missed: z.int().meta({ description: 'Messages that were not kept, because 10,000 were waiting.' }),
  createdAt: instant('When it was made.'),
  updatedAt: instant('When its workspace last changed it.'),
  lastDeliveredAt: instantOrNull('When the receiver last answered with 2xx; null: never.'),
};
export const WebhookBody = z.object(members).meta({ id: 'Webhook' });
export const WebhookWithSecret = z
  .object({
    ...members,
    secret: z.string().meta({ description: 'What its messages are signed with: only here, only once.' }),
  })
  .meta({ id: 'WebhookWithSecret' });

export const MessageListQuery = fixedListQuery({ state: z.enum(MESSAGE_STATES).optional() });

export const WebhookMessageBody = z
  .object({
    id: Uuid.meta({ description: 'The header `webhook-id` of every attempt.' }),
    type: z.string(),
    body: Json.meta({ description: 'What is sent.' }),
    state: z.enum(MESSAGE_STATES),
    attempts: z.int(),
    nextAttemptAt: instantOrNull('When it is tried next; null: it was delivered or given up.'),
    deliveredAt: instantOrNull('When the receiver answered with 2xx; null: it did not.'),
    lastStatus: z.int().nullable().meta({ description: 'Of the last answer; null: there was none.' }),
    lastError: z.string().nullable().meta({ description: 'What went wrong at the last attempt; null: nothing.' }),
    createdAt: instant('When the run ended.'),
  })
  .meta({ id: 'WebhookMessage' });

export function webhookBody({ isEnabled, ...webhook }: Webhook): z.input<typeof WebhookBody> {
  return {
    ...webhook,
    enabled: isEnabled,
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
    lastDeliveredAt: isoOrNull(webhook.lastDeliveredAt),
  };
}

export function messageBody(message: WebhookMessage): z.input<typeof WebhookMessageBody> {
  const { deliveredAt, dueAt } = message;
  const undelivered = dueAt === null ? 'given_up' : 'waiting';
  return {
    id: message.id,
    type: message.event,
    body: JSON.parse(message.body) as Record<string, unknown>,
    state: deliveredAt === null ? undelivered : 'delivered',
    attempts: message.attempts,
    nextAttemptAt: isoOrNull(dueAt),
    deliveredAt: isoOrNull(deliveredAt),
    lastStatus: message.lastStatus,
    lastError: message.lastError,
    createdAt: message.createdAt.toISOString(),
  };
}

/**
 * What is wrong with the address of a receiver; null: nothing. A name that leads to a private address is refused when
 * the worker connects, since it may lead elsewhere by then.
 * @param allowsPrivate whether the operator allows private addresses and receivers without TLS
 */
export function urlFault(given: string, allowsPrivate: boolean): ProblemIssue | null {
  const fault = (message: string): ProblemIssue => ({ code: 'INVALID_URL', path: '/url', field: 'url', message });
  if (!URL.canParse(given)) return fault('must be a whole address, such as https://example.com/candlepool');
  const { protocol, hostname, username, password } = new URL(given);
  if (username !== '' || password !== '')
    return fault('must have no user and password; check the signature of each message instead');
  if (allowsPrivate && protocol === 'http:') return null;
  if (protocol !== 'https:') return fault(`must begin with https://, not ${protocol}//`);
  if (allowsPrivate) return null;
  const address = hostname.replace(/^\[|\]$/g, '');
  const isPrivate =
    isIP(address) > 0 ? ipaddr.parse(address).range() !== 'unicast' : /(^|\.)(localhost|local|internal)$/.test(address);
  if (!isPrivate) return null;
  return fault('must be a public address; the operator of the service can allow private ones (WEBHOOKS_PRIVATE=on)');
}
