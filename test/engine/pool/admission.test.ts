// Admission: whose turn it is on the threads of a process.
import { describe, expect, it } from 'vitest';
import { Admission, SLOW_MS, type Lease } from '../../../src/engine/pool/admission.ts';

const MIB = 2 ** 20;

/** An admission with a clock of its own, and the tasks it has admitted, in order. */
function admission(
  threads: number,
  reliefThreads = 1,
  memoryBytes = 6_400 * MIB,
  quickThreads = 0,
  quickShardThreads = 0,
) {
  let now = 0;
  const gate = new Admission({ threads, reliefThreads, quickThreads, quickShardThreads, memoryBytes }, () => now);
  const admitted: string[] = [];
  const leases = new Map<string, Lease>();
  const enter = async (name: string, bytes: number): Promise<void> => {
    const isQuick = name.endsWith('quick');
    const isQuickShard = name.endsWith('shard');
    const isElsewhere = name.endsWith('elsewhere');
    leases.set(name, await gate.enter({ owner: name[0], bytes, isQuick, isQuickShard, isElsewhere }));
    admitted.push(name);
  };
  const ask = (name: string, bytes = MIB): void => void enter(name, bytes);
  const settle = async (): Promise<string[]> => {
    await Promise.resolve();
    await Promise.resolve();
    return admitted;
  };
  const wait = (ms: number): void => {
    now += ms;
    gate.admitAll();
  };
  const leave = (name: string): void => leases.get(name)!.leave();
  const raise = (name: string, bytes: number): boolean => leases.get(name)!.raise(bytes);
  const renew = (name: string): void => leases.get(name)!.renew();
  return { gate, ask, settle, wait, leave, raise, renew };
}

describe('the threads', () => {
  it('are given to owners in turn, and within an owner by arrival', async () => {
    const { ask, leave, settle } = admission(1);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) ask(name);
    for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) {
      expect((await settle()).at(-1)).toBe(name);
      leave(name);
    }
  });

  it('go to the owner who holds the fewest', async () => {
    const { ask, leave, settle } = admission(3);
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) ask(name);
    expect(await settle()).toEqual(['a1', 'a2', 'b1']);
    leave('a1');
    expect((await settle()).at(-1)).toBe('a3');
    leave('a2');
    leave('a3');
    expect((await settle()).at(-1)).toBe('b2');
  });

  it('beyond those for owners who hold none are one for quick tasks and one for quick shards', async () => {
    const { ask, settle, wait, leave } = admission(1, 1, undefined, 1, 1);
    for (const name of ['a1', 'b1', 'c1']) ask(name);
    await settle();
    wait(SLOW_MS);
    expect(await settle()).toEqual(['a1', 'b1']);
    wait(SLOW_MS);
    for (const name of ['c shard', 'd shard', 'a quick', 'd quick']) ask(name);
    // Neither waits for the other kind, nor for the long ones.
    expect(await settle()).toEqual(['a1', 'b1', 'c shard', 'a quick']);
    leave('a quick');
    expect((await settle()).at(-1)).toBe('d quick');
    leave('c shard');
    expect((await settle()).at(-1)).toBe('d shard');
  });

  it('are not all held by slow tasks of one owner while another waits', async () => {
    const { ask, settle, wait, leave } = admission(2, 1);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) ask(name);
    expect(await settle()).toEqual(['a1', 'a2']);
    wait(SLOW_MS);
    // One more than there are threads; the owner of the slow ones gets none of those.
    expect(await settle()).toEqual(['a1', 'a2', 'b1']);
    wait(SLOW_MS);
    expect((await settle()).length).toBe(3);
    leave('b1');
    expect((await settle()).at(-1)).toBe('c1');
    leave('c1');
    leave('a1');
    expect((await settle()).at(-1)).toBe('a3');
  });

  it('are not exceeded while the tasks on them are short', async () => {
    const { ask, settle, wait } = admission(2, 2);
    for (const name of ['a1', 'a2', 'b1']) ask(name);
    wait(SLOW_MS - 1);
    expect(await settle()).toEqual(['a1', 'a2']);
  });
});

