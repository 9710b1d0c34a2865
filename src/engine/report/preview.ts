// Previews: which points of a long series a short one shows.

/** At most `most` evenly spaced indexes of `length` points: the last one of each interval. */
export function previewIndexes(length: number, most: number): number[] {
  const count = Math.min(most, length);
  const indexes: number[] = [];
  // A loop, because `Array.from` with a function takes ten times as long.
  for (let point = 0; point < count; point++) indexes.push(Math.floor(((point + 1) * length) / count) - 1);
  return indexes;
}
