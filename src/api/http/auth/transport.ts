// How a credential travels: `x-api-key`, or `Authorization: Bearer`.
import type { FastifyRequest } from 'fastify';

const BEARER = /^bearer[ \t]+(\S.*)$/i;

/** @returns undefined when nothing was sent; '' when something was sent that holds no credential. */
export function sentApiKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  const apiKey = (Array.isArray(header) ? header.join(',') : header)?.trim();
  return apiKey ? apiKey : sentBearer(request);
}

/** The same for `Authorization` alone; another scheme than Bearer, or a Bearer without value, is ''. */
export function sentBearer(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization?.trim();
  if (!header) return undefined;
  return BEARER.exec(header)?.[1] ?? '';
}
