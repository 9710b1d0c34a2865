// Connection shares over real sockets: whose connection is closed when there are too many.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { networkOf, shareConnections } from '../../src/api/http/connectionShares.ts';
import { eventually } from '../support/eventually.ts';

const LIMITS = { total: 12, ofAddress: 5 };
/** Two clients, as the loopback network has an address for each. */
const [ATTACKER, NEIGHBOR] = ['127.0.0.2', '127.0.0.3'];

let server: Server;
let sockets: Socket[];
/** Paths of requests that wait for their answers. */
let held: Map<string, () => void>;
beforeEach(() => {
  sockets = [];
  held = new Map();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const answer of held.values()) answer();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function listen(trustedProxies: string | false = false, limits = LIMITS): Promise<void> {
  server = createServer((request, response) => {
    if (request.url!.startsWith('/held')) held.set(request.url!, () => response.end('held'));
    else response.end('ok');
  }).listen(0, '0.0.0.0');
  shareConnections(server, trustedProxies, limits);
  await once(server, 'listening');
}

/** A connection on which nothing has been sent, or what is given. */
async function open(localAddress: string, text = ''): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  socket.resume();
  sockets.push(socket);
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}
const opened = async (localAddress: string, count: number, text = ''): Promise<Socket[]> => {
  const made: Socket[] = [];
  for (let each = 0; each < count; each++) made.push(await open(localAddress, text.replace('#', String(each))));
  return made;
};
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const HALF = 'GET / HTTP/1.1\r\nhost: ';

/** The first line of the answer; '' when the connection is closed without one. */
async function answerOn(socket: Socket, path = '/'): Promise<string> {
  const text = new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(String(chunk).split('\r\n', 1)[0]));
    socket.once('close', () => resolve(''));
  });
  if (!socket.destroyed) socket.write(get(path));
  return text;
}
const isClosed = (socket: Socket) => eventually(() => socket.destroyed);
const openOf = (all: readonly Socket[]): number => all.filter((socket) => !socket.destroyed).length;

describe('an address with as many connections as it may have', () => {
  it('loses the oldest of those on which no request has arrived', async () => {
    await listen();
    const halves = await opened(ATTACKER, LIMITS.ofAddress, HALF);
    const next = await open(ATTACKER);
    await isClosed(halves[0]);
    expect(await answerOn(next)).toBe('HTTP/1.1 200 OK');
    expect(openOf(halves)).toBe(LIMITS.ofAddress - 1);
  });

  it('keeps connections with a request, and closes those that rest only when there are no others', async () => {
    await listen();
    const busy = await opened(ATTACKER, 3, get('/held#'));
    await eventually(() => held.size === 3);
    const resting = await open(ATTACKER);
    expect(await answerOn(resting)).toBe('HTTP/1.1 200 OK');
    const fresh = await open(ATTACKER);
    await open(ATTACKER, get('/held-a'));
    await isClosed(fresh);
    expect(resting.destroyed).toBe(false);
    await open(ATTACKER, get('/held-b'));
    await isClosed(resting);
    await eventually(() => held.size === 5);
    // All five are busy: the new one is closed.
    await isClosed(await open(ATTACKER));
    expect(openOf(busy)).toBe(3);
  });

  it('does not take anything from another address', async () => {
    await listen();
    const [neighbor] = await opened(NEIGHBOR, 1);
    for (let round = 0; round < 4; round++) await opened(ATTACKER, LIMITS.ofAddress, HALF);
    expect(await answerOn(neighbor)).toBe('HTTP/1.1 200 OK');
  });

  it('gets its share back when its connections are closed', async () => {
    await listen();
    const busy = await opened(ATTACKER, LIMITS.ofAddress, get('/held#'));
    await eventually(() => held.size === LIMITS.ofAddress);
    expect(await answerOn(await open(ATTACKER))).toBe('');
    for (const socket of busy) socket.destroy();
    const isServed = await eventually(async () => (await answerOn(await open(ATTACKER))) === 'HTTP/1.1 200 OK');
    expect(isServed).toBe(true);
  });
});

describe('a process with as many connections as it may have', () => {
  it('closes the longest idle one for a new one, whichever addresses they have', async () => {
    await listen();
    const halves = [
      ...(await opened('127.0.0.4', 5, HALF)),
      ...(await opened('127.0.0.5', 5, HALF)),
      ...(await opened('127.0.0.6', 2, HALF)),
    ];
    const neighbor = await open(NEIGHBOR);
    await isClosed(halves[0]);
    expect(await answerOn(neighbor)).toBe('HTTP/1.1 200 OK');
    expect(openOf(halves)).toBe(LIMITS.total - 1);
  });
});

describe('a trusted proxy', () => {
  it('has no share of its own, because the connections of all clients come from its address', async () => {
    await listen('127.0.0.2/32, 10.0.0.0/8');
    const behind = await opened('127.0.0.2', LIMITS.total, HALF);
    const others = await opened(NEIGHBOR, 1);
    await isClosed(behind[0]);
    expect(openOf(behind)).toBe(LIMITS.total - 1);
    expect(await answerOn(others[0])).toBe('HTTP/1.1 200 OK');
  });
});

describe('an address of a share', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
