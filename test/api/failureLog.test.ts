// What the log says of requests that fail.
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { createApiApp } from '../support/apiApp.ts';

it('logs requests during an outage without a stack each, and an error of ours with its stack', async () => {
  await using api = await createApiApp();
  const lines: object[] = [];
  const write = (line: Buffer, _encoding: string, done: () => void): void => {
    lines.push(JSON.parse(String(line)) as object);
    done();
  };
  const app = await buildApp(
    { ...api.services, log: pino(new Writable({ write })) },
    {
      registerMore: async (probed) => {
        probed.get('/away', () => {
          throw Object.assign(new Error('the database is shutting down'), { code: '57P03' });
        });
        probed.get('/bug', () => {
          throw new Error('a bug');
        });
      },
    },
  );
  const headers = { 'x-request-id': 'mine' };
  expect((await app.inject({ url: '/away', headers })).statusCode).toBe(503);
  expect((await app.inject({ url: '/bug', headers })).statusCode).toBe(500);
  await app.close();
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, requestId: 'mine', reason: 'the database is shutting down' }),
    expect.objectContaining({ level: 50, requestId: 'mine', err: expect.objectContaining({ message: 'a bug' }) }),
  ]);
  expect(JSON.stringify(lines[0])).not.toContain('stack');
});
