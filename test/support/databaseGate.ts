// A gate in front of a database's socket. It can be closed and opened again, refuse connections as a database does that
// is starting up, and break a connection when it sends a given text.
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { socketUrl } from '../../src/db/connect.ts';

/** The answer to a connection while the database starts up, in the messages of Postgres. */
const STARTING_UP = errorResponse({ S: 'FATAL', C: '57P03', M: 'the database system is starting up' });

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(fields).map(([name, value]) => `${name}${value}\0`);
  const body = Buffer.from(`${texts.join('')}\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export class DatabaseGate {
  readonly url: string;
  readonly #folder: string;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#connect(near));
  readonly #behind: string;
  #refusals = 0;
  #fatalTexts: string[] = [];

  private constructor(databaseUrl: string, folder: string) {
    const { hostname, username, pathname } = new URL(databaseUrl);
    this.#folder = folder;
    this.url = socketUrl(folder, username, pathname.slice(1));
    this.#behind = join(decodeURIComponent(hostname), '.s.PGSQL.5432');
  }

  static async before(databaseUrl: string): Promise<DatabaseGate> {
    const gate = new DatabaseGate(databaseUrl, await mkdtemp(join(tmpdir(), 'candlepool-gate-')));
    await gate.open();
    return gate;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(join(this.#folder, '.s.PGSQL.5432'), resolve));
  }

  /** Breaks every connection and takes the socket away. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#breakAll();
    await closed;
  }

  /** Breaks every connection and refuses the next `refusals`. */
  restart(refusals: number): void {
    this.#refusals = refusals;
    this.#breakAll();
  }

  /** Breaks the next connection that sends the first text, then the next that sends the second, and so on. */
  breakAt(...texts: readonly string[]): void {
    this.#fatalTexts = [...texts];
  }

  /** Whether every refusal and break that was asked for has happened. */
  get isOpen(): boolean {
    return this.#refusals === 0 && this.#fatalTexts.length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #connect(near: Socket): void {
    near.on('error', () => {});
    if (this.#refusals > 0) {
      this.#refusals--;
      near.resume().end(STARTING_UP);
      return;
    }
    const far = createConnection(this.#behind);
    far.on('error', () => {});
    near.on('data', (bytes) => {
      const [fatal] = this.#fatalTexts;
      if (fatal === undefined || !bytes.includes(fatal)) return;
      this.#fatalTexts.shift();
      near.destroy();
    });
    for (const [from, to] of [[near, far], [far, near]] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('close', () => to.destroy());
    } // prettier-ignore
  }

  #breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }
}
