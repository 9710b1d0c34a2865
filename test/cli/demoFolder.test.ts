import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeDemoFolder, removeAbandonedFolders } from '../../src/cli/demo.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'candlepool-folders-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const HOURS_MS = 3_600_000;
/** A folder as a demo leaves it when it is killed. */
function leave(name: string, hoursAgo: number): void {
  const folder = join(parent, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'data.arrow'), 'bars');
  const time = new Date(Date.now() - hoursAgo * HOURS_MS);
  utimesSync(folder, time, time);
}

it('removes the folders of demos that were killed long ago, and no other', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  leave(`candlepool-demo-${dead}-old`, 2);
  leave(`candlepool-demo-${dead}-new`, 0.5);
  leave(`candlepool-demo-${process.pid}-old`, 2);
  leave('candlepool-demo-notes', 2);
  leave('another', 2);
  const own = await makeDemoFolder(parent);
  await removeAbandonedFolders(parent);
  const left = [
    'another',
    'candlepool-demo-notes',
    `candlepool-demo-${dead}-new`,
    `candlepool-demo-${process.pid}-old`,
  ];
  expect(readdirSync(parent).toSorted()).toEqual([...left, basename(own)].toSorted());
});
