// The claimer: one claim for all who wait, nobody forgotten.
import { setImmediate as settle } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Claim, Claimed, ClaimFilter } from '../../src/db/claims.ts';
import { Claimer } from '../../src/jobs/claimer.ts';

const claim = (id: string, cost = 100_000): Claim => ({
  id,
  workspaceId: 'w',
  strategyVersionId: 'v',
  config: {},
  snapshots: [],
  runKey: id,
  cost,
  memoryBytes: 0,
  attempt: 1,
  isCancelled: false,
  createdAt: new Date(0),
  tier: 'pro',
});
const nothing: Claimed = { runs: [], copiedIds: [], hasCrashSuspects: false };

/** Hands out what it is told, one answer a claim, then nothing. */
function source(answers: Claimed[]) {
  const calls: string[] = [];
  return {
    calls,
    claimDue: async (maxRuns: number) => {
      calls.push(`due ${maxRuns}`);
      await Promise.resolve();
      return answers.shift() ?? nothing;
    },
  };
}

it('claims once for all waiters, and divides what comes', async () => {
  const from = source([
    { ...nothing, runs: [claim('a')] },
    { ...nothing, runs: ['b', 'c', 'd', 'e'].map((id) => claim(id)) },
  ]);
  const claimer = new Claimer(from.claimDue);
  const taken: string[][] = [];
  const take = () =>
    claimer.takeShare(async (share) => {
      taken.push(share.map((each) => each.id));
      await settle();
    });
  // The first claims for itself; the others have come by the time it is answered.
  expect(await Promise.all([take(), take(), take()])).toEqual([true, true, true]);
  expect(taken).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
  expect(from.calls.filter((call) => call.startsWith('due')).length).toBe(2);
});

it('returns false when nothing is due', async () => {
  const claimer = new Claimer(source([]).claimDue);
  expect(await claimer.takeShare(async () => {})).toBe(false);
});

it('continues when the claim itself completed some', async () => {
  const from = source([
    { ...nothing, copiedIds: ['x'] },
    { ...nothing, runs: [claim('a')] },
  ]);
  expect(await new Claimer(from.claimDue).takeShare(async () => {})).toBe(true);
  expect(from.calls).toEqual(['due 100', 'due 100']);
});

it('rejects all waiters when a claim fails, and tries the next one again', async () => {
  const from = source([{ ...nothing, runs: [claim('a')] }]);
  let isAway = true;
  const claimer = new Claimer(async (maxRuns) => {
    if (isAway) throw new Error('the database is away');
    return from.claimDue(maxRuns);
  });
  await expect(claimer.takeShare(async () => {})).rejects.toThrow('away');
  isAway = false;
  expect(await claimer.takeShare(async () => {})).toBe(true);
});

it('gives waiters an empty share once it is closed', async () => {
  const claimer = new Claimer(source([{ ...nothing, runs: [claim('a')] }]).claimDue);
  const waiting = claimer.takeShare(async () => {});
  claimer.close();
  expect(await waiting).toBe(false);
  expect(await claimer.takeShare(async () => {})).toBe(false);
});

it('claims only for workspaces that have no share once all ordinary shares are taken', async () => {
  const asked: (ClaimFilter | undefined)[] = [];
  const due = [
    [{ ...claim('a'), workspaceId: 'slow' }],
    [{ ...claim('b'), workspaceId: 'slow' }],
    [{ ...claim('c'), workspaceId: 'quick' }],
  ];
  const claimDue = async (_runs: number, _cost: number, only?: ClaimFilter) => {
    asked.push(only);
    return { ...nothing, runs: due.shift() ?? [] };
  };
  const claimer = new Claimer(claimDue, { shares: 2, reliefShares: 1, quickShares: 0 });
  const release = Promise.withResolvers<undefined>();
  const taken: string[] = [];
  const take = () =>
    claimer.takeShare(async ([{ id }]) => {
      taken.push(id);
      await release.promise;
    });
  const first = take();
  await settle();
  const second = take();
  await settle();
  expect(claimer.isFull).toBe(true);
  const third = take();
  await settle();
  // Nobody may work on a fourth: its ticket is left to others.
  expect(await take()).toBe(false);
  expect(taken).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([undefined, undefined, { excluded: ['slow'] }]);
  release.resolve(undefined);
  expect(await Promise.all([first, second, third])).toEqual([true, true, true]);
});

it('claims quick backtests of any workspace once the relief shares are taken too, one share at a time', async () => {
  const asked: (ClaimFilter | undefined)[] = [];
  const due = [[claim('slow', 1e9)], [], [claim('quick', 100)], [claim('quicker', 50)]];
  const claimDue = async (_runs: number, _cost: number, only?: ClaimFilter) => {
    asked.push(only);
    return { ...nothing, runs: due.shift() ?? [] };
  };
  const claimer = new Claimer(claimDue, { shares: 1, reliefShares: 1, quickShares: 1 });
  const releases = new Map<string, () => void>();
  const take = () => claimer.takeShare(([{ id }]) => new Promise((resolve) => releases.set(id, resolve)));
  const slow = take();
  await settle();
  const quick = take();
  await settle();
  // Nobody else has anything, so what is quick may be of the same workspace.
  expect(asked).toEqual([undefined, { excluded: ['w'] }, { mostCost: 500_000 }]);
  due.unshift([]);
  expect(await take()).toBe(false);
  releases.get('quick')!();
  expect(await quick).toBe(true);
  due.unshift([]);
  const quicker = take();
  await settle();
  releases.get('quicker')!();
  expect(await quicker).toBe(true);
  releases.get('slow')!();
  expect(await slow).toBe(true);
});
