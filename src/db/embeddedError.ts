// The failures of the embedded Postgres.

/** The embedded Postgres cannot be used; the message says why, and what to do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  constructor(reason: string) {
    super(
      `The embedded Postgres could not start: ${reason}. Correct that, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
}

/** There are no binaries of the embedded Postgres; the message says why, and what to do. */
export class EmbeddedPackageError extends Error {
  override readonly name = 'EmbeddedPackageError';
  /** What is wrong, as a sentence without its end. */
  readonly reason: string;
  /** What brings the binaries; empty: nothing does. */
  readonly remedies: readonly string[];
  constructor(reason: string, remedies: readonly string[]) {
    super(`${reason}: ${[...remedies, 'set DATABASE_URL to a Postgres of your own'].join(', or ')}.`);
    this.reason = reason;
    this.remedies = remedies;
  }
}
