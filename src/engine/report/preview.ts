// Previews: which points of a long series a short one shows.

/** At most `most` evenly spaced indexes of `length` points: the last one of each interval. */
export function previewIndexes(length: number, most: number): number[] {
  const count = Math.min(most, length);
  return Array.from({ length: count }, (_, point) => Math.floor(((point + 1) * length) / count) - 1);
}
