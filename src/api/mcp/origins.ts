// Origins: which web pages may call /mcp. A page of a foreign site can reach a service on the reader's own machine or
// network, under a name of the site that resolves to the service's address (DNS rebinding).
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import { problem } from '../http/problems.ts';

/** Pages of the own machine, on any port: tools such as the MCP inspector are such pages. */
const LOCAL_HOSTNAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Makes a hook that refuses requests of other pages than those of PUBLIC_URL, of ALLOWED_ORIGINS and of the own
 * machine. Programs send no Origin and pass. The name under which the request came is not proof of anything, since
 * rebinding forges just that; an address is.
 */
export function refuseForeignOrigins({ publicUrl, allowedOrigins }: Pick<Config, 'publicUrl' | 'allowedOrigins'>) {
  const allowed = new Set([...(publicUrl === undefined ? [] : [publicUrl]), ...allowedOrigins].map(originOf));
  return async ({ headers: { origin }, host }: FastifyRequest): Promise<void> => {
    if (origin === undefined || origin === '') return;
    const page = URL.canParse(origin) ? new URL(origin) : undefined;
    const isAllowed =
      page !== undefined &&
      (allowed.has(page.origin) ||
        LOCAL_HOSTNAMES.has(page.hostname) ||
        (page.host === host && isIP(page.hostname.replaceAll(/[[\]]/g, '')) !== 0));
    if (isAllowed) return;
    throw problem('ORIGIN_NOT_ALLOWED', {
      message:
        `Web pages of ${JSON.stringify(origin.slice(0, MAX_SHOWN))} may not call /mcp. If this page should, the ` +
        'operator of the service adds its origin to ALLOWED_ORIGINS.',
    });
  };
}
const MAX_SHOWN = 100;

const originOf = (address: string): string => new URL(address).origin;
