// The pace of the processor: how long a fixed loop takes just now. What a system calls two processors are often the two
// threads of one core, and then everything takes up to twice as long while the other one works, whether for this
// process or for another. No load average and no processor time shows that, but this loop does.

const CELLS = Int32Array.from({ length: 256 }, (_, index) => Math.imul(index, 0x9e37_79b1));
/** The loop then takes 5 to 10 µs: little beside a round, and much beside reading the clock. */
const PASSES = 40;

let sum = 0;

/** Four independent chains of additions, which a core works on at once when it does nothing else. */
function addUp(): void {
  // Only a number that is surely an integer leaves the loop fast enough to notice its neighbor.
  let first = sum | 0;
  let second = 1;
  let third = 2;
  let fourth = 3;
  for (let pass = 0; pass < PASSES; pass++) {
    for (let at = 0; at < CELLS.length; at += 4) {
      first = (first + CELLS[at]) ^ pass;
      second = ((second ^ CELLS[at + 1]) + at) | 0;
      third = (third - CELLS[at + 2]) ^ at;
      fourth = ((fourth ^ CELLS[at + 3]) + first) | 0;
    }
  }
  sum = first ^ second ^ third ^ fourth;
}

/** Nanoseconds of the loop. */
export function pace(): number {
  const from = performance.now();
  addUp();
  return (performance.now() - from) * 1e6;
}

/** A clock slows down by up to a fifth when other cores work; a thread that shares its core loses more. */
const SLOWEST_CLOCK = 1.25;

/** Whether the loop had its core for itself in some process, given the least time it took in any. */
export const hasCore = (ns: number, least: number): boolean => ns <= SLOWEST_CLOCK * least;
