// Bytes as parameters: sent as they are, beside text, numbers and null, prepared or not.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it.each([0, 1, 255, 256, 70_000, 3_000_000])('returns %i bytes as they were sent', async (length) => {
  const bytes = randomBytes(length);
  const [row] = await database.sql`
    select ${bytes}::bytea as bytes, ${'text with \\x00 in it'}::text as text, ${null}::bytea as none,
      ${7}::integer as number`;
  expect(Buffer.compare(row.bytes as Buffer, bytes)).toBe(0);
  expect(row).toMatchObject({ text: 'text with \\x00 in it', none: null, number: 7 });
});

it('does not take text that begins as bytes do for bytes', async () => {
  const bytes = Buffer.from('\\x4142');
  const [row] = await database.sql`select ${bytes}::bytea as bytes, length(${bytes}::bytea) as length`;
  expect(row).toMatchObject({ length: 6 });
  expect(String(row.bytes)).toBe('\\x4142');
});

it('accepts a view on part of a larger buffer', async () => {
  const whole = new Uint8Array([1, 2, 3, 4, 5, 6]);
  const [row] = await database.sql`select ${whole.subarray(2, 4)}::bytea as bytes`;
  expect([...(row.bytes as Buffer)]).toEqual([3, 4]);
});
