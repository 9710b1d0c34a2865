// Places for shards: how many run at a time, whose they are, and that no two tickets are let in for one place.
import { describe, expect, it } from 'vitest';
import type { ClaimFilter } from '../../src/db/claims.ts';
import type { ShardClaim } from '../../src/db/sweepShards.ts';
import { ShardPlaces } from '../../src/jobs/shardPlaces.ts';
import { QUICK_SHARD_COST } from '../../src/jobs/shares.ts';

type Shard = Pick<ShardClaim, 'workspaceId' | 'cost'>;
const LONG = 2 * QUICK_SHARD_COST;
const QUICK = QUICK_SHARD_COST;

/** Places with a queue of shards, each named by its workspace; a claim takes as long as a statement does. */
function placesWith(limits: ConstructorParameters<typeof ShardPlaces>[0], due: Shard[]) {
  const places = new ShardPlaces(limits);
  const running: { readonly workspaceId: string; readonly end: () => void }[] = [];
  const claim = async (only: ClaimFilter = { excluded: [] }): Promise<ShardClaim | undefined> => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const at = due.findIndex(({ workspaceId, cost }) =>
      'mostCost' in only ? cost <= only.mostCost : !only.excluded.includes(workspaceId),
    );
    return at === -1 ? undefined : (due.splice(at, 1)[0] as ShardClaim);
  };
  const run = ({ workspaceId }: ShardClaim) =>
    new Promise<void>((resolve) => running.push({ workspaceId, end: resolve }));
  /** What a ticket does. @returns whether it was let in and ran a shard */
  const ticket = async (): Promise<boolean> => {
    using entry = places.enter();
    return entry !== undefined && places.takeShard(claim, run);
  };
  const workspaces = (): string[] => running.map(({ workspaceId }) => workspaceId);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 200));
  return { places, ticket, running, workspaces, settle };
}

const many = (count: number, workspaceId: string, cost = LONG): Shard[] =>
  Array.from({ length: count }, () => ({ workspaceId, cost }));

describe('the places for shards', () => {
  it('are not passed by sixteen tickets that come at once', async () => {
    const { ticket, workspaces, settle } = placesWith({ ordinary: 2, relief: 3, quick: 1 }, many(16, 'a'));
    for (let count = 0; count < 16; count++) void ticket();
    await settle();
    expect(workspaces()).toEqual(['a', 'a']);
  });

  it('let in no more tickets than there are places, before anything is claimed', () => {
    const places = new ShardPlaces({ ordinary: 2, relief: 3, quick: 1 });
    const entries = Array.from({ length: 16 }, () => places.enter());
    expect(entries.filter((entry) => entry !== undefined)).toHaveLength(6);
    entries[0]![Symbol.dispose]();
    expect(places.enter()).toBeDefined();
    expect(places.enter()).toBeUndefined();
  });

  it('have room for workspaces that have no shard, whatever another one has due', async () => {
    const due = [...many(8, 'a'), ...many(4, 'b'), ...many(4, 'c')];
    const { ticket, workspaces, settle } = placesWith({ ordinary: 2, relief: 1, quick: 0 }, due);
    for (let count = 0; count < 3; count++) void ticket();
    await settle();
    expect(workspaces()).toEqual(['a', 'a', 'b']);
  });

  it('have room for a quick shard while all others are held by long ones', async () => {
    const due = [...many(4, 'a'), ...many(4, 'b'), ...many(1, 'c', QUICK)];
    const { ticket, workspaces, settle } = placesWith({ ordinary: 1, relief: 1, quick: 1 }, due);
    for (let count = 0; count < 3; count++) void ticket();
    await settle();
    expect(workspaces()).toEqual(['a', 'b', 'c']);
  });

  it('are free again once their shard has ended, and say when they are full', async () => {
    const { places, ticket, running, settle } = placesWith({ ordinary: 1, relief: 0, quick: 0 }, many(2, 'a'));
    const first = ticket();
    await settle();
    expect(places.isFull).toBe(true);
    expect(await ticket()).toBe(false);
    running[0].end();
    expect(await first).toBe(true);
    expect(places.isFull).toBe(false);
    const second = ticket();
    await settle();
    running[1].end();
    expect(await second).toBe(true);
    expect(await ticket()).toBe(false);
  });
});
