// Values of single rows of a column: most of the time is spent waiting for memory.

/**
 * out[i] = values[rows[i] - first]. Four at a time: reads wait for memory together when no write lies between them.
 * @param first the row of the first value
 */
export function gather(values: Float64Array, rows: Int32Array, out: Float64Array, first = 0): void {
  const whole = rows.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    const a = values[rows[at] - first];
    const b = values[rows[at + 1] - first];
    const c = values[rows[at + 2] - first];
    const d = values[rows[at + 3] - first];
    out[at] = a;
    out[at + 1] = b;
    out[at + 2] = c;
    out[at + 3] = d;
  }
  for (let at = whole; at < rows.length; at++) out[at] = values[rows[at] - first];
}
