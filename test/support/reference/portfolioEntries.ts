// Entries of a portfolio: which orders a close makes where slots are few, and how market entries fill.
import type { EntryOrder } from './book.ts';
import { affords } from './book.ts';
import { findEntry, makeEntry, type FoundEntry, type Left } from './close.ts';
import type { Desk } from './portfolioDesk.ts';
import type { House } from './portfolioHouse.ts';
import { cancel } from './portfolioLinks.ts';

interface Candidate {
  readonly desk: Desk;
  readonly found: FoundEntry;
  readonly left: Left;
  /** The found order needs a slot that is not taken yet. */
  readonly needsSlot: boolean;
}

/** Orders that stand or fall together: linked ones, or one alone. */
interface Unit {
  readonly members: readonly Candidate[];
  readonly rank: number;
}

export interface RankedOut {
  count: number;
  largestLost: number | null;
  smallestTaken: number | null;
  isUnranked: boolean;
}

/** Larger first, missing last; sorting keeps the order of the list at equal ones. */
const byRank = (a: { readonly rank: number }, b: { readonly rank: number }): number => {
  if (Number.isNaN(a.rank) || Number.isNaN(b.rank)) return Number(Number.isNaN(a.rank)) - Number(Number.isNaN(b.rank));
  return b.rank - a.rank;
};

export function readAllEntries(
  house: House,
  present: readonly { readonly desk: Desk; readonly left: Left }[],
  rankedOut: RankedOut,
): void {
  const candidates: Candidate[] = [];
  for (const { desk, left } of present) {
    if (desk.row < desk.start) continue;
    const found = findEntry(desk, desk.signals, desk.row, left);
    if (found === null) continue;
    const { order, isMissing, isReversal } = found;
    // Nothing to be ranked: everything is closed, the order is rejected, or it is made at the last close and expires.
    const isLinked = house.links.groupOf(desk) !== null;
    if (order === null || desk.isAtLastRow) makeEntry(desk, found, left);
    else if (isMissing) makeEntry(desk, isLinked ? { ...found, closes: [] } : found, left);
    else candidates.push({ desk, found, left, needsSlot: !isReversal && !desk.pending.has(order.rule) });
  }
  // Orders of an instrument's last close, and those still pending there, expire and take no slot.
  for (const { desk } of present) if (desk.isAtLastRow) desk.endOrders();
  house.links.cancelOrphans();
  const units = unitsOf(house, candidates);
  const isFree = ({ members }: Unit): boolean => house.slots === null || !members.some(({ needsSlot }) => needsSlot);
  for (const unit of units) if (isFree(unit)) make(house, unit);
  if (house.slots === null) return;
  let free = house.slots;
  for (const desk of house.desks) free -= desk.taken;
  free = Math.max(0, free);
  const taken: Unit[] = [];
  const lost: Unit[] = [];
  for (const unit of units.filter((each) => !isFree(each)).toSorted(byRank)) {
    const needed = unit.members.filter(({ needsSlot }) => needsSlot).length;
    if (needed > free) {
      lost.push(unit);
      continue;
    }
    free -= needed;
    make(house, unit);
    taken.push(unit);
  }
  if (lost.length > 0) noteLosses(rankedOut, taken, lost);
}

/** Linked orders together, if every instrument of the group has one; in the order of the list. */
function unitsOf(house: House, candidates: readonly Candidate[]): Unit[] {
  const units: Unit[] = [];
  for (const candidate of candidates) {
    const group = house.links.groupOf(candidate.desk);
    const members = group === null ? [candidate] : candidates.filter(({ desk }) => group.includes(desk));
    if (members[0] !== candidate || (group !== null && members.length < group.length)) continue;
    const ranks = members.map(({ desk, found }) => desk.rankOf(found.order!)).filter((rank) => !Number.isNaN(rank));
    units.push({ members, rank: ranks.length === 0 ? NaN : Math.max(...ranks) });
  }
  return units;
}

function make(house: House, { members }: Unit): void {
  for (const { desk, found, left } of members) makeEntry(desk, found, left);
  if (members.length === 1) return;
  house.links.join(members.map(({ desk, found }) => ({ desk, order: found.order! })));
  house.links.cancelOrphans();
}

