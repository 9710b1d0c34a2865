// The numbers of due and open backtests per workspace, which each statement that moves backtests changes itself: after
// any sequence of such statements they are what counting the rows gives.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelBacktest } from '../../src/db/backtests.ts';
import { claimDue, finishRuns, returnAllRuns, returnRuns, type Claim } from '../../src/db/claims.ts';
import { claimCrashSuspect, recordKill } from '../../src/db/crashSuspects.ts';
import { takeOverDeadWorkers } from '../../src/db/workerProcesses.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { enqueue, makeWorkspace, type TestWorkspace } from '../support/queue.ts';
import { summaryBytes } from '../support/summaries.ts';
import { diceOf } from '../support/dice.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const RESULT = {
  summary: summaryBytes({ returnPct: 1 }),
  detail: Buffer.from('detail'),
  trades: Buffer.from('trades'),
  warnings: ['A', 'B'],
  diagnosis: 'OK',
};

it.each([1, 2, 3])(
  'counts due and open backtests as the rows do after every step of a random sequence (seed %i)',
  async (seed) => {
    const { sql } = database;
    const random = diceOf(seed);
    await sql`delete from backtests`;
    const workspaces = await Promise.all([makeWorkspace(sql, 'free'), makeWorkspace(sql), makeWorkspace(sql)]);
    const workspaceOf = new Map<string, TestWorkspace>();
    const worker = randomUUID();
    let held: Claim[] = [];

    const ids = () => [...workspaceOf.keys()];
    const steps: Record<string, () => Promise<unknown>> = {
      accept: async () => {
        const workspace = random.pick(workspaces);
        const params = Array.from({ length: random.whole(1, 5) }, () => ({}));
        const runKey = random.whole(0, 2) === 0 ? { runKey: `${workspace.workspaceId} equal` } : {};
        for (const id of await enqueue(sql, workspace, { sha256: 'a' }, params, runKey)) workspaceOf.set(id, workspace);
      },
      claim: async () => void held.push(...(await claimDue(sql, worker, random.whole(1, 6), 1e9)).runs),
      claimSuspect: async () => {
        const claim = await claimCrashSuspect(sql, worker);
        if (claim) held.push(claim);
      },
      kill: async () => {
        const [killed] = held.splice(0, 1);
        if (killed) await recordKill(sql, killed);
      },
      finish: async () => {
        const done = held.splice(0, random.whole(0, 4));
        const runs = done.map(({ id, attempt }) => {
          const isDone = random.whole(0, 3) > 0;
          const ended = isDone ? { status: 'completed', result: RESULT } : { status: 'failed', result: null };
          const common = { id, attempt, isCached: false, error: null, barsDone: 1, barsTotal: 1 };
          return { ...common, ...ended } as Parameters<typeof finishRuns>[1][number];
        });
        expect(new Set(await finishRuns(sql, runs))).toEqual(new Set(done.map(({ id }) => id)));
        // What is not held any more is not written.
        expect(await finishRuns(sql, runs)).toEqual([]);
      },
      giveBack: () => returnRuns(sql, held.splice(0, random.whole(0, 3))),
      giveAllBack: async () => {
        await returnAllRuns(sql, worker);
        held = [];
      },
      cancel: async () => {
        if (ids().length === 0) return;
        const id = random.pick(ids());
        await cancelBacktest(sql, workspaceOf.get(id)!.workspaceId, id);
      },
      // The worker is not registered, so all it holds is taken over.
      die: async () => {
        await takeOverDeadWorkers(sql);
        held = [];
      },
      remove: async () => {
        if (ids().length === 0) return;
        const id = random.pick(ids());
        held = held.filter((claim) => claim.id !== id);
        workspaceOf.delete(id);
        await sql`delete from backtests where id = ${id}`;
      },
    };
    for (let step = 0; step < 120; step++) {
      const name = random.pick(['accept', 'accept', 'claim', 'claim', 'finish', ...Object.keys(steps)]);
      await steps[name]();
      const wrong = await sql`
      select * from workspace_turns turn join lateral (
        select count(*) filter (where claimed_by is null and kills = 0)::int as counted_due,
          count(*)::int as counted_open
        from backtest_queue q where q.workspace_id = turn.workspace_id
      ) as counted on true join lateral (
        select coalesce(sum(octet_length(d.detail) + octet_length(d.trades)), 0) as counted_bytes
        from backtest_details d join backtests b using (id) where b.workspace_id = turn.workspace_id
      ) as stored on true
      where due <> counted_due or open <> counted_open or result_bytes <> counted_bytes`;
      expect(wrong, `after ${name}, step ${step} of seed ${seed}`).toEqual([]);
    }
    // Each backtest is open or has ended, and never both; a result has its detail and nothing else has.
    const [{ both, neither, details }] = await sql<[{ both: number; neither: number; details: number }]>`
    select count(*) filter (where q.id is not null and r.id is not null)::int as both,
      count(*) filter (where q.id is null and r.id is null)::int as neither,
      count(*) filter (where (d.id is not null) <> coalesce(r.status = 'completed', false))::int as details
    from backtests b
      left join backtest_queue q using (id)
      left join backtest_results r using (id)
      left join backtest_details d using (id)`;
    expect({ both, neither, details }).toEqual({ both: 0, neither: 0, details: 0 });
    const [{ left }] = await sql<[{ left: number }]>`
    select (select count(*) from backtest_queue where id not in (select id from backtests))::int
      + (select count(*) from backtest_results where id not in (select id from backtests))::int
      + (select count(*) from backtest_details where id not in (select id from backtests))::int as left`;
    expect(left).toBe(0);
  },
);
