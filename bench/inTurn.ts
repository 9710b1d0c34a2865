// A task of two revisions in turn, a few milliseconds each: whatever else the machine does then happens to both.

/** One revision's tasks. */
export interface Side {
  readonly tasks: readonly string[];
  /** Calls a task so many times; resolves to the microseconds of processor time that took. */
  run(task: string, calls: number): Promise<number>;
}

/** Microseconds per call, and how many times as long the second revision takes. */
export interface InTurn {
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
}

/** Short, so that a slice and its neighbors meet the same machine; long beside a message between processes. */
const SLICE_US = 2_000;
/** How long each side runs before it is measured, and while it is, in microseconds of processor time. */
export interface Effort {
  readonly warmUpUs: number;
  readonly measuredUs: number;
}
/** V8 has compiled the hot loops of whole runs by then. */
export const USUAL: Effort = { warmUpUs: 250_000, measuredUs: 120_000 };
/** For a task that is a single loop, which V8 compiles after some hundred calls. */
export const SINGLE_LOOP: Effort = { warmUpUs: 60_000, measuredUs: 40_000 };
/** Of a task that takes longer than a slice. V8 compiles a loop over a million rows for good after some ten calls. */
const LEAST_WARM_UPS = 10;
/** Of a task that takes longer than a slice. */
const LEAST_RATIOS = 7;

/** The median of the ratios of neighboring slices, which a slice that something else disturbed does not move. */
export async function measureInTurn(
  task: string,
  before: Side,
  after: Side,
  { warmUpUs, measuredUs }: Effort = USUAL,
): Promise<InTurn> {
  let calls = 1;
  for (let spent = 0, times = 0; spent < 2 * warmUpUs || times < LEAST_WARM_UPS; times++) {
    const both = [await before.run(task, calls), await after.run(task, calls)];
    spent += both[0] + both[1];
    calls = Math.max(1, Math.round((SLICE_US * calls) / Math.max(1, Math.min(...both))));
  }
  const found: InTurn[] = [];
  for (let spent = 0; spent < 2 * measuredUs || found.length < LEAST_RATIOS;) {
    // Neither side comes second, which may find warmer caches or a slower clock, more often than the other.
    const first = await before.run(task, calls);
    const later = (await after.run(task, calls)) + (await after.run(task, calls));
    const was = first + (await before.run(task, calls));
    found.push({ before: was / (2 * calls), after: later / (2 * calls), ratio: later / was });
    spent += was + later;
  }
  return {
    before: median(found.map((one) => one.before)),
    after: median(found.map((one) => one.after)),
    ratio: median(found.map(({ ratio }) => ratio)),
  };
}

/** The lower of the two in the middle where their number is even. */
export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[(values.length - 1) >> 1];
