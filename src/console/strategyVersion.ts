// Versions of a strategy, as the API answers them.

export interface VersionSummary {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly createdAt: string;
}
/** A version with what its author wrote. */
export interface WholeVersion extends VersionSummary {
  readonly strategyId: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly strategyAst: Payload;
  readonly signalGraph: Payload | null;
}
interface Payload {
  readonly strategy?: { readonly params?: readonly Param[] };
}
export interface Param {
  readonly name: string;
  readonly default: unknown;
}
