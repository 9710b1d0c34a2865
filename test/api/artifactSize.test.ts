// The most that one artifact may have: beyond it the asker reads why, and nothing of the file is kept.
import { expect, it } from 'vitest';
import { createBacktestApi } from '../support/backtestApi.ts';

it('refuses a file that is too large with 409, keeps nothing of it, and goes on', async () => {
  await using setup = await createBacktestApi();
  const { api, client, run } = setup;
  await setup.withWorker({ maxArtifactBytes: 3 << 20 });
  // Pieces of 1 MiB after a line of text.
  const large = await run({ params: { pieces: 3 } });
  const small = await run({ params: { pieces: 2 } });
  expect(await client.get(`/backtests/${large.body.id}/artifacts/equity`)).toMatchObject({
    status: 409,
    body: {
      code: 'ARTIFACT_NOT_REPRODUCIBLE',
      message: expect.stringContaining('The file is larger than 3 MiB. Use a shorter range or a coarser timeframe'),
      error: { code: 'RESOURCE_LIMIT' },
    },
  });
  const chunksOf = (id: string) => api.services.sql`
    select 1 from rerun_chunks join reruns on reruns.id = rerun_id where backtest_id = ${id}`;
  expect(await chunksOf(large.body.id)).toHaveLength(0);
  const file = await client.get(`/backtests/${small.body.id}/artifacts/equity?format=csv`);
  expect([file.status, file.text.length > 2 << 20]).toEqual([200, true]);
  expect(await chunksOf(small.body.id)).toHaveLength(3);
});
