// Connection shares: how many connections there may be, in all and of one address, and which of them gives way to a new
// one. A connection costs an attacker one packet, and one on which no request arrives is worth nothing to anybody.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import { compile } from '@fastify/proxy-addr';

interface ConnectionLimits {
  /** Of one API process; 500 waiters and 500 event streams are a busy day. */
  readonly total: number;
  /** Of one address, or of the 64 bits of an IPv6 address that name a network. An office shares one. */
  readonly ofAddress: number;
}
const LIMITS: ConnectionLimits = { total: 4_000, ofAddress: 1_000 };
/** Connections that have given way and are not closed yet. Beyond them Node itself refuses new ones. */
const MAX_CLOSING = 500;

/** Connections that are counted together. The idle ones are in the order in which they became idle. */
interface Share {
  open: number;
  /** No request has arrived on them yet. */
  readonly fresh: Set<Connection>;
  /** Their last request has been answered. */
  readonly resting: Set<Connection>;
}
interface Connection {
  readonly socket: Socket;
  /** That of all connections, and that of its address. */
  readonly shares: readonly Share[];
  /** Requests without an answer yet; a client may send several at once. */
  unanswered: number;
}

/**
 * When there are too many connections, in all or of an address, the one that has been idle for longest is closed for a
 * new one: those that never had a request go before those that rest between two. If all are busy, the new one is
 * closed.
 * @param trustedProxies as TRUSTED_PROXIES: behind a proxy all clients have its address, so it has no share of its own
 */
export function shareConnections(
  server: Server,
  trustedProxies: string | false,
  limits: ConnectionLimits = LIMITS,
): void {
  server.maxConnections = limits.total + MAX_CLOSING;
  const isProxy = trustedProxies === false ? () => false : compile(trustedProxies.split(/ *, */));
  const connections = new Map<Socket, Connection>();
  const all = emptyShare();
  const ofAddresses = new Map<string, Share>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const network = networkOf(remoteAddress);
    const own = isProxy(remoteAddress, 0) ? null : (ofAddresses.get(network) ?? emptyShare());
    const hasRoom = (own === null || makeRoom(own, limits.ofAddress)) && makeRoom(all, limits.total);
    if (!hasRoom) return void socket.destroy();
    if (own !== null) ofAddresses.set(network, own);
    const connection: Connection = { socket, shares: own === null ? [all] : [all, own], unanswered: 0 };
    connections.set(socket, connection);
    for (const share of connection.shares) {
      share.open++;
      share.fresh.add(connection);
    }
    socket.once('close', () => {
      remove(connection);
      if (own?.open === 0 && ofAddresses.get(network) === own) ofAddresses.delete(network);
    });
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.unanswered++;
    for (const share of connection.shares) leaveIdle(share, connection);
    response.once('close', () => {
      connection.unanswered--;
      if (connection.unanswered > 0 || !connections.has(socket)) return;
      for (const { resting } of connection.shares) resting.add(connection);
    });
  });

  /** Closes the connection that has been idle for longest, if there are too many. False: none is idle. */
  function makeRoom(share: Share, limit: number): boolean {
    if (share.open < limit) return true;
    const [longestIdle] = share.fresh.size > 0 ? share.fresh : share.resting;
    if (longestIdle === undefined) return false;
    remove(longestIdle);
    longestIdle.socket.destroy();
    return true;
  }

  /** Counts a connection no longer; it may be closed already. */
  function remove(connection: Connection): void {
    if (!connections.delete(connection.socket)) return;
    for (const share of connection.shares) {
      share.open--;
      leaveIdle(share, connection);
    }
  }
}

const emptyShare = (): Share => ({ open: 0, fresh: new Set(), resting: new Set() });

function leaveIdle({ fresh, resting }: Share, connection: Connection): void {
  fresh.delete(connection);
  resting.delete(connection);
}

/** What counts as one address: clients of IPv6 have 2^64 of them. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped) || !isIPv6(address)) return mapped;
  const [left, right] = address
    .split('%', 1)[0]
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = right === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...(right ?? [])].slice(0, 4).join(':');
}
