// An exit size: everything that the language and the loop need to know about one way to size an exit.
import type { z } from 'zod';
import type { VariantMembers } from '../taggedSchemas.ts';

export interface ExitSize<Mode extends string = string, Members extends ExitSizeMembers = ExitSizeMembers> {
  readonly mode: Mode;
  readonly members: Members;
  /** One line for each member, for authors. */
  readonly texts: Readonly<Record<keyof Members, string>>;
  readonly unit: 'units' | 'percentPoints';
  /** Percent points below this were probably written as a fraction. null: not a percent. */
  readonly leastPercent: number | null;
  /** The quantity to close of a position of which `left` is left, before rounding (semantics §2.8). */
  readonly quantity: (value: number, left: number) => number;
  /** Whether it closes every position wholly. */
  readonly closesAll: (value: number) => boolean;
  /** Words for the mode on other platforms and for its `value` there, separated by spaces. */
  readonly otherNames: string;
  readonly otherValueNames: string;
}

interface ExitSizeMembers extends VariantMembers {
  readonly value: z.ZodType;
}

export const exitSize = <const Mode extends string, Members extends ExitSizeMembers>(
  definition: ExitSize<Mode, Members>,
): ExitSize<Mode, Members> => definition;