describe('the thread for quick tasks', () => {
  it('takes one after the other while slow tasks of any number of owners hold all others', async () => {
    const { ask, settle, wait, leave } = admission(2, 1, undefined, 1);
    for (const name of ['a1', 'b1']) ask(name);
    wait(SLOW_MS);
    for (const name of ['c1', 'd1', 'e-quick', 'a-quick']) ask(name);
    expect(await settle()).toEqual(['a1', 'b1', 'c1']);
    wait(SLOW_MS);
    expect(await settle()).toEqual(['a1', 'b1', 'c1', 'e-quick']);
    // However long it takes, another has to wait; and what is not quick waits for the others.
    wait(SLOW_MS);
    expect((await settle()).length).toBe(4);
    leave('e-quick');
    expect((await settle()).at(-1)).toBe('a-quick');
    leave('a-quick');
    expect((await settle()).length).toBe(5);
    leave('b1');
    expect((await settle()).at(-1)).toBe('d1');
  });

  it('is left alone while the others go from one run to the next', async () => {
    const { ask, settle, wait, renew } = admission(1, 1, undefined, 1);
    ask('a1');
    ask('a-quick');
    ask('b1');
    await settle();
    wait(SLOW_MS - 1);
    renew('a1');
    wait(SLOW_MS - 1);
    expect(await settle()).toEqual(['a1']);
    wait(1);
    expect(await settle()).toEqual(['a1', 'b1']);
    wait(SLOW_MS);
    expect(await settle()).toEqual(['a1', 'b1', 'a-quick']);
  });

  it('is left alone while a quick task waits for a processor', async () => {
    const { ask, settle, wait } = admission(1, 1, undefined, 1);
    ask('a-quick');
    ask('b-quick');
    wait(5 * SLOW_MS);
    expect(await settle()).toEqual(['a-quick']);
    wait(5 * SLOW_MS);
    expect(await settle()).toEqual(['a-quick', 'b-quick']);
  });

  it('is left alone while there are others', async () => {
    const { ask, settle, leave, wait } = admission(1, 1, undefined, 1);
    ask('a1');
    wait(SLOW_MS);
    ask('b-quick');
    ask('c-quick');
    // The first has relieved the slow task; only the second needs the thread for quick ones.
    expect(await settle()).toEqual(['a1', 'b-quick']);
    leave('b-quick');
    expect((await settle()).at(-1)).toBe('c-quick');
  });
});

describe('the memory', () => {
  it('lets tasks pass while their bytes fit, and a small one always', async () => {
    const { ask, settle, leave } = admission(10);
    ask('a1', 4_000 * MIB);
    ask('b1', 4_000 * MIB);
    ask('c1', 1_000 * MIB);
    ask('d1', 50 * MIB);
    expect(await settle()).toEqual(['a1', 'c1', 'd1']);
    leave('a1');
    expect((await settle()).at(-1)).toBe('b1');
  });

  it('does not let large tasks overtake one that has waited long', async () => {
    const { ask, settle, leave, wait } = admission(10);
    ask('a1', 4_000 * MIB);
    ask('b1', 5_000 * MIB);
    await settle();
    wait(3_000);
    ask('c1', 1_000 * MIB);
    ask('d1', 50 * MIB);
    expect(await settle()).toEqual(['a1', 'd1']);
    leave('a1');
    expect(await settle()).toEqual(['a1', 'd1', 'b1']);
    leave('b1');
    expect((await settle()).at(-1)).toBe('c1');
  });

  it('is held for what runs in another process, which takes no thread and waits for none', async () => {
    const { gate, ask, settle, leave } = admission(1);
    ask('a1', 4_000 * MIB);
    ask('b-elsewhere', 1_000 * MIB);
    expect(await settle()).toEqual(['a1', 'b-elsewhere']);
    expect(gate.heldCount).toBe(1);
    ask('c-elsewhere', 1_000 * MIB);
    expect((await settle()).length).toBe(2);
    leave('a1');
    expect((await settle()).at(-1)).toBe('c-elsewhere');
    ask('d1', 1_000 * MIB);
    expect((await settle()).at(-1)).toBe('d1');
  });

  it('is raised for a task while there is some, which others then wait for', async () => {
    const { ask, settle, leave, raise } = admission(10);
    ask('a1', 1_000 * MIB);
    ask('b1', 2_000 * MIB);
    await settle();
    expect(raise('a1', 3_700 * MIB)).toBe(false);
    expect(raise('a1', 3_500 * MIB)).toBe(true);
    ask('c1', 200 * MIB);
    expect(await settle()).toEqual(['a1', 'b1']);
    leave('a1');
    expect((await settle()).at(-1)).toBe('c1');
  });

  it('is raised for a small task only as for a large one', async () => {
    const { ask, settle, leave, raise } = admission(10);
    ask('a1', 5_500 * MIB);
    ask('b1', 50 * MIB);
    await settle();
    expect(raise('b1', 100 * MIB)).toBe(true);
    expect(raise('b1', 200 * MIB)).toBe(false);
    leave('a1');
    expect(raise('b1', 5_600 * MIB)).toBe(true);
    ask('c1', 750 * MIB);
    expect(await settle()).toEqual(['a1', 'b1']);
  });

  it('is not raised while a large task has waited long', async () => {
    const { ask, settle, wait, raise } = admission(10);
    ask('a1', 4_000 * MIB);
    ask('b1', 50 * MIB);
    ask('c1', 5_000 * MIB);
    await settle();
    expect(raise('a1', 4_100 * MIB)).toBe(true);
    wait(3_000);
    expect(raise('a1', 4_200 * MIB)).toBe(false);
    expect(raise('b1', 99 * MIB)).toBe(true);
  });

  it('refuses what can never fit', () => {
    const { gate } = admission(1);
    expect(() => gate.enter({ owner: 'a', bytes: gate.maxBytes + 1 })).toThrow(/never fit/);
  });
});
