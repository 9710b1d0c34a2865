// Native calls on threads: Node aborts the process when a thread ends in the middle of one.
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { closeGate, compressed, createGate, enterThrough } from '../../../src/engine/pool/nativeCalls.ts';

const script = fileURLToPath(new URL('../../support/endsThreadInside.ts', import.meta.url));

describe('a process with a thread that compresses', () => {
  it.each([
    ['the pool of the thread is disposed of', 'dispose', 'ended\n'],
    ['the thread ignores its stop flag', 'kill', 'stopped\nended\n'],
    ['the process exits', 'exit', ''],
    ["the thread, which is no pool's, is terminated", 'thread', 'ended\n'],
  ])('does not abort when %s', async (_, way, printed) => {
    // An abort rejects, with what the process has printed.
    const { stdout } = await promisify(execFile)(process.execPath, [script, way]);
    expect(stdout).toBe(printed);
  });
});

it('closes a gate at once after a call, and does nothing when it is closed', async () => {
  const gate = createGate();
  enterThrough(gate);
  expect(compressed(new Uint8Array(9)).length).toBeGreaterThan(0);
  await closeGate(gate);
  const [closed] = gate;
  await closeGate(gate);
  expect(gate[0]).toBe(closed);
  enterThrough(createGate());
});

it('finds no module that threads may load and that compresses beside the gate', async () => {
  const direct: string[] = [];
  for await (const file of glob('src/{engine,jobs,api}/**/*.ts')) {
    const text = await readFile(file, 'utf8');
    if (/\b(?:zstd|brotli|gzip|gunzip|deflate|inflate|unzip)\w*Sync\b/i.test(text)) direct.push(file);
  }
  expect(direct).toEqual(['src/engine/pool/nativeCalls.ts']);
});
