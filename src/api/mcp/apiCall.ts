// A call of the public API on behalf of an MCP client: the same routes as over HTTP, in this process or on another
// host.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';
import type { App } from '../services.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path from the root, with the query. */
  readonly path: string;
  readonly body?: unknown;
  /** In place of a body: the bytes of a file. */
  readonly file?: Uint8Array;
  readonly idempotencyKey?: string | undefined;
}
export interface ApiAnswer {
  readonly status: number;
  /** The parsed body if it is JSON, else its text. */
  readonly body: unknown;
  /** The value of a header, by its lower-case name; null when it is absent. */
  readonly header: (name: string) => string | null;
}
export type CallApi = (request: ApiRequest, signal?: AbortSignal) => Promise<ApiAnswer>;

type Headers = Readonly<Record<string, string>>;

function headersOf(credentials: Headers, { body, file, idempotencyKey }: ApiRequest): Record<string, string> {
  return {
    ...credentials,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(file !== undefined && { 'content-type': 'application/octet-stream' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
}

function answerOf(status: number, header: ApiAnswer['header'], text: string): ApiAnswer {
  const isJson = /\bjson\b/.test(header('content-type') ?? '');
  return { status, header, body: isJson ? JSON.parse(text) : text };
}

/** The requests to /mcp that are being served, each in its own chain of calls: nothing that a client sends is one. */
const messages = new AsyncLocalStorage<FastifyRequest>();

/** Serves the message of a request to /mcp; calls of the API within `serve` are made for it. */
export const serveMessage = <Result>(message: FastifyRequest, serve: () => Result): Result =>
  messages.run(message, serve);

/** The request to /mcp for which the current call of the API is made; undefined: there is none. */
export const servedMessage = (): FastifyRequest | undefined => messages.getStore();

/** Synchronous work for a workspace, whose time is counted. */
export type Measure = <Result>(work: () => Result) => Result;

/**
 * Calls the app of this process.
 * @param credentials the header that carries the API key, as the client sent it
 */
export function callApp(app: App, credentials: Headers, measure: Measure): CallApi {
  return async (request, signal) => {
    const text = request.body === undefined ? undefined : measure(() => JSON.stringify(request.body));
    const payload = request.file === undefined ? text : Buffer.from(request.file);
    const answer = await app.inject({
      method: request.method,
      url: request.path,
      headers: headersOf(credentials, request),
      ...(payload !== undefined && { payload }),
      ...(signal && { signal }),
    });
    const header = (name: string): string | null => answer.headers[name]?.toString() ?? null;
    return measure(() => answerOf(answer.statusCode, header, answer.payload));
  };
}

/** Calls a server over HTTP. @param baseUrl without a trailing slash. */
export function callUrl(baseUrl: string, apiKey: string): CallApi {
  return async (request, signal) => {
    try {
      const answer = await fetch(baseUrl + request.path, {
        method: request.method,
        headers: headersOf({ 'x-api-key': apiKey }, request),
        ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
        ...(request.file !== undefined && { body: new Uint8Array(request.file) }),
        ...(signal && { signal }),
      });
      return answerOf(answer.status, (name) => answer.headers.get(name), await answer.text());
    } catch (error) {
      if (signal?.aborted) throw error;
      return noAnswer(baseUrl, request, error);
    }
  };
}

/** Codes of errors before anything was sent. */
const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/** The answer for a server that cannot be reached, or whose answer did not arrive. */
function noAnswer(baseUrl: string, { method, idempotencyKey }: ApiRequest, error: unknown): ApiAnswer {
  const cause = error instanceof Error ? ((error.cause as { readonly code?: unknown } | undefined) ?? {}) : {};
  const isRepeatable = NOT_SENT.has(cause.code) || method === 'GET' || idempotencyKey !== undefined;
  const message = NOT_SENT.has(cause.code)
    ? `No Candlepool service can be reached at ${baseUrl}. ` +
      'Start it with `candlepool serve`, then send the same call again.'
    : `The connection to ${baseUrl} broke before the answer arrived. ` +
      (isRepeatable
        ? 'Send the same call again.'
        : 'The call may have been carried out: look for what it makes before you send it again.');
  const body = { status: 503, code: 'UNAVAILABLE', message, retryable: isRepeatable, retryAfterSeconds: 1 };
  return { status: 503, header: () => null, body };
}
