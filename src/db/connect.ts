// A connection pool to Postgres, by way of postgres.js; vendor/postgres/README.md says why it is a repaired copy, and
// why pg, which Graphile Worker needs, is not the only driver.
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;
/** What a query function takes: the pool or a transaction of it. */
export type Queryable = Sql | Transaction;

interface ConnectOptions {
  /** Connections at most; they are opened when needed. */
  readonly max?: number;
  readonly applicationName?: string;
  /** Called when a connection is closed; for one that listens or holds a lock. */
  readonly onClose?: () => void;
  /**
   * Keeps each connection for as long as it works. By default postgres.js replaces it after 30 to 60 minutes, and a
   * session lock is lost with its connection.
   */
  readonly keepConnections?: boolean;
}

/** Ten is postgres.js's own default and what one API process keeps busy on a few cores. */
const MAX_CONNECTIONS = 10;

/**
 * Our slowest statement, a write of 16 MiB of results, takes about a second; whatever takes longer than this is stuck.
 */
const STATEMENT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_S = 5;
/** After an outage, work resumes within two seconds; by default postgres.js waits up to 20. */
const BACKOFF_MAX_S = 1;

const addresses = new WeakMap<object, string>();

/**
 * Opens a pool (no connection is made before the first query). Numbers of type int8 arrive as JS numbers: ours are
 * counts and milliseconds, all below 2^53. Close with `sql.end()`.
 */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const sql = postgres(url, {
    ...socketOf(url),
    max: options.max ?? MAX_CONNECTIONS,
    onnotice: () => {},
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: (retries: number) => (0.5 + Math.random() / 2) * Math.min(0.05 * 2 ** retries, BACKOFF_MAX_S),
    ...(options.onClose && { onclose: options.onClose }),
    ...(options.keepConnections && { max_lifetime: null }),
    connection: {
      application_name: options.applicationName ?? 'candlepool',
      statement_timeout: STATEMENT_TIMEOUT_MS,
    },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  addresses.set(sql, url);
  return sql;
}

/** The address a pool was opened with, for libraries that bring their own driver (Graphile Worker). */
export function urlOf(sql: Sql): string {
  const url = addresses.get(sql);
  if (url === undefined) throw new Error('urlOf: this pool was not opened by connect()');
  return url;
}

/**
 * The url of a database behind a unix socket, in the form libpq and node-postgres read as well:
 * the folder of the socket, percent-encoded, stands where the host stands.
 */
export function socketUrl(folder: string, user: string, database: string): string {
  return `postgresql://${user}@${encodeURIComponent(folder)}/${database}`;
}

/** postgres.js does not decode a percent-encoded socket folder in a url, but accepts one as `host`. */
function socketOf(url: string): { host?: string } {
  const host = decodeURIComponent(new URL(url).hostname);
  return host.startsWith('/') ? { host } : {};
}
