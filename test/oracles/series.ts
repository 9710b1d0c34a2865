// The real series of the shared folder, as columns.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Columns } from '../engine/simulate/input.ts';
import { sharedPath } from './shared.ts';

/** data/NAME.csv.gz: time in ms UTC, prices, volume. */
export function readSeries(name: string): Required<Columns> {
  const text = gunzipSync(readFileSync(sharedPath('data', `${name}.csv.gz`))).toString('utf8');
  const [first, ...lines] = text.trim().split('\n');
  const header = first.split(',');
  const cells = lines.map((line) => line.split(',').map(Number));
  const column = (field: string) => {
    const index = header.indexOf(field);
    return Float64Array.from(cells, (row) => row[index]);
  };
  return {
    time: column('timestamp'),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  };
}
