// The failure of the embedded Postgres.

/** The embedded Postgres cannot be used; the message says why, and what to do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  constructor(reason: string) {
    super(
      `The embedded Postgres could not start: ${reason}. Correct that, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
}
