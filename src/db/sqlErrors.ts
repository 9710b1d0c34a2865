// Errors of the database and of its connections: what each says about the query, the data or the database itself.

/**
 * postgres.js names for a lost connection, the system's (the name of a container that is being replaced is unknown for
 * a while), and the server's own: statement timeout, admin shutdown, crash shutdown, starting up, too many clients.
 */
const AWAY = new Set([
  'CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'CONNECT_TIMEOUT', 'ECONNREFUSED', 'ECONNRESET',
  'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT',
  '57014', '57P01', '57P02', '57P03', '53300',
]); // prettier-ignore

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code);

/** Whether the database is away, that is, cannot be reached or cannot answer now: the query may succeed in a moment. */
export const isDatabaseAway = (error: unknown): boolean => AWAY.has(codeOf(error));

/** Whether the server is starting up or shutting down; either passes. */
export const isDatabaseStarting = (error: unknown): boolean => codeOf(error) === '57P03';

/** Whether Postgres could not extend a file. Freeing space is enough; nothing has to be restarted. */
export const isDiskFull = (error: unknown): boolean => codeOf(error) === '53100';

/** Whether a row that a statement refers to does not exist: it was deleted after it had been read. */
export const isReferenceGone = (error: unknown): boolean => codeOf(error) === '23503';

/** Whether another row already has a value that must be unique. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505';

/** Whether Postgres refused a value (SQLSTATE class 22, data exception): the data is at fault, not the database. */
export const isDataError = (error: unknown): boolean => codeOf(error).startsWith('22');

/** Says which address does not answer, in a sentence without the password; undefined: the error says something else. */
export function describeUnreachable(error: unknown): string | undefined {
  const { address, hostname, port } = Object(error) as Readonly<Record<string, string | number | undefined>>;
  switch (codeOf(error)) {
    case 'CONNECT_TIMEOUT':
    case 'CONNECTION_CLOSED':
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'ENOENT':
      return (
        `Nothing answers at ${String(address ?? 'DATABASE_URL')}${port === undefined ? '' : `:${port}`}. ` +
        'Check that the database is running and that DATABASE_URL is right.'
      );
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return `The host ${String(hostname)} of DATABASE_URL cannot be found. Check its name.`;
    default:
      return undefined;
  }
}
