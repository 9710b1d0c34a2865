// SQL statements per batch, counted exactly: a batch costs as many however many backtests are in it.
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimDue, finishRuns, type Claim, type FinishedRun } from '../../src/db/claims.ts';
import type { Sql } from '../../src/db/connect.ts';
import { insertBacktests } from '../../src/db/backtests.ts';
import { Results } from '../../src/jobs/results.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeWorkspace, newBacktests, quiet } from '../support/queue.ts';
import { summaryBytes } from '../support/summaries.ts';

const WORKER = '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f';
const bytes = Buffer.from('x');
const RESULT = { summary: summaryBytes({}), detail: bytes, trades: bytes, warnings: [], diagnosis: null };
const finished = ({ id, attempt }: Claim): FinishedRun => ({
  id,
  attempt,
  status: 'completed',
  isCached: false,
  result: RESULT,
  error: null,
  barsDone: 1,
  barsTotal: 1,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Statements that `work` sends through the client it is given; fragments are not statements. */
async function statementsOf(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let count = 0;
  const counting = new Proxy(database.sql, {
    apply: (target, self, args: unknown[]) => {
      const query = Reflect.apply(target, self, args) as { then: (...handlers: unknown[]) => unknown };
      const then = query.then.bind(query);
      // oxlint-disable-next-line unicorn/no-thenable -- a query is sent when it is awaited
      query.then = (...handlers) => {
        count++;
        return then(...handlers);
      };
      return query;
    },
  });
  await work(counting);
  return count;
}

it.each([1, 5, 120])(
  'accepts %i backtests in two, claims them in one and stores their results in one',
  async (size) => {
    const workspace = await makeWorkspace(database.sql);
    const items = newBacktests(workspace, { sha256: 'a' }, Array.from({ length: size }, () => ({}))); // prettier-ignore
    expect(await statementsOf((sql) => insertBacktests(sql as never, workspace.workspaceId, items))).toBe(2);
    let runs: readonly Claim[] = [];
    expect(await statementsOf(async (sql) => ({ runs } = await claimDue(sql, WORKER, size, 1e12)))).toBe(1);
    expect(runs).toHaveLength(size);
    expect(await statementsOf((sql) => finishRuns(sql, runs.map(finished)))).toBe(1);
  },
);

it('stores what arrives during a statement with the next one', async () => {
  const workspace = await makeWorkspace(database.sql);
  const items = newBacktests(workspace, { sha256: 'a' }, Array.from({ length: 90 }, () => ({}))); // prettier-ignore
  await database.sql.begin((tx) => insertBacktests(tx, workspace.workspaceId, items));
  const { runs } = await claimDue(database.sql, WORKER, 90, 1e12);
  const [first, ...others] = runs;
  const add = (results: Results, claim: Claim): Promise<void> => results.add(claim, finished(claim));
  const count = await statementsOf(async (sql) => {
    const results = new Results(sql, quiet);
    const stored = add(results, first);
    // By then, the first statement is under way.
    await immediate();
    await Promise.all([stored, ...others.map((claim) => add(results, claim))]);
  });
  expect(count).toBe(2);
});
