// Presence: the sessions by which the processes that use the embedded Postgres know of each other.
import { randomUUID } from 'node:crypto';
import { connect } from './connect.ts';
import type { Sql } from './connect.ts';
import { stopServer } from './embeddedPostmaster.ts';
import type { Server } from './embeddedServer.ts';
import { isStampAlive, processStamp } from './processes.ts';
import { isDatabaseStarting } from './sqlErrors.ts';

/**
 * Every process that uses the server keeps one session of this name, by which the last one knows that it is the last.
 */
const PRESENCE = 'candlepool presence';
/** The number of an advisory lock: any that no other lock of ours has. */
const LEAVE_LOCK = 7_233_030;
/** Marks a server that a process keeps without being present itself. */
const KEPT = 'kept';

export interface Presence {
  /** The session of this process. */
  readonly session: Sql;
  /** Who started the server: see `ownerMark`. */
  readonly owner: string;
  /** Resolves when the session is lost. */
  readonly closed: Promise<void>;
}

/**
 * Names who started a server; it is different for each start. The server carries it as a setting, so when several
 * processes try to start it, its own setting says which of them did.
 * @param keeperPid the process that the server belongs to even when it is not present; default: none
 */
export const ownerMark = (keeperPid?: number): string =>
  [processStamp(keeperPid ?? process.pid), randomUUID(), ...(keeperPid === undefined ? [] : [KEPT])].join(' ');

type Probe = { readonly kind: 'ready'; readonly presence: Presence } | { readonly kind: 'starting' | 'absent' };

/** The session that found the server ready stays open, as this process's presence. */
export async function probe(url: string): Promise<Probe> {
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  const session = connect(url, { max: 1, applicationName: PRESENCE, keepConnections: true, onClose });
  try {
    const [{ owner }] = await session<{ owner: string }[]>`
      select current_setting('candlepool.owner', true) as owner`;
    return { kind: 'ready', presence: { session, owner, closed } };
  } catch (error) {
    await session.end({ timeout: 1 });
    return { kind: isDatabaseStarting(error) ? 'starting' : 'absent' };
  }
}

/** Ends this process's presence, and stops the server when nobody else is present. */
export async function leave(server: Server, { session }: Presence): Promise<void> {
  // Under a lock, and after giving up the name that is counted: of two processes that leave at once, the second sees
  // that it is the last.
  const answer = await session
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LEAVE_LOCK})`;
      await tx`set application_name = 'candlepool leaving'`;
      return tx<{ owner: string; others: number }[]>`
        select current_setting('candlepool.owner', true) as owner, (
          select count(*) from pg_stat_activity where application_name = ${PRESENCE} and pid <> pg_backend_pid()
        ) as others`;
    })
    .catch(() => []);
  await session.end({ timeout: 1 });
  // No answer: somebody has stopped it already.
  if (answer.length === 0) return;
  const [{ owner, others }] = answer;
  const [stamp, , kept] = owner.split(' ');
  if (others === 0 && !(kept === KEPT && isStampAlive(stamp))) await stopServer(server);
}
