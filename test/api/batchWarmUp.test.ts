// The warm-up of the thread of heavy requests: it does the work of a batch, and leaves nothing behind.
import { expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { warmUpBatches } from '../../src/api/backtests/batchWarmUp.ts';
import type { NewHeavyRequest } from '../../src/api/http/heavyMessages.ts';
import type { Sql } from '../../src/db/connect.ts';
import { createApiApp } from '../support/apiApp.ts';

/** Rows of the tables that a batch is stored in. */
async function storedRows(sql: Sql): Promise<number> {
  const tables = ['backtests', 'backtest_queue', 'workspace_turns', 'idempotent_answers', 'idempotent_work'];
  const counts = await Promise.all(tables.map((table) => sql`select 1 from ${sql(table)}`));
  return counts.flat().length;
}

it('sends batches that are valid but for their version, and stores nothing', async () => {
  await using api = await createApiApp();
  const { services } = api;
  let asked: NewHeavyRequest;
  const app = await buildApp(services, { authenticatedAs: () => asked });
  const answers: { readonly status: number; readonly codes: string[] }[] = [];
  const ask = async (request: NewHeavyRequest): Promise<void> => {
    asked = request;
    const { method, url, headers, body } = request;
    const answer = await app.inject({ method: method as 'POST', url, headers, payload: Buffer.from(body) });
    const { data } = answer.json<{ data: { error: { code: string } }[] }>();
    answers.push({ status: answer.statusCode, codes: [...new Set(data.map(({ error }) => error.code))] });
  };
  await warmUpBatches(ask, () => answers.length < 3);
  // The versions do not exist; all else about the items is as it must be.
  expect(answers).toEqual(Array.from({ length: 3 }, () => ({ status: 200, codes: ['NOT_FOUND'] })));
  expect(await storedRows(services.sql)).toBe(0);
  await app.close();
});

it('asks nothing once a request has come', async () => {
  let asked = 0;
  await warmUpBatches(
    async () => asked++,
    () => false,
  );
  expect(asked).toBe(0);
});
