// A row of the table of problems.

export interface ProblemDefinition {
  readonly status: number;
  readonly title: string;
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean;
  /** When it happens and what to do, for docs/problems.md. */
  readonly help: string;
}
