// Zip archives: what is read is what was put in, to the byte, or the archive is refused.
import { describe, expect, it } from 'vitest';
import { zipEntries } from '../../src/market/import/zip.ts';
import { zipOf } from '../support/imports/textShapes.ts';

const MAX_BYTES = 2 ** 20;
const TEXT = 'time,open,high,low,close\n2024-01-01,100,102,99,101\n';

describe.each([
  ['deflated', true],
  ['stored', false],
])('an archive whose files are %s', (_, isPacked) => {
  const archive = zipOf({ 'b.csv': TEXT, 'a.csv': `${TEXT}2024-01-02,101,102,99,100\n` }, isPacked);

  it('gives its files by name', () => {
    const entries = zipEntries(archive, MAX_BYTES);
    expect(entries.map(({ name }) => name)).toEqual(['a.csv', 'b.csv']);
    expect(Buffer.from(entries[1].read()).toString()).toBe(TEXT);
  });

  it('is refused when one of its bytes is another', () => {
    const first = archive.indexOf('b.csv') + 'b.csv'.length;
    for (const at of [first + 30, first + 40]) {
      const damaged = Buffer.from(archive);
      damaged[at] ^= 1;
      const entry = zipEntries(damaged, MAX_BYTES).find(({ name }) => name === 'b.csv')!;
      expect(() => entry.read(), `byte ${at}`).toThrow('The zip archive is damaged.');
    }
  });
});
