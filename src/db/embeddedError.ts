// The failure of the embedded Postgres.

/** The embedded Postgres could not be had; the message says why and names the way out. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  constructor(reason: string) {
    super(
      `The embedded Postgres could not start: ${reason}. Correct that, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
}
