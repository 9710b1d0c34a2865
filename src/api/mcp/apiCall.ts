// A call of the public API on behalf of an MCP client: the same routes as over HTTP, in this process or on another
// host.
import type { App } from '../services.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** From the root, query included. */
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}
export type CallApi = (request: ApiRequest, signal?: AbortSignal) => Promise<ApiAnswer>;

type Headers = Readonly<Record<string, string>>;

function headersOf(credentials: Headers, { body, idempotencyKey }: ApiRequest): Record<string, string> {
  return {
    ...credentials,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
}

const bodyOf = (text: string): unknown => (text === '' ? null : JSON.parse(text));

/** Calls the app of this process. @param credentials the header that carries the API key, as the client sent it. */
export function callApp(app: App, credentials: Headers): CallApi {
  return async (request, signal) => {
    const answer = await app.inject({
      method: request.method,
      url: request.path,
      headers: headersOf(credentials, request),
      ...(request.body !== undefined && { payload: JSON.stringify(request.body) }),
      ...(signal && { signal }),
    });
    return { status: answer.statusCode, body: bodyOf(answer.payload) };
  };
}

/** Calls a server over HTTP. @param baseUrl without a trailing slash. */
export function callUrl(baseUrl: string, apiKey: string): CallApi {
  return async (request, signal) => {
    const answer = await fetch(baseUrl + request.path, {
      method: request.method,
      headers: headersOf({ 'x-api-key': apiKey }, request),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(signal && { signal }),
    });
    return { status: answer.status, body: bodyOf(await answer.text()) };
  };
}