function noteLosses(rankedOut: RankedOut, taken: readonly Unit[], lost: readonly Unit[]): void {
  for (const { members, rank } of lost) {
    for (const { desk } of members) desk.rankedOut++;
    rankedOut.count += members.length;
    if (!Number.isNaN(rank)) rankedOut.largestLost = Math.max(rankedOut.largestLost ?? -Infinity, rank);
  }
  for (const { rank } of taken)
    if (!Number.isNaN(rank)) rankedOut.smallestTaken = Math.min(rankedOut.smallestTaken ?? Infinity, rank);
  const isUnranked = ({ members }: Unit): boolean => members.every(({ desk, found }) => !desk.isRanked(found.order!));
  // The order of the list decided between one that got in and one that lost.
  if (taken.some(isUnranked) && lost.some(isUnranked)) rankedOut.isUnranked = true;
}

interface Due {
  readonly desk: Desk;
  readonly order: EntryOrder;
}

/** Market entries: in the order of decision, then rank, then the list; linked ones together. */
export function fillAllEntries(house: House, present: readonly Desk[], instantOf: (due: Due) => number): void {
  const due = present.flatMap((desk) => (desk.dueEntry === null ? [] : [{ desk, order: desk.dueEntry }]));
  const units: (readonly Due[])[] = [];
  for (const each of due) {
    const legs = house.links.legsOf(each.order);
    const together = legs === null ? [each] : due.filter(({ order }) => house.links.legsOf(order) === legs);
    if (together[0] === each) units.push(together);
  }
  const ranked = units.map((unit) => {
    const orders = house.links.legsOf(unit[0].order)?.legs ?? unit;
    const ranks = orders.map(({ desk, order }) => desk.rankOf(order)).filter((rank) => !Number.isNaN(rank));
    // A group stands where the first of its members does.
    const place = Math.min(...orders.map(({ desk: { index } }) => index));
    return { unit, rank: ranks.length === 0 ? NaN : Math.max(...ranks), decided: instantOf(unit[0]), place };
  });
  const inOrder = ranked.toSorted((a, b) => a.decided - b.decided || byRank(a, b) || a.place - b.place);
  for (const { unit } of inOrder) fillUnit(house, unit);
}

function fillUnit(house: House, unit: readonly Due[]): void {
  const [{ order }] = unit;
  const legs = house.links.legsOf(order);
  const isAtClose = house.phase === 'close';
  const rawOf = ({ input: { bars }, row }: Desk): number => (isAtClose ? bars.close[row] : bars.open[row]);
  if (legs === null || legs.hasFilled) {
    for (const each of unit) {
      each.desk.dueEntry = null;
      if (!each.desk.hasAccountSlot(new Set(each.desk.positions))) each.desk.loseSlot(each.order);
      else each.desk.enter(each.order, rawOf(each.desk), { row: each.desk.row, isAtClose });
    }
    return;
  }
  // Orders of the group that wait at a price follow, see `Links.cancelOrphans`.
  if (house.links.isLegMissing(order)) {
    for (const leg of unit) cancel(leg);
    return;
  }
  const open = house.openPositions().length;
  if (house.slots !== null && open + unit.length > house.slots) {
    for (const leg of unit) {
      leg.desk.rankedOut++;
      cancel(leg);
    }
    return;
  }
  // Sizes and funds as the account is before the first leg.
  const quotes = unit.map((leg) => {
    const funds = leg.desk.funds(rawOf(leg.desk));
    const instant = { row: leg.desk.row, isAtClose };
    return { leg, funds, instant, quote: leg.desk.quote(leg.order, rawOf(leg.desk), instant, funds) };
  });
  const failing = quotes.find(({ quote }) => quote.reason !== null);
  const cost = quotes.reduce((sum, { quote }) => sum + quote.cost, 0);
  const isTooDear = quotes.some(({ funds }) => !affords(funds.freeCash, cost));
  if (failing !== undefined || isTooDear) {
    for (const { leg, quote } of quotes) {
      const reason = failing === undefined ? 'INSUFFICIENT_BALANCE' : quote.reason;
      if (leg !== failing?.leg && failing !== undefined) continue;
      leg.desk.dueEntry = null;
      leg.desk.reject(leg.order, reason!);
    }
    for (const leg of unit) if (leg.desk.dueEntry === leg.order) cancel(leg);
    return;
  }
  for (const { leg, instant, quote } of quotes) {
    leg.desk.dueEntry = null;
    leg.desk.open(leg.order, quote, rawOf(leg.desk), instant);
  }
}
