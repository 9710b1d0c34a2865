// A row of a sweep, and the names under which its parameters are shown.

/** A variant: its number, its parameters, and numbers of its summary. */
export type SweepRow = Readonly<Record<string, unknown>> & { readonly variant: number };

/** Of a JSON pointer, its last two parts: `args/length`. */
export const shortName = (name: string): string => (name.startsWith('/') ? name.split('/').slice(-2).join('/') : name);
