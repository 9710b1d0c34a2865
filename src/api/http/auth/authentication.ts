// Authentication: puts the caller on the request and refuses who may not pass; every route names what it needs.
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { findMembership } from '../../../db/members.ts';
import type { MemberRole, Membership } from '../../../db/members.ts';
import type { ApiKeyScope } from '../../../db/apiKeys.ts';
import { problem, ProblemError } from '../problems.ts';
import type { App, Services } from '../../services.ts';
import { checkKey, isKeyStillRight } from './keyCheck.ts';
import type { Caller } from './keyCheck.ts';
import { createKeyReader } from './keyCheck.ts';
import { createLastUsed } from './lastUsed.ts';
import { Secrets } from './secrets.ts';
import { createThrottle } from './throttle.ts';
import { createTokenCheck } from './tokens.ts';
import { refuseTwoCredentials, sentBearer } from './transport.ts';
import { isUuid } from './uuid.ts';

export type { Caller } from './keyCheck.ts';

/**
 * Called for each authenticated request before its scope is checked. Rate limits go here, so that 429 comes before 403.
 */
type Admission = (caller: Caller, request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

/** Called for each request of a signed-in member, before its role is checked. */
type MemberAdmission = (member: Membership, request: FastifyRequest, reply: FastifyReply) => void;
/** Called for each failed authentication; throws another problem instead when there have been too many. */
type Rejection = (request: FastifyRequest) => void;

/** What else happens to a request when its credentials have been checked. */
interface AdmissionHooks {
  readonly admit?: Admission;
  readonly admitMember?: MemberAdmission;
  readonly reject?: Rejection;
}

interface Authentication {
  readonly secrets: Secrets;
  authenticateKey(request: FastifyRequest): Promise<Caller>;
  authenticateMember(request: FastifyRequest, workspaceId: string): Promise<Membership>;
  readonly admit: Admission;
  readonly admitMember: MemberAdmission;
  /** Whether a key still has its rights; asked again during a long answer, such as an event stream. */
  isStillRight(caller: Caller, scope: ApiKeyScope): Promise<boolean>;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly authentication: Authentication;
  }
  interface FastifyRequest {
    /** Set by requireKey; null on other routes. */
    caller: Caller;
    /** Set by requireMember; null on other routes. */
    member: Membership;
  }
}

/** Must be called before the routes are registered. */
export function authenticateRequests(
  app: App,
  services: Services,
  { admit = () => {}, admitMember = () => {}, reject = () => {} }: AdmissionHooks = {},
): void {
  const secrets = new Secrets();
  const lastUsed = createLastUsed(services.sql, services.log);
  const parts = { readKey: createKeyReader(services.shortReads), secrets, throttle: createThrottle(), lastUsed };
  const tokens = createTokenCheck(services.shortReads, services.config);
  const orReject = async <Result>(request: FastifyRequest, check: Promise<Result>): Promise<Result> => {
    try {
      return await check;
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401) reject(request);
      throw error;
    }
  };
  app.addHook('onRequest', async (request) => refuseTwoCredentials(request));
  declareCallers(app);
  app.decorate('authentication', {
    secrets,
    admit,
    admitMember,
    isStillRight: (caller, scope) => isKeyStillRight(caller, scope, parts.readKey),
    authenticateKey: (request) => orReject(request, checkKey(request, parts)),
    authenticateMember: async (request, workspaceId) => {
      const subject = await orReject(request, tokens.subjectOf(sentBearer(request)));
      const membership = isUuid(workspaceId) ? await findMembership(services.shortReads, subject, workspaceId) : null;
      // To anyone else, a workspace does not exist.
      if (membership === null) throw problem('NOT_FOUND', { message: 'Workspace not found.' });
      return membership;
    },
  });
  app.addHook('onClose', () => lastUsed[Symbol.asyncDispose]());
}

/** Gives every request its members; they are null until a route has found out who called it. */
function declareCallers(app: App): void {
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('member', null as unknown as Membership);
}

/** Returns who sent a request that another thread has authenticated. */
export type AuthenticatedAs = (
  request: FastifyRequest,
) => { readonly caller: Caller | null; readonly member: Membership | null; readonly stop?: Int32Array } | undefined;

/** Replaces authenticateRequests on a thread that no client can reach, which is told who the caller is. */
export function trustForwardedRequests(app: App, authenticatedAs: AuthenticatedAs): void {
  declareCallers(app);
  app.addHook('onRequest', async (request) => {
    request.stopFlag = authenticatedAs(request)?.stop ?? null;
  });
  app.decorate('authentication', {
    secrets: new Secrets(),
    admit: () => {},
    admitMember: () => {},
    isStillRight: async () => true,
    authenticateKey: async (request) => authenticatedAs(request)?.caller ?? refuse(),
    authenticateMember: async (request) => authenticatedAs(request)?.member ?? refuse(),
  });
}

function refuse(): never {
  throw problem('INTERNAL_ERROR', { message: 'This request was not authenticated.' });
}

/** Hooks that admit a request as that of a key or a member. A route without one is open, and limited by address. */
const ADMITTING = new WeakSet<object>();

/** Whether a route asks for a key or a token before it does anything. */
export const admitsCallers = (onRequest: object | undefined): boolean =>
  [onRequest].flat().some((hook) => hook !== undefined && ADMITTING.has(hook));

function admitting(hook: onRequestAsyncHookHandler): onRequestAsyncHookHandler {
  ADMITTING.add(hook);
  return hook;
}

/** What a route under /public/v1 asks of a key. Without scope, any valid key will do. */
interface KeyNeed {
  readonly scope?: ApiKeyScope;
  readonly role?: 'member';
}

/**
 * `onRequest: requireKey({scope: 'strategies_write', role: 'member'})`: 401, 429, 403 scope, 403 role, in this order.
 */
export function requireKey(need: KeyNeed = {}): onRequestAsyncHookHandler {
  const { scope, role } = need;
  return admitting(async function (request, reply) {
    const { authentication } = request.server;
    const caller = await authentication.authenticateKey(request);
    request.caller = caller;
    await authentication.admit(caller, request, reply);
    if (scope !== undefined && !caller.scopes.has(scope)) {
      throw problem('INSUFFICIENT_SCOPE', {
        message: `Insufficient scope. This endpoint requires the scope ${scope}.`,
        extras: { requiredScopes: [scope], scopes: [...caller.scopes] },
      });
    }
    if (role !== undefined && caller.role !== role) {
      throw problem('INSUFFICIENT_ROLE', {
        message: `Insufficient role. This endpoint requires a key with the role ${role}; this key is a ${caller.role}.`,
        extras: { requiredRole: role, role: caller.role },
      });
    }
  });
}

/** For routes under /workspaces/:workspaceId: a signed-in member of it, with one of the roles. */
export function requireMember(roles: readonly MemberRole[]): onRequestAsyncHookHandler {
  return admitting(async function (request, reply) {
    const { workspaceId } = request.params as { workspaceId: string };
    const { authentication } = request.server;
    const member = await authentication.authenticateMember(request, workspaceId);
    authentication.admitMember(member, request, reply);
    if (!roles.includes(member.role)) {
      throw problem('INSUFFICIENT_ROLE', {
        message: `Insufficient role. This endpoint requires a workspace ${roles.join(' or ')}.`,
        extras: { requiredRoles: roles, role: member.role },
      });
    }
    request.member = member;
  });
}
