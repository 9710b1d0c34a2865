// Admission: which waiting task gets a thread next, fairly between owners and within the available memory.
//
// Threads cannot be limited in memory later: typed arrays are outside V8's heap limit, and a heap overflow in one
// thread ends the process.

/** What a task asks for. */
interface Ask {
  /** Who it works for: a workspace. Tasks of one owner never delay those of another for longer than `SLOW_MS`. */
  readonly owner: string;
  /** Bytes it may need at its peak, besides the shared snapshots. */
  readonly bytes: number;
  /** Each of its runs ends within some tens of milliseconds, as far as is known. */
  readonly isQuick?: boolean;
  /** It is a shard that ends within some tenths of a second, as far as is known. */
  readonly isQuickShard?: boolean;
  /** It runs in another process on this machine: it takes memory but no thread. */
  readonly isElsewhere?: boolean;
}
/** What an admitted task holds. */
export interface Lease {
  /** To be called when the task has ended. */
  leave(): void;
  /**
   * Asks to hold `bytes` in total while the task runs. False: they are not free now; the task must leave and enter
   * again to get them. It never waits, since tasks that hold memory and wait for more could deadlock.
   */
  raise(bytes: number): boolean;
  /** To be called when the thread starts another run: a task is slow only while a single run lasts long. */
  renew(): void;
}

interface Waiting extends Ask {
  readonly since: number;
  readonly admit: (lease: Lease) => void;
}
interface Held {
  readonly owner: string;
  readonly isQuick: boolean;
  bytes: number;
  isSmall: boolean;
  /** When it was admitted or renewed. */
  since: number;
  readonly lane: Lane;
}
/**
 * Which thread an ask gets: a regular one, one for owners who hold none, one for quick tasks or for quick shards, or
 * none of ours.
 */
type Lane = 'all' | 'relief' | 'quick' | 'quickShard' | 'elsewhere';

/** A task whose current run takes longer is slow: owners without a thread no longer wait for it. */
export const SLOW_MS = 100;
/** The same for quick tasks: they take this long only if the processor is busy, and one more thread would not help. */
const SLOW_QUICK_MS = 1_000;
/**
 * The share of the memory that is reserved for small tasks, and the largest share that a small task may ask for. Thus a
 * small task never waits for a large one.
 */
const SMALL_SHARE = 1 / 8;
const SMALL_TASK = 1 / 64;
/** A large task that has waited longer for memory is not overtaken by other large tasks. */
const PATIENCE_MS = 2_000;

export class Admission {
  readonly #threads: number;
  readonly #reliefThreads: number;
  readonly #quickThreads: number;
  readonly #quickShardThreads: number;
  readonly #memoryBytes: number;
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  readonly #held = new Set<Held>();
  /** For each owner with a task here: the number of the grant that last gave it a thread. */
  readonly #lastTurn = new Map<string, number>();
  #turns = 0;

  /**
   * @param limits.threads how many tasks run at once. While every task on these and on the relief threads is slow,
   * `reliefThreads` more may run for owners who hold no thread, `quickThreads` more for quick tasks of any owner, and
   * `quickShardThreads` more for quick shards; absent: none.
   */
  constructor(
    limits: {
      readonly threads: number;
      readonly reliefThreads: number;
      readonly quickThreads: number;
      readonly quickShardThreads?: number;
      readonly memoryBytes: number;
    },
    now: () => number = () => performance.now(),
  ) {
    this.#threads = limits.threads;
    this.#reliefThreads = limits.reliefThreads;
    this.#quickThreads = limits.quickThreads;
    this.#quickShardThreads = limits.quickShardThreads ?? 0;
    this.#memoryBytes = limits.memoryBytes;
    this.#now = now;
  }

  /** The most bytes that one task may ask for. */
  get maxBytes(): number {
    return this.#memoryBytes * (1 - SMALL_SHARE);
  }

  /** How many threads are held. */
  get heldCount(): number {
    return this.heldCountOf(() => true);
  }

  /** How many threads are held by owners for whom `isCounted` is true. */
  heldCountOf(isCounted: (owner: string) => boolean): number {
    return this.#countOf(({ lane, owner }) => lane !== 'elsewhere' && isCounted(owner));
  }

