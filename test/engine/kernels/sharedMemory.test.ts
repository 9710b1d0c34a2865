// Shared memory: what kernels find under a column, here and behind a message, and what becomes of memory nobody holds.
import { execFileSync } from 'node:child_process';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect, it } from 'vitest';
import {
  allocateShared,
  bytesOf,
  knowMemory,
  memoryUnder,
  type SharedBytes,
} from '../../../src/engine/kernels/sharedMemory.ts';

const MODULE = new URL('../../../src/engine/kernels/sharedMemory.ts', import.meta.url).href;

it('finds the memory under a column of it, and none under a column of a buffer', () => {
  const { memory } = allocateShared(1000);
  expect(memoryUnder(new Float64Array(memory.buffer, 16, 100))).toBe(memory);
  expect(memoryUnder(new Float64Array(100))).toBeUndefined();
  expect(memoryUnder(new Float64Array(new SharedArrayBuffer(800)))).toBeUndefined();
});

it('holds as many bytes as were asked for, zeros, in whole pages', () => {
  for (const size of [0, 1, 65_536, 65_537]) {
    const shared = allocateShared(size);
    expect(bytesOf(shared).length).toBe(size);
    expect(shared.memory.buffer.byteLength).toBe(Math.max(1, Math.ceil(size / 65_536)) * 65_536);
    expect(bytesOf(shared).every((byte) => byte === 0)).toBe(true);
  }
});

it('is known to a thread that got it in a message, and is the same memory there', () => {
  const sent = allocateShared(1000);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(sent);
  const { memory, byteLength } = (receiveMessageOnPort(port2) as { readonly message: SharedBytes }).message;
  const column = new Float64Array(memory.buffer, 0, 100);
  expect(memoryUnder(column)).toBeUndefined();
  knowMemory(memory);
  expect(memoryUnder(column)).toBe(memory);
  expect(byteLength).toBe(1000);
  column[7] = 42;
  expect(new Float64Array(sent.memory.buffer)[7]).toBe(42);
  port1.close();
});

it('is given back when nobody holds it, without waiting for the process to run out of memory', () => {
  // 60 memories of 32 MB, one after the other, each written to: 1.9 GB, of which a quarter may wait to be collected.
  const script = `
    import { allocateShared, bytesOf } from ${JSON.stringify(MODULE)};
    for (let round = 0; round < 60; round++) {
      bytesOf(allocateShared(32 << 20)).fill(1);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    console.log(process.memoryUsage().rss);`;
  const rss = Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
  expect(rss).toBeLessThan(900e6);
});

it.runIf(process.platform === 'linux')('is plain memory where the address space of the process is limited', () => {
  const script = `
    import { allocateShared, bytesOf, memoryUnder } from ${JSON.stringify(MODULE)};
    const all = Array.from({ length: 10 }, () => allocateShared(1000));
    all.forEach((shared, index) => bytesOf(shared).fill(index));
    const underOf = ({ memory }) => memoryUnder(new Float64Array(memory.buffer, 0, 1)) !== undefined;
    console.log(JSON.stringify([all.map((shared) => bytesOf(shared)[999]), underOf(all[0]), underOf(all[9])]));`;
  const command = `ulimit -v 30000000; exec "$0" --input-type=module --eval "$1"`;
  const printed = execFileSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], true, false]);
});
