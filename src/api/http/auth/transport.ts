// How a credential travels: `x-api-key`, or `Authorization: Bearer`.
import type { FastifyRequest } from 'fastify';
import { problem } from '../problems.ts';

const BEARER = /^bearer[ \t]+(\S.*)$/i;

/** @returns undefined when nothing was sent; '' when something was sent that holds no credential. */
export function sentApiKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  const apiKey = (Array.isArray(header) ? header.join(',') : header)?.trim();
  return apiKey ? apiKey : sentBearer(request);
}

/**
 * Which of two different credentials is meant cannot be known: a proxy or a library may have added the other one.
 * Another scheme than Bearer, such as the Basic of a proxy, is not a credential of this service.
 * @throws CREDENTIALS_DIFFER
 */
export function refuseTwoCredentials(request: FastifyRequest): void {
  if (request.headers['x-api-key'] === undefined) return;
  const bearer = sentBearer(request);
  if (bearer && sentApiKey(request) !== bearer)
    throw problem('CREDENTIALS_DIFFER', {
      message: 'The headers x-api-key and Authorization hold different credentials. Send one of the two.',
    });
}

/** The same for `Authorization` alone; another scheme than Bearer, or a Bearer without value, is ''. */
export function sentBearer(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization?.trim();
  if (!header) return undefined;
  return BEARER.exec(header)?.[1] ?? '';
}
