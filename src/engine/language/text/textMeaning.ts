// The meaning of a text: an expression that is being built, or the fault of the text, and the names it may refer to.

/** An expression of the AST that is being made. */
export type Made = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** The kind of what a text makes of the id of a graph's node; it is a reference once it stands in the graph. */
export const NODE = 'node';

/** What a text may refer to. */
export interface TextContext {
  /** The names of the strategy's params. */
  readonly params: ReadonlySet<unknown>;
  /** The ids of a graph's nodes. */
  readonly nodes: ReadonlySet<unknown>;
  /** What texts were read as, so that each is read once. */
  readonly known: Map<string, Made | TextFault>;
}

/** Why a text is not an expression of the grammar, and where. */
export interface TextFault {
  readonly at: number;
  readonly message: string;
}

export const isFault = (read: Made | TextFault): read is TextFault => !('kind' in read);
