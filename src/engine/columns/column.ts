// Columns: what the steps of a plan make. A value column holds numbers, a condition column holds true and unknown bits.

/** One number a base bar; the cell is NaN where the value is missing (semantics §1.3). */
export interface ValueColumn {
  readonly values: Float64Array;
  /** The first row with a value; equal to the length when there is none. */
  readonly firstValid: number;
  /** True when some row after firstValid is missing too. */
  readonly hasHoles: boolean;
}

/**
 * One three-valued truth a base bar (semantics §1.4): bit (row & 31) of word (row >>> 5). A row is true (T), unknown (U) or, with
 * neither bit, false; never both. Bits past the last row are 0.
 */
export interface ConditionColumn {
  readonly isTrue: Uint32Array;
  /** null: nothing is unknown from `firstKnown` on, and every row before it is. */
  readonly isUnknown: Uint32Array | null;
  /** Rows before this one are unknown; 0 when isUnknown tells all. */
  readonly firstKnown: number;
}

export const wordCount = (rows: number): number => (rows + 31) >>> 5;
export const hasBit = (words: Uint32Array, row: number): boolean => ((words[row >>> 5] >>> (row & 31)) & 1) === 1;
