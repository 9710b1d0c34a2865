// A weight mode: how the instruments that a leg of an allocation selects share its gross.

type Read = 'by' | 'values' | null;

export interface WeightMode<Mode extends string = string, Reads extends Read = Read> {
  readonly mode: Mode;
  /** The member that the mode reads of each instrument: a value expression, a table of percents by symbol, or none. */
  readonly reads: Reads;
  /** A line for authors. */
  readonly text: string;
  /**
   * The part of a selected instrument. Parts are shares of the leg's gross in proportion; those of a mode that reads
   * `values` are percents of the gross, which nothing rescales.
   * @param read what the mode reads of the instrument, above 0
   */
  readonly part: (read: number) => number;
}

export const weightMode = <const Mode extends string, const Reads extends Read>(
  definition: WeightMode<Mode, Reads>,
): WeightMode<Mode, Reads> => definition;
