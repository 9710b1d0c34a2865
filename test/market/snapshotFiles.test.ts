import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotAbout } from '../../src/engine/bars/arrow.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { SnapshotFiles } from '../../src/market/snapshotFiles.ts';
import { SnapshotFolder } from '../../src/market/snapshotStorage.ts';
import { randomColumns } from '../support/bars.ts';
import { scaled, seededRandom } from '../support/scale.ts';

const about: SnapshotAbout = { symbol: 'A', timeframe: '1h', instrument: makeInstrument('A') };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-files-'));
  return () => rm(folder, { recursive: true, force: true });
});

const write = async (files: SnapshotFiles, seed: number, count = 1000): Promise<string> =>
  (await files.write(randomColumns({ seed, count }), about)).sha256;

describe('a snapshot file', () => {
  it('is named by the sha256 of its content', async () => {
    const sha256 = await write(new SnapshotFiles(new SnapshotFolder(folder)), 1);
    expect(await readdir(folder)).toEqual([`${sha256}.arrow`]);
    expect(
      createHash('sha256')
        .update(await readFile(join(folder, `${sha256}.arrow`)))
        .digest('hex'),
    ).toBe(sha256);
  });

  it('is read once for many concurrent requests', async () => {
    const files = new SnapshotFiles(new SnapshotFolder(folder));
    const sha256 = await write(files, 1);
    const opened = await Promise.all(Array.from({ length: 50 }, () => files.open(sha256)));
    expect(new Set(opened.map((snapshot) => snapshot.memory)).size).toBe(1);
    expect(files.openBytes).toBe(opened[0].byteLength);
  });

  it('stays in memory within the bound, which evicts the least recently used first', async () => {
    const size = (await new SnapshotFiles(new SnapshotFolder(folder)).write(randomColumns({ count: 1000 }), about))
      .byteLength;
    const files = new SnapshotFiles(new SnapshotFolder(folder), size * 2.5);
    const names = [await write(files, 1), await write(files, 2), await write(files, 3)];
    const [first, second] = [await files.open(names[0]), await files.open(names[1])];
    await files.open(names[0]);
    await files.open(names[2]);
    expect(files.openBytes).toBe(size * 2);
    expect(await files.open(names[0])).toBe(first);
    expect(await files.open(names[1])).not.toBe(second);
  });

  it('is opened even if it is larger than the bound, alone', async () => {
    const files = new SnapshotFiles(new SnapshotFolder(folder), 1);
    const names = [await write(files, 1), await write(files, 2)];
    for (const name of names) expect((await files.open(name)).meta.sha256).toBe(name);
    await files.open(names[0]);
    expect(files.openBytes).toBeLessThan(60_000);
  });

  it('is read again after a failure to read it', async () => {
    const files = new SnapshotFiles(new SnapshotFolder(folder));
    const sha256 = await write(new SnapshotFiles(new SnapshotFolder(folder)), 1);
    const path = join(folder, `${sha256}.arrow`);
    const content = await readFile(path);
    await rm(path);
    await expect(files.open(sha256)).rejects.toThrow('is not in DATA_DIR');
    await writeFile(path, content);
    expect((await files.open(sha256)).meta.symbol).toBe('A');
  });

  it('is written again if a full disk truncated it', async () => {
    const files = new SnapshotFiles(new SnapshotFolder(folder));
    const sha256 = await write(files, 1);
    await writeFile(join(folder, `${sha256}.arrow`), 'cut');
    expect(await write(files, 1)).toBe(sha256);
    expect((await files.open(sha256)).meta.sha256).toBe(sha256);
  });

  it('is whole or absent, whenever its writer is killed', async () => {
    const random = seededRandom(5);
    for (let round = 0; round < scaled(50); round++) {
      await writeUntilKilled(folder, round * 1000, 20 + random() * 60);
      for (const name of await readdir(folder)) {
        if (name.startsWith('.partial-')) continue;
        const content = await readFile(join(folder, name));
        expect(`${createHash('sha256').update(content).digest('hex')}.arrow`).toBe(name);
      }
    }
    expect((await readdir(folder)).length).toBeGreaterThan(0);
  });

  it('is removed an hour after a dead writer left it unfinished, not before', async () => {
    await writeFile(join(folder, '.partial-old'), 'x');
    await writeFile(join(folder, '.partial-new'), 'x');
    await utimes(join(folder, '.partial-old'), new Date(0), new Date(0));
    await write(new SnapshotFiles(new SnapshotFolder(folder)), 1);
    expect((await readdir(folder)).filter((name) => name.startsWith('.partial'))).toEqual(['.partial-new']);
  });
});

/** A process that writes snapshot after snapshot, killed that long after its first. */
async function writeUntilKilled(folder: string, seed: number, afterMs: number): Promise<void> {
  const root = join(import.meta.dirname, '..', '..');
  const source = `
    import { SnapshotFiles } from '${root}/src/market/snapshotFiles.ts';
    import { SnapshotFolder } from '${root}/src/market/snapshotStorage.ts';
    import { makeInstrument } from '${root}/src/market/instrument.ts';
    import { randomColumns } from '${root}/test/support/bars.ts';
    const files = new SnapshotFiles(new SnapshotFolder(${JSON.stringify(folder)}));
    const about = { symbol: 'A', timeframe: '1h', instrument: makeInstrument('A') };
    for (let seed = ${seed}; ; seed++) {
      await files.write(randomColumns({ seed, count: 20000 }), about);
      process.stdout.write('.');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('the writer ended by itself')));
  });
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await ended;
}
