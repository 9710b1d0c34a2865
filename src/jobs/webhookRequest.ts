// One attempt to deliver a message: a signed POST (Standard Webhooks) that follows no redirect, reads no answer, and
// connects to no private address unless the operator allows it.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { useAgent } from 'request-filtering-agent';
import { Webhook } from 'standardwebhooks';
import { VERSION } from '../config.ts';

/** From the first packet to the status of the answer. */
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;

interface Outgoing {
  readonly url: string;
  readonly secret: string;
  readonly id: string;
  readonly body: string;
}

/** The status of the answer, or why there was none. */
export type Receipt = { readonly status: number; readonly error?: never } | { readonly status?: never; error: string };

/**
 * Sends a message once. The address is checked when the connection is made, after its name was looked up, so that a
 * name cannot turn private after it was checked.
 * @param allowsPrivate whether private and loopback addresses may be reached
 * @param stopping ends the attempt
 */
export function sendMessage(
  { url, secret, id, body }: Outgoing,
  allowsPrivate: boolean,
  stopping: AbortSignal,
): Promise<Receipt> {
  const now = new Date();
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': `candlepool/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': Math.floor(now.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
  const { promise, resolve } = Promise.withResolvers<Receipt>();
  const post = url.startsWith('https:') ? httpsRequest : httpRequest;
  try {
    const sent = post(url, {
      method: 'POST',
      headers,
      agent: useAgent(url, { allowPrivateIPAddress: allowsPrivate, allowMetaIPAddress: allowsPrivate }),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), stopping]),
    });
    sent.on('response', (answer) => {
      resolve({ status: answer.statusCode ?? 0 });
      // Nothing of the body is of use, and it may never end.
      answer.on('error', () => {});
      answer.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ error: reasonOf(error) }));
    sent.end(body);
  } catch (error) {
    // The agent refuses an address that is written as a number before it connects.
    resolve({ error: reasonOf(error as Error) });
  }
  return promise;
}

/** Why nothing was answered, in words that tell nothing of the network that the worker stands in. */
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `no answer within ${TIMEOUT_MS / 1_000} seconds`;
  if (/is not allowed/.test(error.message)) return 'the address is private';
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'the connection was refused',
    ECONNRESET: 'the connection was cut',
    ENOTFOUND: 'the name of the host does not exist',
    EAI_AGAIN: 'the name of the host could not be looked up',
    HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  };
  const code = error.code ?? '';
  if (code in reasons) return reasons[code];
  return /CERT|TLS|SSL|SELF_SIGNED/.test(code) ? `the certificate was refused (${code})` : 'the request failed';
}
