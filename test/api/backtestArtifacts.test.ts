// Artifacts of backtests over HTTP, and verify, with the stand-in engine behind the worker.
import { afterAll, describe, expect, it } from 'vitest';
import { ChunkMissing, readRerunChunks } from '../../src/db/reruns.ts';
import { decodeDetail } from '../../src/engine/index.ts';
import { createBacktestApi } from '../support/backtestApi.ts';
import { jsonDetail } from '../support/jsonResults.ts';

const backtests = await createBacktestApi();
const { api, client, post, run, withWorker, withoutWorker } = backtests;
afterAll(() => backtests[Symbol.asyncDispose]());

describe('an artifact of a backtest', () => {
  const completed = async (value: number): Promise<string> => {
    await withWorker();
    const { id } = (await post({ params: { value } })).body;
    expect((await client.get(`/backtests/${id}?wait=30`)).body.status).toBe('completed');
    return id as string;
  };

  it('is made on demand in the format that the query or the Accept header asks for', async () => {
    const id = await completed(20);
    const url = `/backtests/${id}/artifacts/equity`;
    const csv = await client.get(`${url}?format=csv`);
    expect(csv.text).toMatch(/^equity csv \d+$/);
    expect(csv.headers).not.toHaveProperty('artifact-notice');
    const accepted = await client.get(url, {
      accept: 'text/plain, application/vnd.apache.arrow.file;q=0.9, text/csv;q=0.1',
    });
    expect(accepted.text).toMatch(/^equity arrow/);
    expect(accepted.headers['content-type']).toBe('application/vnd.apache.arrow.file');
    expect((await client.get(`/backtests/${id}/artifacts/report`)).headers['content-type']).toContain('text/html');
  });

  it('is made once for all who ask for it, and kept', async () => {
    const id = await completed(28);
    const url = `/backtests/${id}/artifacts/equity?format=csv`;
    const answers = await Promise.all([1, 2, 3].map(() => client.get(url)));
    const made = () => api.services.sql<{ id: string }[]>`select id from reruns where backtest_id = ${id}`;
    const first = await made();
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, answers[0].text]));
    expect((await client.get(url)).text).toBe(answers[0].text);
    expect(await made()).toEqual(first);
    const read = async (rerunId: string): Promise<number> => {
      let bytes = 0;
      for await (const chunk of readRerunChunks(api.services.sql, rerunId)) bytes += chunk.length;
      return bytes;
    };
    const [{ id: rerunId }] = first;
    // One reader does not wait for another that is being sent the file.
    await api.services.sql.begin(async (tx) => {
      await tx`update reruns set used_at = now() where backtest_id = ${id}`;
      expect((await client.get(url)).text).toBe(answers[0].text);
    });
    expect(await read(rerunId)).toBe(answers[0].text.length);
    // A file that is being sent must not end as if it were whole.
    await api.services.sql`delete from rerun_chunks where rerun_id = ${rerunId}`;
    await expect(read(rerunId)).rejects.toThrow(ChunkMissing);
    await api.services.sql`delete from reruns where id = ${rerunId}`;
  });

  it('comes from the stored result for trades, and from a new run for trades with values', async () => {
    const id = await completed(24);
    const url = `/backtests/${id}/artifacts/trades`;
    expect((await client.get(`${url}?values=true&format=csv`)).text).toMatch(/^trades csv \d+$/);
    await withoutWorker();
    const rows = (await client.get(url)).body as Record<string, unknown>[];
    expect(rows).toEqual([expect.objectContaining({ positionId: 1, pnl: 24, exitReason: null })]);
    const csv = await client.get(url, { accept: 'text/csv' });
    expect(csv.headers['content-type']).toContain('text/csv');
    expect(csv.text).toMatch(/^positionId,side,.*\r\n1,,/);
    const refused = await client.get(`/backtests/${id}/artifacts/equity?values=true`);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: '/query/values' }] } });
  });

  it('is 404 if it is unknown or its backtest has not completed, and 400 in a format it does not have', async () => {
    const id = await completed(21);
    expect((await client.get(`/backtests/${id}/artifacts/nope`)).status).toBe(404);
    expect((await client.get(`/backtests/${id}/artifacts/report?format=csv`)).status).toBe(400);
    expect((await client.get(`/backtests/${id}/artifacts/trades?format=html`)).status).toBe(400);
    expect((await client.get(`/backtests/${id}/artifacts/trades?format=xml`)).status).toBe(400);
    const failed = (await post({ params: { act: 'fail' } })).body.id as string;
    await client.get(`/backtests/${failed}?wait=30`);
    expect((await client.get(`/backtests/${failed}/artifacts/trades`)).status).toBe(404);
  });

  it('is backed by verify, which runs the backtest again and compares the hashes', async () => {
    const id = await completed(22);
    const reply = await client.post(`/backtests/${id}/verify`);
    expect(reply, reply.text).toMatchObject({ status: 200, body: { id, verified: true } });
    expect(reply.body.recomputed.resultHash).toBe(reply.body.stored.resultHash);
  });

  it('is verified if an older engine hashed the same result in another way, but not if it differs', async () => {
    const { sql } = api.services;
    const id = await completed(24);
    const [{ detail }] = await sql<{ detail: Uint8Array }[]>`select detail from backtest_details where id = ${id}`;
    const { reproducibility, ...others } = decodeDetail(detail);
    const storedBy = async (engineVersion: string, change: object): Promise<boolean> => {
      const older = { ...reproducibility, engineVersion, resultHash: 'older' };
      const summary = { ...(others.summary as object), ...change };
      const bytes = jsonDetail({ ...others, summary, reproducibility: older });
      await sql`update backtest_details set detail = ${bytes} where id = ${id}`;
      const reply = await client.post(`/backtests/${id}/verify`);
      expect(reply, reply.text).toMatchObject({ status: 200, body: { stored: older, recomputed: reproducibility } });
      return reply.body.verified as boolean;
    };
    expect(await storedBy('1.4.0', {})).toBe(true);
    expect(await storedBy('1.4.0', { equityPreview: [1, 2] })).toBe(false);
    expect(await storedBy(reproducibility.engineVersion, {})).toBe(false);
  });

  it('carries a notice if the engine has changed, except stored trades, and verify says no', async () => {
    const id = await completed(23);
    const trades = (await client.get(`/backtests/${id}/artifacts/trades`)).text;
    await withoutWorker();
    process.env.STAND_IN_DRIFT = '-drifted';
    try {
      await withWorker();
      expect(await client.get(`/backtests/${id}/artifacts/trades`)).toMatchObject({ status: 200, text: trades });
      const equity = await client.get(`/backtests/${id}/artifacts/equity?format=csv`);
      expect(equity).toMatchObject({ status: 200, headers: { 'artifact-notice': 'The stand-in has drifted.' } });
      expect(equity.text).toMatch(/^equity csv/);
      expect((await client.post(`/backtests/${id}/verify`)).body.verified).toBe(false);
    } finally {
      delete process.env.STAND_IN_DRIFT;
      await withoutWorker();
    }
  });

  it('is 409 ARTIFACT_NOT_REPRODUCIBLE if the backtest cannot run again, but its trades remain', async () => {
    const id = await completed(25);
    await withoutWorker();
    process.env.STAND_IN_FAILURE = 'The stand-in refuses.';
    try {
      await withWorker();
      expect(await client.get(`/backtests/${id}/artifacts/equity`)).toMatchObject({
        status: 409,
        body: { code: 'ARTIFACT_NOT_REPRODUCIBLE', message: expect.stringContaining('The stand-in refuses.') },
      });
      expect((await client.get(`/backtests/${id}/artifacts/trades`)).status).toBe(200);
    } finally {
      delete process.env.STAND_IN_FAILURE;
      await withoutWorker();
    }
  });
});

it('tells no customer the stack of a bug or a path of the server', async () => {
  await withWorker();
  const { body: ended } = await run({ params: { value: 26 } });
  const thrown = await run({ params: { act: 'throw' } });
  await withoutWorker();
  process.env.STAND_IN_BUG = 'yes';
  try {
    await withWorker();
    const replies = [
      thrown,
      await client.get(`/backtests/${thrown.body.id}?view=agent`),
      await client.get(`/backtests/${ended.id}/artifacts/equity`),
      await client.get(`/backtests/${ended.id}/artifacts/report`),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 409, 409]);
    for (const { text } of replies) {
      expect(text).toMatch(/INTERNAL_ERROR|error in the service/);
      expect(text).not.toMatch(/\bat \w+.*:\d+:\d+|file:|node_modules|\.ts\b/);
      expect(text).not.toContain(process.cwd());
    }
  } finally {
    delete process.env.STAND_IN_BUG;
    await withoutWorker();
  }
});
