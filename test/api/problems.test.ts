import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problem, problemBody } from '../../src/api/http/problems.ts';
import { problemsDocument } from '../../src/api/http/problemsDocument.ts';
import { PROBLEMS, type ProblemCode } from '../../src/api/http/problemTable.ts';

describe('the table of problems', () => {
  it('generates docs/problems.md (UPDATE_DOCS=1 writes it)', () => {
    const path = new URL('../../docs/problems.md', import.meta.url);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, problemsDocument());
    expect(readFileSync(path, 'utf8')).toBe(problemsDocument());
  });

  it('contains every code of the contract with its status', () => {
    const named: Record<number, string> = {
      400: 'MALFORMED_JSON VALIDATION_FAILED CURSOR_INVALID',
      401: 'API_KEY_MISSING API_KEY_INVALID API_KEY_REVOKED API_KEY_EXPIRED API_KEY_CREATOR_INACTIVE JWT_INVALID',
      403: 'INSUFFICIENT_SCOPE INSUFFICIENT_ROLE API_KEY_LIMIT_REACHED TIER_LIMIT_REACHED',
      404: 'NOT_FOUND',
      405: 'METHOD_NOT_ALLOWED',
      409:
        'VERSION_NOT_DRAFT STRATEGY_ARCHIVED STRATEGY_VERSION_NOT_READY BACKTEST_ALREADY_TERMINAL ' +
        'IDEMPOTENCY_IN_PROGRESS ARTIFACT_NOT_REPRODUCIBLE',
      413: 'PAYLOAD_TOO_LARGE',
      415: 'UNSUPPORTED_MEDIA_TYPE',
      422:
        'STRATEGY_INVALID WARNINGS_REQUIRE_CONFIRMATION BACKTEST_CONFIG_INVALID RANGE_NO_DATA ' +
        'IDEMPOTENCY_KEY_REUSED',
      429: 'QUEUE_FULL RATE_LIMITED',
      503: 'UNAVAILABLE',
    };
    for (const [status, codes] of Object.entries(named))
      for (const code of codes.split(' ')) expect(PROBLEMS[code as ProblemCode]?.status, code).toBe(Number(status));
  });

  it('gives a body the RFC 9457 members, the message, and what helps', () => {
    const error = problem('INSUFFICIENT_SCOPE', {
      message: 'Missing scope strategies_write.',
      extras: { requiredScopes: ['strategies_write'] },
    });
    expect(problemBody(error, '/public/v1/strategies', 'req-1')).toEqual({
      type: 'urn:candlepool:problem:insufficient-scope',
      title: 'The API key lacks a scope',
      status: 403,
      detail: 'Missing scope strategies_write.',
      instance: '/public/v1/strategies',
      message: 'Missing scope strategies_write.',
      code: 'INSUFFICIENT_SCOPE',
      retryable: false,
      requestId: 'req-1',
      requiredScopes: ['strategies_write'],
    });
  });
});
