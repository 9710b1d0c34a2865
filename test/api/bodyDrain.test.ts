// The drain of refused bodies: all of it is read, in turns, and no faster than the drain allows.
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createBodyDrain } from '../../src/api/http/connections.ts';

const PART = 64 * 1024;
/** A body of `parts` parts that counts how many were read. */
function bodyOf(parts: number): { readonly body: Readable; readonly partsRead: () => number } {
  let read = 0;
  const body = new Readable({
    highWaterMark: 1,
    read() {
      this.push(read < parts ? Buffer.alloc(PART) : null);
      read++;
    },
  });
  return { body, partsRead: () => read };
}

it('reads a body to its end', async () => {
  const { body, partsRead } = bodyOf(20);
  createBodyDrain(2 * PART).read(body);
  await once(body, 'end');
  expect(partsRead()).toBeGreaterThanOrEqual(20);
});

it('reads what it is allowed, and the rest later', async () => {
  const { body, partsRead } = bodyOf(1_000);
  createBodyDrain(10 * PART).read(body);
  await new Promise((resolve) => setImmediate(resolve));
  expect(partsRead()).toBeLessThan(50);
  body.destroy();
});

it('gives every body its turn', async () => {
  const drain = createBodyDrain(4 * PART);
  const long = Array.from({ length: 8 }, () => bodyOf(100_000));
  for (const { body } of long) drain.read(body);
  const short = bodyOf(5);
  drain.read(short.body);
  await once(short.body, 'end');
  expect(long.every(({ body }) => !body.readableEnded)).toBe(true);
  for (const { body } of long) body.destroy();
});
