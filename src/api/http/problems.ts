// Problems: an expected failure on its way to the caller, and the RFC 9457 body that says which one it was.
import { PROBLEMS, type ProblemCode } from './problemTable.ts';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json; charset=utf-8';

/** One fault of a request: an RFC 6901 pointer into the body (or `/query/limit`), and what is wrong there. */
export interface ProblemIssue {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly field?: string;
  readonly severity?: string;
  readonly suggestion?: string;
  readonly patch?: readonly unknown[];
}

interface ProblemOptions {
  /** What a person reads; the texts of 401 and of the key quota are part of the contract. Default: the title. */
  readonly message?: string;
  /** More about this occurrence; default: the message. */
  readonly detail?: string;
  readonly issues?: readonly ProblemIssue[];
  /** Further members of the body: requiredScopes, limit, usage, nextSteps, existing, … */
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** In how many seconds to send it again: in Retry-After, and in the body for clients that see no headers. */
  readonly retryAfterSeconds?: number;
}

/** The wait after an outage, which may last for any time. */
const OUTAGE_RETRY_SECONDS = 1;

/**
 * An expected failure on its way to the caller. Thrown by handlers and hooks, turned into a body by the app's error
 * handler.
 */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly issues: readonly ProblemIssue[] | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    const message = options.message ?? `${PROBLEMS[code].title}.`;
    const { status } = PROBLEMS[code];
    // A mistake of the caller needs no stack of our code, and recording one takes longer than everything else here.
    const { stackTraceLimit } = Error;
    if (status < 500) Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ProblemError';
    this.code = code;
    this.status = status;
    this.detail = options.detail ?? message;
    this.issues = options.issues;
    const seconds = options.retryAfterSeconds ?? (status === 503 ? OUTAGE_RETRY_SECONDS : undefined);
    this.extras = { ...options.extras, ...(seconds !== undefined && { retryAfterSeconds: seconds }) };
    this.headers = { ...options.headers, ...(seconds !== undefined && { 'retry-after': String(seconds) }) };
  }
}

/** Makes a problem to throw: `throw problem('NOT_FOUND', {message: 'No strategy has this id.'})`. */
export const problem = (code: ProblemCode, options?: ProblemOptions): ProblemError => new ProblemError(code, options);

/** The message of a problem that has these issues. */
export const faultsMessage = (issues: readonly ProblemIssue[]): string =>
  issues.length === 1 ? issues[0].message : `The request has ${issues.length} faults; see issues.`;

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly message: string;
  readonly code: ProblemCode;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly issues?: readonly ProblemIssue[];
}

/**
 * The type is a name, not an address: docs/problems.md says what it means, and no host of ours needs to outlive the
 * caller.
 */
const problemType = (code: ProblemCode): string => `urn:candlepool:problem:${code.toLowerCase().replaceAll('_', '-')}`;

/**
 * The answer's body. `instance` is the path that was asked for, without its query (which may hold what a log should
 * not).
 */
export function problemBody(error: ProblemError, instance: string, requestId: string): ProblemBody {
  const { title, retryable } = PROBLEMS[error.code];
  return {
    type: problemType(error.code),
    title,
    status: error.status,
    detail: error.detail,
    instance,
    message: error.message,
    code: error.code,
    retryable,
    requestId,
    ...(error.issues ? { issues: error.issues } : {}),
    ...error.extras,
  };
}
