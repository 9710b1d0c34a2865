// The signal calendar: at which instants which members must be read while they hold nothing, and at which an allocation
// rebalances, found once per run.
import { nextBit, setBits, wordCount } from '../../kernels/bits.ts';
import { nextWatched } from '../watch.ts';
import type { Member } from './member.ts';

export class SignalCalendar {
  /** By instant, the members in the order of the list and their rows; those of instant t begin at `firsts[t]`. */
  readonly members: Uint16Array;
  readonly rows: Int32Array;
  readonly firsts: Int32Array;

  constructor(members: readonly Member[], instants: number) {
    const firsts = new Int32Array(instants + 1);
    for (const member of members) eachSignal(member, (row) => firsts[member.instants[row] + 1]++);
    for (let instant = 0; instant < instants; instant++) firsts[instant + 1] += firsts[instant];
    const next = firsts.slice();
    this.firsts = firsts;
    this.members = new Uint16Array(firsts[instants]);
    this.rows = new Int32Array(firsts[instants]);
    for (const member of members) {
      eachSignal(member, (row) => {
        const at = next[member.instants[row]]++;
        this.members[at] = member.index;
        this.rows[at] = row;
      });
    }
  }

  /** The first instant from `instant` on at which a member must be read, at most `end`. */
  next(instant: number, end: number): number {
    const { firsts } = this;
    let at = instant;
    while (at < end && firsts[at] === firsts[at + 1]) at++;
    return at;
  }
}

function eachSignal({ run }: Member, visit: (row: number) => void): void {
  const { flat } = run.watch;
  const { start } = run.input;
  for (let row = nextWatched(flat, start, run.end); row < run.end; row = nextWatched(flat, row + 1, run.end))
    visit(row);
}

/** The instants at which the allocation of any member asks for a rebalance; null: there is no allocation. */
export function rebalancesOf(members: readonly Member[], instants: number): Uint32Array | null {
  if (members.every(({ run }) => !run.input.allocation)) return null;
  const words = new Uint32Array(wordCount(instants));
  let known: Member | null = null;
  for (const member of members) {
    const { run } = member;
    const { start, allocation } = run.input;
    if (!allocation || (known !== null && asksAlike(known, member))) continue;
    const { when } = allocation;
    known = member;
    for (let row = nextBit(when, start, run.end); row < run.end; row = nextBit(when, row + 1, run.end))
      setBits(words, member.instants[row], member.instants[row] + 1);
  }
  return words;
}

/** Whether two members ask at the same instants for certain: most of one market share their schedule and their axis. */
const asksAlike = (a: Member, b: Member): boolean =>
  a.instants === b.instants &&
  a.run.end === b.run.end &&
  a.run.input.start === b.run.input.start &&
  a.run.input.allocation?.when === b.run.input.allocation?.when;
