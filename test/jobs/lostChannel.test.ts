// Messages over the channel to a parent that has just died are lost silently: the end of the process follows anyway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeData, type TestData } from '../support/queue.ts';

let database: TestDatabase;
let data: TestData;
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeData();
});
afterAll(async () => {
  await data[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Breaks the channel as the end of a parent does, before Node reports it: sending without a callback then throws. */
const BROKEN = `process.send = (message, done) => {
  const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
  setTimeout(() => (done ? done(error) : process.emit('error', error)));
  console.log('sent');
  return false;
};`;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

it.each([
  { what: 'a process of crash suspects', args: [pathOf('../support/standInWorker.ts'), 'suspects'] },
  {
    what: 'a child of the supervisor',
    args: [
      '--input-type=module',
      '--eval',
      `import { sayReady } from ${JSON.stringify(pathOf('../../src/cli/supervised.ts'))};
      process.once('disconnect', () => process.exit(0));
      sayReady({});`,
    ],
  },
])('$what ends without an error when it finds the channel broken', async ({ args }) => {
  const preloaded = `data:text/javascript,${encodeURIComponent(BROKEN)}`;
  const child = spawn(process.execPath, ['--import', preloaded, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, TEST_URL: database.url, TEST_DATA: data.folder },
  });
  const errors = text(child.stderr!);
  const exited = once(child, 'exit');
  await once(child.stdout!, 'data');
  // After the error of the message.
  setTimeout(() => child.connected && child.disconnect(), 100);
  expect(await exited).toEqual([0, null]);
  expect(await errors).toBe('');
});
