// Short reads: what every request asks Postgres waits for nobody else's statements.
import { afterAll, expect, it } from 'vitest';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
afterAll(() => api[Symbol.asyncDispose]());

it('answers short reads while all other connections are held by transactions and long statements', async () => {
  const { sql } = api.services;
  const client = await api.client();
  expect((await client.get('/workspace')).status).toBe(200);
  const held = await Promise.all(Array.from({ length: sql.options.max }, () => sql.reserve()));
  try {
    const { status, body } = await client.get('/workspace');
    expect(status).toBe(200);
    expect(body.workspace.id).toBe(client.workspaceId);
  } finally {
    for (const connection of held) connection.release();
  }
});