  /** How many threads would take a task at once. */
  get freeCount(): number {
    return Math.max(0, this.#threads - this.heldCount - this.#waiting.length);
  }

  /** Resolves when the task may run. */
  enter(ask: Ask): Promise<Lease> {
    if (ask.bytes > this.maxBytes) throw new Error(`Admission: ${ask.bytes} bytes can never fit in ${this.maxBytes}`);
    return new Promise((admit) => {
      this.#waiting.push({ ...ask, since: this.#now(), admit });
      this.admitAll();
    });
  }

  /** Admits all that may run; called again as time passes, since a task becomes slow by lasting. */
  admitAll(): void {
    while (this.#waiting.length > 0) {
      const chosen = this.#choose();
      if (chosen === undefined) return;
      const { next, lane } = chosen;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      const { owner, bytes, isQuick = false } = next;
      const held: Held = { owner, isQuick, bytes, since: this.#now(), isSmall: this.#isSmall(bytes), lane };
      this.#held.add(held);
      this.#lastTurn.set(owner, ++this.#turns);
      next.admit({
        leave: () => this.#leave(held),
        raise: (total) => this.#raise(held, total),
        renew: () => void (held.since = this.#now()),
      });
    }
  }

  #leave(held: Held): void {
    if (!this.#held.delete(held)) return;
    if (![...this.#held, ...this.#waiting].some(({ owner }) => owner === held.owner)) this.#lastTurn.delete(held.owner);
    this.admitAll();
  }

  #raise(held: Held, bytes: number): boolean {
    if (bytes <= held.bytes) return true;
    const isSmall = this.#isSmall(bytes);
    const isOvertaking = !isSmall && this.#waiting.some((ask) => !this.#isSmall(ask.bytes) && this.#isPatient(ask));
    if (isOvertaking || !this.#fits(bytes, isSmall, held)) return false;
    held.bytes = bytes;
    held.isSmall = isSmall;
    return true;
  }

  /** The owner with the fewest threads first; of equal ones, the one whose turn is longest ago; then by arrival. */
  #choose(): { readonly next: Waiting; readonly lane: Lane } | undefined {
    const held = new Map<string, number>();
    for (const { owner, lane } of this.#held) if (lane !== 'elsewhere') held.set(owner, (held.get(owner) ?? 0) + 1);
    const open = this.#openLanes();
    const mayTake = ({ owner, isQuick, isQuickShard }: Waiting, lane: Lane): boolean => {
      if (lane === 'relief') return !held.has(owner);
      if (lane === 'quick') return isQuick === true;
      return lane === 'all' || isQuickShard === true;
    };
    const laneOf = (ask: Waiting): Lane | undefined =>
      ask.isElsewhere ? 'elsewhere' : open.find((lane) => mayTake(ask, lane));
    const inTurn = this.#waiting
      .filter((ask) => laneOf(ask) !== undefined)
      .toSorted(
        (a, b) =>
          (held.get(a.owner) ?? 0) - (held.get(b.owner) ?? 0) ||
          (this.#lastTurn.get(a.owner) ?? 0) - (this.#lastTurn.get(b.owner) ?? 0),
      );
    let isLargeBlocked = false;
    for (const ask of inTurn) {
      const isSmall = this.#isSmall(ask.bytes);
      if (!isSmall && isLargeBlocked) continue;
      if (this.#fits(ask.bytes, isSmall)) return { next: ask, lane: laneOf(ask)! };
      if (!isSmall && this.#isPatient(ask)) isLargeBlocked = true;
    }
    return undefined;
  }

  #openLanes(): Lane[] {
    const countIn = (wanted: Lane): number => this.#countOf(({ lane }) => lane === wanted);
    const others = countIn('all') + countIn('relief');
    if (others < this.#threads) return ['all'];
    const now = this.#now();
    const isFast = ({ since, lane, isQuick }: Held): boolean =>
      (lane === 'all' || lane === 'relief') && now - since < (isQuick ? SLOW_QUICK_MS : SLOW_MS);
    if (this.#countOf(isFast) > 0) return [];
    const lanes: Lane[] = [];
    if (others < this.#threads + this.#reliefThreads) lanes.push('relief');
    if (countIn('quick') < this.#quickThreads) lanes.push('quick');
    if (countIn('quickShard') < this.#quickShardThreads) lanes.push('quickShard');
    return lanes;
  }

  #countOf(isCounted: (held: Held) => boolean): number {
    let count = 0;
    for (const held of this.#held) if (isCounted(held)) count++;
    return count;
  }

  #isSmall = (bytes: number): boolean => bytes <= this.#memoryBytes * SMALL_TASK;

  #isPatient = ({ since }: Waiting): boolean => this.#now() - since > PATIENCE_MS;

  /** @param except a task that asks for a new total: what it holds now does not count */
  #fits(bytes: number, isSmall: boolean, except?: Held): boolean {
    let used = 0;
    for (const held of this.#held) if (held.isSmall === isSmall && held !== except) used += held.bytes;
    return used + bytes <= this.#memoryBytes * (isSmall ? SMALL_SHARE : 1 - SMALL_SHARE);
  }
}
