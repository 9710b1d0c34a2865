// Connections: how long a client may take to send a request, what happens to a body nobody reads, and how a stopping
// process sends clients elsewhere. How many there may be is in connectionShares.ts.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from '../services.ts';
import type { Config } from '../../config.ts';
import { shareConnections } from './connectionShares.ts';
import { PROBLEM_MEDIA_TYPE, problem, problemBody, type ProblemError } from './problems.ts';
import type { Readable } from 'node:stream';

/** 8 MiB within a minute is 1.1 Mbit/s; headers are a few KiB. */
export const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
/**
 * How often Node looks for requests that have taken too long; its own default of 30 s would hold them half as long
 * again.
 */
const CHECK_EVERY_MS = 1_000;
/**
 * A client that is still sending reads the answer only afterwards. One that has sent nothing for this long is cut off,
 * and so is any client after REQUEST_TIMEOUT_MS.
 */
const LINGER_MS = 5_000;

/** For http.createServer. */
export const HTTP_OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: CHECK_EVERY_MS,
} as const;

/** Bounds the number of connections, and how long each may go on with a body that is refused. */
export function boundConnections(app: App, { trustedProxies }: Pick<Config, 'trustedProxies'>): void {
  shareConnections(app.server, trustedProxies);
  // The framework closes the connection under a body that it refuses unread, and the client sees a broken pipe instead
  // of the answer. So the rest is read and thrown away, for a bounded time.
  const drain = createBodyDrain();
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!isUnread(raw)) return;
    reply.removeHeader('connection');
    drain.read(raw);
    linger(raw);
    // After the answer Node closes the connection of a client that asked for it, whatever it is still sending.
    if (!reply.raw.shouldKeepAlive) await arrivalOf(raw);
  });
}

/** Whether this process made the request itself; such a request has no connection. */
export const isInjected = (raw: IncomingMessage): boolean => !('complete' in raw);

/** Whether part of the body has not arrived. */
const isUnread = (raw: IncomingMessage): boolean => !isInjected(raw) && !raw.complete;

function linger(raw: IncomingMessage): void {
  const timer = setTimeout(() => raw.socket.destroy(), LINGER_MS).unref();
  raw.on('data', () => timer.refresh());
  raw.once('close', () => {
    clearTimeout(timer);
    if (isUnread(raw)) raw.socket.destroy();
  });
}

/** Resolves when the body has been read to its end, or when its connection is gone. */
const arrivalOf = (raw: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    raw.once('end', resolve);
    raw.once('close', resolve);
  });

/** Answers what never became a request, as Node does, with a problem as the body. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // Node itself reads this member for the same reason: an answer that has begun must not be followed by another.
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: { readonly headersSent: boolean } };
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) return void socket.destroy();
  const known = problemOf(error.code);
  const answered = problemBody(known, '', '');
  const body = JSON.stringify(answered);
  const head = [
    `HTTP/1.1 ${known.status} ${answered.title}`,
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function problemOf(code: string | undefined): ProblemError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('REQUEST_TIMEOUT');
    case 'HPE_HEADER_OVERFLOW':
      return problem('HEADERS_TOO_LARGE');
    default:
      return problem('MALFORMED_REQUEST');
  }
}

/**
 * The limit of all connections of a process together. A client on a fast network can send gigabytes per second. Each
 * gigabyte costs the event loop half a second, and every 16 MiB cost a garbage collection. A refused body only has to
 * be read so that its sender gets to read the answer; the largest one sent by mistake takes a second or two.
 */
const BYTES_PER_SECOND = 8 * 1024 * 1024;
const TICK_MS = 20;
/** How much Node reads from a socket at a time. */
const PART_BYTES = 64 * 1024;

interface BodyDrain {
  /** Reads what is left of a body. Call it before the answer is sent: after that, Node would read on at full speed. */
  read(body: Readable): void;
}

/** @param bytesPerTick the most that all bodies together are read per TICK_MS */
export function createBodyDrain(bytesPerTick = (BYTES_PER_SECOND * TICK_MS) / 1_000): BodyDrain {
  /** The bodies that wait for a turn, in order. */
  const waiting = new Set<Readable>();
  let left = bytesPerTick;
  let timer: NodeJS.Timeout | undefined;
  const takeTurns = (): void => {
    for (const body of waiting) {
      if (left <= 0) break;
      // Assumes a full part until it is known how much was read.
      left -= PART_BYTES;
      waiting.delete(body);
      body.resume();
    }
  };
  const tick = (): void => {
    left = bytesPerTick;
    takeTurns();
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    read(body) {
      body.on('data', (part: Buffer) => {
        left += PART_BYTES - part.length;
        body.pause();
        waiting.add(body);
        takeTurns();
        if (waiting.size > 0) timer ??= setInterval(tick, TICK_MS).unref();
      });
      body.once('close', () => waiting.delete(body));
      // Begins at once, so that Node knows that the body has a reader.
      body.read(0);
    },
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the process begins to stop: long polls answer what they know, event streams end. */
    readonly drainSignal: AbortSignal;
  }
}

/** When the process begins to stop: ends waiting answers, and closes each connection with its next answer. */
export function drainGracefully(app: App): void {
  const controller = new AbortController();
  app.decorate('drainSignal', controller.signal);
  app.addHook('preClose', async () => controller.abort());
  // Without this, close() waits until every idle keep-alive client closes its connection.
  app.addHook('onSend', async (_request, reply) => {
    if (controller.signal.aborted) reply.header('connection', 'close');
  });
}
