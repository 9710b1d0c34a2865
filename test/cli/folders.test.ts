// Folders that cannot be used: every command that needs one ends with a sentence that names it, and never spins.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { FolderError, makeFolder } from '../../src/folders.ts';
import { callCommand, runCommand, type CommandResult } from '../support/command.ts';
import { commandLinesWith } from '../support/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file');
writeFileSync(file, '');

/** A service ends with its process. Its default port may be taken. */
const isService = ([name]: readonly string[]): boolean => name === 'serve' || name === 'api';
const answerOf = (args: readonly string[], env: Record<string, string>): Promise<CommandResult> =>
  isService(args) ? runCommand(args, env) : callCommand(args, env);
const COMMANDS = [
  ['serve', '--port', '0'],
  ['api', '--port', '0'],
  ['data', 'list'],
  ['migrate'],
  ['workspace', 'list'],
];

it.each(COMMANDS)('%s refuses a DATA_DIR that is a file', async (...args) => {
  const { code, stdout, stderr } = await answerOf(args, { DATA_DIR: file });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`error: ${file} is a file, not a folder. Set DATA_DIR to a folder that this user can write.\n`);
});

it.each(COMMANDS)('%s refuses a DATA_DIR that cannot be made', async (...args) => {
  const { code, stdout, stderr } = await answerOf(args, { DATA_DIR: '/proc/nope/below' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'error: The folder /proc/nope cannot be created: the file system does not allow folders there. Set DATA_DIR to ' +
      'a folder that this user can write.\n',
  );
});

/** A file system in memory; null where this user may not mount one. */
function mountSmall(name: string, bytes: number): string | null {
  const path = mkdtempSync(join(folder, name));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'candlepool-test', path]);
  if (status === 0) onTestFinished(() => void spawnSync('umount', ['--lazy', path]));
  return status === 0 ? path : null;
}

/** The command fails with this one line, and nothing runs afterwards. */
async function expectRefusal(command: string, path: string, line: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runCommand([command], { DATA_DIR: path, TMPDIR: path, PORT: '0' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(line);
  expect(commandLinesWith(path)).toEqual([]);
}

const NO_ROOM = '^error: The disk of \\S+ has \\d+ MiB free, and \\d+ MiB are needed\\. Free some space, or set';

it.each([
  ['serve', 'DATA_DIR'],
  ['demo', 'TMPDIR'],
])('%s refuses a disk without room, and leaves nothing running', async (command, variable) => {
  const path = mountSmall(command, 20 << 20);
  if (path === null) return expect(process.getuid?.()).not.toBe(0);
  await expectRefusal(command, path, new RegExp(`${NO_ROOM} ${variable} to a folder on another disk\\.\n$`));
});

it('serve says in one line that the disk of its database is full, or read-only', async () => {
  const path = mountSmall('used', 200 << 20);
  if (path === null) return expect(process.getuid?.()).not.toBe(0);
  expect(await callCommand(['migrate'], { DATA_DIR: path })).toMatchObject({ code: 0, stderr: '' });
  const { bavail, bsize } = statfsSync(path);
  const filler = join(path, 'filler');
  writeFileSync(filler, new Uint8Array(bavail * bsize));
  await expectRefusal('serve', path, new RegExp(`${NO_ROOM} DATA_DIR to a folder on another disk\\.\n$`));
  rmSync(filler);
  spawnSync('mount', ['-o', 'remount,ro', path]);
  await expectRefusal('serve', path, /^error: \S+ is on a read-only file system\. Choose another place\.\n$/);
});

it.each(['file', 'file/below'])('demo refuses a TMPDIR that is %s', async (name) => {
  const { code, stdout, stderr } = await runCommand(['demo'], { TMPDIR: join(folder, name) });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`error: ${file} is a file, not a folder. Set TMPDIR to a folder that this user can write.\n`);
});

it('makeFolder makes missing levels, accepts an existing folder, and names the file in the way', async () => {
  const deep = join(folder, 'a', 'b', 'c');
  await makeFolder(deep, 'Choose another.');
  await makeFolder(deep, 'Choose another.');
  await expect(makeFolder(join(file, 'x'), 'Choose another.')).rejects.toEqual(
    new FolderError(`${file} is a file, not a folder. Choose another.`),
  );
});
