// The table of problems: every way a request can fail, what it means, and what its sender can do.
import type { ProblemDefinition } from './problemDefinition.ts';

export const PROBLEMS = {
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not valid JSON',
    retryable: false,
    help:
      'The body could not be parsed, or holds a forbidden key (`__proto__`, `constructor.prototype`). Send one JSON ' +
      'value.',
  },
  MALFORMED_REQUEST: {
    status: 400,
    title: 'The request cannot be understood',
    retryable: false,
    help: 'The request line or a header is not valid HTTP, or the body was cut off. Send the request again as a whole.',
  },
  VALIDATION_FAILED: {
    status: 400,
    title: 'The request does not have the documented shape',
    retryable: false,
    help:
      'A member or query parameter is missing, unknown, given twice, of the wrong type or out of bounds. `issues` ' +
      'names each with its path.',
  },
  CREDENTIALS_DIFFER: {
    status: 400,
    title: 'The request has two different credentials',
    retryable: false,
    help:
      '`x-api-key` and `Authorization: Bearer` hold different values, and the service does not choose between them. ' +
      'Send one of the two headers.',
  },
  CURSOR_INVALID: {
    status: 400,
    title: 'The cursor does not belong to this list',
    retryable: false,
    help: 'A cursor holds for the sort and filters it was made with. Start again without `cursor`.',
  },
  API_KEY_MISSING: {
    status: 401,
    title: 'No API key was sent',
    retryable: false,
    help: 'Send `x-api-key: <API_KEY>` or `Authorization: Bearer <API_KEY>`.',
  },
  API_KEY_INVALID: {
    status: 401,
    title: 'The API key is not valid',
    retryable: false,
    help: 'Wrong format, unknown key, wrong secret, another scheme than Bearer, or a JWT where an API key is needed.',
  },
  API_KEY_REVOKED: {
    status: 401,
    title: 'The API key has been revoked',
    retryable: false,
    help: 'A revoke is final. Create another key.',
  },
  API_KEY_EXPIRED: {
    status: 401,
    title: 'The API key has expired',
    retryable: false,
    help: '`expiresAt` lies in the past. Create another key.',
  },
  API_KEY_CREATOR_INACTIVE: {
    status: 401,
    title: 'The creator of the API key has left the workspace',
    retryable: false,
    help: 'A key stands for its creator; when the membership ends, the key is revoked. Create another key.',
  },
  JWT_INVALID: {
    status: 401,
    title: 'The access token is missing or not valid',
    retryable: false,
    help: 'Management routes need `Authorization: Bearer <JWT>`, signed by the configured issuer and not expired.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    title: 'The API key lacks a scope',
    retryable: false,
    help: '`requiredScopes` names what the route needs. Create a key that has it.',
  },
  INSUFFICIENT_ROLE: {
    status: 403,
    title: 'The role does not allow this',
    retryable: false,
    help: 'A `viewer` key cannot write, whatever its scopes are; management routes need an owner or admin.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    title: 'Web pages of this origin may not call /mcp',
    retryable: false,
    help:
      'A browser sent the request for a page of another origin. Only pages of PUBLIC_URL, of ALLOWED_ORIGINS and of ' +
      'the own machine may call `/mcp`; programs that send no `Origin` always may.',
  },
  API_KEY_LIMIT_REACHED: {
    status: 403,
    title: 'The workspace has as many active API keys as its tier allows',
    retryable: false,
    help: '`limit` and `usage` say how many. Expired and revoked keys do not count.',
  },
  WEBHOOK_LIMIT_REACHED: {
    status: 403,
    title: 'The workspace has too many webhooks, or the webhook too many waiting messages',
    retryable: false,
    help: 'A workspace may have ten webhooks. A webhook is not tested while a hundred messages wait for it.',
  },
  TIER_LIMIT_REACHED: {
    status: 403,
    title: "A limit of the workspace's tier has been reached",
    retryable: false,
    help: '`limitName`, `limit` and `usage` say which. `GET /public/v1/capabilities` lists all of them.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Not found',
    retryable: false,
    help: 'No such route, or no such thing in this workspace. What belongs to another workspace is not found either.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The route does not have this method',
    retryable: false,
    help: 'The `Allow` header lists the methods it has.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request took too long to arrive',
    retryable: true,
    help: 'Headers must arrive within 15 seconds and the whole request within 60. The connection is closed.',
  },
  VERSION_NOT_DRAFT: {
    status: 409,
    title: 'The version is ready and has other content',
    retryable: false,
    help:
      'A ready version never changes. Finalize without `version` to make a new one; `existing` names the one that is ' +
      'there.',
  },
  VERSION_IN_USE: {
    status: 409,
    title: 'The version cannot be deleted',
    retryable: false,
    help:
      'Backtests or sweeps have run the version, or it is the newest of its strategy. Archive the strategy instead, ' +
      'or finalize a newer version first.',
  },
  STRATEGY_ARCHIVED: {
    status: 409,
    title: 'The strategy is archived',
    retryable: false,
    help:
      'An archived strategy keeps its versions and backtests but takes no new versions. PATCH /strategies/{id} ' +
      'with `archived` false takes it back into use.',
  },
  STRATEGY_VERSION_NOT_READY: {
    status: 409,
    title: 'The strategy version is a draft',
    retryable: false,
    help: 'Only ready versions can be run. Finalize it first.',
  },
  BACKTEST_ALREADY_TERMINAL: {
    status: 409,
    title: 'The backtest has already ended',
    retryable: false,
    help: 'A terminal state never changes.',
  },
  BACKTEST_NOT_TERMINAL: {
    status: 409,
    title: 'The backtest has not ended',
    retryable: false,
    help:
      'Only a completed, failed or cancelled backtest can be deleted. Cancel it with POST ' +
      '/public/v1/backtests/{id}/cancel, then delete it.',
  },
  SWEEP_ALREADY_TERMINAL: {
    status: 409,
    title: 'The sweep has already ended',
    retryable: false,
    help: 'A completed, failed or cancelled sweep cannot be cancelled.',
  },
  ROBUSTNESS_ALREADY_TERMINAL: {
    status: 409,
    title: 'The robustness check has already ended',
    retryable: false,
    help: 'A completed, failed or cancelled check cannot be cancelled.',
  },
  SWEEP_NOT_TERMINAL: {
    status: 409,
    title: 'The sweep has not ended',
    retryable: false,
    help:
      'Only a completed, failed or cancelled sweep can be deleted. Cancel it with POST ' +
      '/public/v1/sweeps/{id}/cancel, then delete it.',
  },
  ARTIFACT_NOT_REPRODUCIBLE: {
    status: 409,
    title: 'The backtest could not be run again',
    retryable: false,
    help:
      'Every artifact but the trades is made by running the pinned inputs again, and that failed; the message says ' +
      'why. The stored result and the trades artifact remain available.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    retryable: true,
    help: 'Send the same request again after a moment to get its answer.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    retryable: false,
    help:
      'Any body is at most 8 MiB; strategyAst and signalGraph together are limited by tier. `limit` says how many ' +
      'bytes.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not application/json',
    retryable: false,
    help: 'Send `Content-Type: application/json`, and no `Content-Encoding`: bodies are not decompressed.',
  },
  STRATEGY_INVALID: {
    status: 422,
    title: 'The strategy has blocking issues',
    retryable: false,
    help:
      '`issues` lists all of them, each with path, message and suggestion, where certain with a `patch`. Nothing was ' +
      'stored.',
  },
  WARNINGS_REQUIRE_CONFIRMATION: {
    status: 422,
    title: 'A warning asks for acknowledgement',
    retryable: false,
    help: 'An entry can never be true. Repair it, or finalize with `ignoreWarnings: true`.',
  },
  BACKTEST_CONFIG_INVALID: {
    status: 422,
    title: 'The backtest config cannot be run',
    retryable: false,
    help:
      '`issues` names each fault: unknown symbol, tiers out of order, a timeframe the strategy does not allow, ' +
      'unknown params.',
  },
  SWEEP_INVALID: {
    status: 422,
    title: 'The sweep cannot be run',
    retryable: false,
    help: 'The space, the budget or a constraint does not fit the strategy. `issues` names each with its path.',
  },
  MARKET_DATA_INVALID: {
    status: 422,
    title: 'The file cannot be imported',
    retryable: false,
    help:
      'What an import refuses: `issues` names each fault with its code and row, and the message names the parameter ' +
      'that settles it. A file is imported whole or not at all.',
  },
  RANGE_NO_DATA: {
    status: 422,
    title: 'The range holds no bars',
    retryable: false,
    help: '`GET /public/v1/market-data` lists what there is.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The Idempotency-Key was used with another body',
    retryable: false,
    help: 'A key stands for one request. Use a new key for another one.',
  },
  QUEUE_FULL: {
    status: 429,
    title: "The workspace's queue is full",
    retryable: true,
    help:
      'As many backtests or sweeps are queued or running as the workspace may have (`limit`). Wait until ' +
      'some have ended, at least the seconds of `Retry-After`, and send the request again.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    retryable: true,
    help:
      'More requests per minute, or at the same time, than the tier allows; the message says which. `Retry-After` ' +
      'says in how many seconds to try again.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    retryable: false,
    help: 'All headers together are at most 16 KiB. The connection is closed.',
  },
  INTERNAL_ERROR: {
    status: 500,
    title: 'Something went wrong on our side',
    retryable: true,
    help: 'Send the request again once. The `requestId` finds it in the log.',
  },
  REQUEST_STOPPED: {
    status: 503,
    title: 'Computing the answer took too long',
    retryable: true,
    help:
      'The answer had been computed for more than five seconds, and was stopped so that others could be answered. ' +
      'Send a smaller or simpler request. Other large requests of the workspace are refused for the seconds of ' +
      '`Retry-After`.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'The service cannot answer now',
    retryable: true,
    help: 'The database is away or the process is stopping. Try again in a moment.',
  },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof PROBLEMS;
