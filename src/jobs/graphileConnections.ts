// Connections for Graphile Worker that wait for a database that is away. By itself, Graphile Worker looks for work
// again after a second, or after three or more when the database has said that it is starting up.
import pg from 'pg';
import type { Log } from '../log.ts';
import type { Outlast } from './outages.ts';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean) => void,
) => void;

export class GraphileConnections extends pg.Pool {
  readonly #outlast: Outlast;

  constructor(config: pg.PoolConfig, outlast: Outlast, log: Log) {
    super(config);
    this.#outlast = outlast;
    // The code that uses a connection sees its errors as well.
    const note = (error: Error): void => log.debug({ err: error }, 'Graphile Worker lost a connection');
    this.on('error', note);
    this.on('connect', (client) => client.on('error', note));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | void {
    const client = this.#outlast(() => super.connect());
    if (connected === undefined) return client;
    client.then(
      (made) => connected(undefined, made, (release) => made.release(release)),
      (error: Error) => connected(error, undefined, () => {}),
    );
  }
}
