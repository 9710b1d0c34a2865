// Folders that cannot be used: every command that needs one ends with a sentence that names it, and never spins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FolderError, makeFolder } from '../../src/folders.ts';
import { runCommand } from '../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file');
writeFileSync(file, '');

const COMMANDS = [['serve'], ['api', '--port', '0'], ['data', 'list'], ['migrate'], ['workspace', 'list']];

it.each(COMMANDS)('%s refuses a DATA_DIR that is a file', async (...args) => {
  const { code, stdout, stderr } = await runCommand(args, { DATA_DIR: file });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`error: ${file} is a file, not a folder. Set DATA_DIR to a folder that this user can write.\n`);
});

it.each(COMMANDS)('%s refuses a DATA_DIR that cannot be made', async (...args) => {
  const { code, stdout, stderr } = await runCommand(args, { DATA_DIR: '/proc/nope/below' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'error: The folder /proc/nope cannot be created: the file system does not allow folders there. Set DATA_DIR to ' +
      'a folder that this user can write.\n',
  );
});

it('makeFolder makes missing levels, accepts an existing folder, and names the file in the way', async () => {
  const deep = join(folder, 'a', 'b', 'c');
  await makeFolder(deep, 'Choose another.');
  await makeFolder(deep, 'Choose another.');
  await expect(makeFolder(join(file, 'x'), 'Choose another.')).rejects.toEqual(
    new FolderError(`${file} is a file, not a folder. Choose another.`),
  );
});
