// Stability: after how many rows the seed of a recursive average no longer matters.

/** The relative weight below which a seed no longer matters: the tolerance at which indicators are compared. */
const SEEN = 1e-9;

/** Rows after which a recurrence with that decay has forgotten its seed. */
const decayRows = (decay: number): number => (decay <= 0 ? 1 : Math.ceil(Math.log(SEEN) / Math.log(decay)));

export const emaStable = (length: number): number => length - 1 + decayRows((length - 1) / (length + 1));
export const wilderStable = (length: number): number => length - 1 + decayRows((length - 1) / length);
