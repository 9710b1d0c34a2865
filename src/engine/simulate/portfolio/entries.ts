// Entries of one close: what every instrument would order, and which of these orders the slots of the account and the
// linked groups leave (semantics §8.6, §8.7).
import { readPrice } from '../levels.ts';
import type { EntryOrder } from '../orders.ts';
import { countStaying, needsSlot, orderReversal, placeEntry, prepareEntry, reversesNow } from '../signals.ts';
import { cancelOrphans, linkEntries } from './links.ts';
import type { Link, Signal } from './member.ts';
import type { Portfolio, MarketEntries } from './portfolio.ts';

/** An entry order that is not placed yet. */
interface Leg extends Signal {
  readonly order: EntryOrder;
  readonly needsSlot: boolean;
  /** NaN: missing. */
  readonly rank: number;
}

/** Orders that are placed together or not at all: one, or those of a linked group. */
interface Unit {
  readonly legs: readonly Leg[];
  /** Slots that it needs. */
  readonly slots: number;
  /** The largest rank of its orders; NaN: missing. */
  readonly rank: number;
  /** What links its orders once they are placed: null for one order; undefined until then. */
  link: Link | null | undefined;
}

/**
 * Places the entry orders of a close, those of larger rank first.
 * @param signals in the order of the list
 * @returns the market orders among them
 */
export function decideEntries(portfolio: Portfolio, signals: readonly Signal[]): readonly MarketEntries[] {
  const units = unitsOf(portfolio, signals);
  // In a full account all are lost, whatever their rank, unless one of them closes what holds a slot.
  if (takenSlots(portfolio) >= portfolio.ledger.slots && units.every(({ slots }) => slots > 0)) {
    if (units.length > 0) countLost(portfolio, [], units);
    return [];
  }
  if (units.length > 1) units.sort(byRank);
  // Orders that need no slot come first: what they close is free for the others, and they count themselves.
  for (const unit of units) if (unit.slots === 0) placeUnit(portfolio, unit);
  for (const unit of fitting(portfolio, units)) placeUnit(portfolio, unit);
  return marketEntriesOf(units);
}

function placeUnit(portfolio: Portfolio, unit: Unit): void {
  const { legs } = unit;
  for (const leg of legs) place(portfolio, leg);
  if (legs.length === 1) {
    unit.link = null;
    return;
  }
  const members = legs.map(({ member }) => member);
  unit.link = linkEntries(portfolio.links, members);
  // Orders that these have replaced were linked to others.
  cancelOrphans(portfolio.links);
}

function marketEntriesOf(units: readonly Unit[]): MarketEntries[] {
  const marketEntries: MarketEntries[] = [];
  for (const { legs, link } of units) {
    if (link === undefined) continue;
    const members = legs.filter(({ member: { run } }) => run.dueEntry !== null).map(({ member }) => member);
    if (members.length > 0) marketEntries.push({ members, link });
  }
  return marketEntries;
}

/** Makes an order that cannot fill any more, so that it counts as expired. */
export function expireEntryOf(portfolio: Portfolio, signal: Signal): void {
  const leg = legOf(portfolio, signal, false);
  if (leg !== null) place(portfolio, leg);
}

/** @param isLinked whether the order may still be dropped because those of other members are missing */
function legOf(portfolio: Portfolio, { member, rule }: Signal, isLinked: boolean): Leg | null {
  const { run, row } = member;
  if (run.readsState) portfolio.takeTurn(member);
  const takesSlot = needsSlot(run, rule);
  // The other side stays closed even if the entry is then rejected (semantics §2.3).
  if (!isLinked && reversesNow(run, rule)) orderReversal(run, row);
  const order = prepareEntry(run, row, rule);
  if (order === null) return null;
  const { rank } = run.entries[rule];
  return { member, rule, order, needsSlot: takesSlot, rank: rank === undefined ? NaN : readPrice(run, rank, row) };
}

function place(portfolio: Portfolio, { member, rule, order }: Leg): void {
  const { run, row } = member;
  if (reversesNow(run, rule)) orderReversal(run, row);
  placeEntry(run, order);
  portfolio.activate(member);
}

function unitsOf(portfolio: Portfolio, signals: readonly Signal[]): Unit[] {
  const units: Unit[] = [];
  const linked: Leg[] = [];
  for (const signal of signals) {
    const isLinked = portfolio.groupOf[signal.member.index] !== undefined;
    const leg = legOf(portfolio, signal, isLinked);
    if (leg === null) continue;
    if (isLinked) linked.push(leg);
    else units.push(unitOf([leg]));
  }
  if (linked.length > 0) addGroups(portfolio, linked, units);
  return units;
}

/** Adds the groups all of whose members have a leg. A group stands where its first member does. */
function addGroups({ groupOf }: Portfolio, linked: readonly Leg[], units: Unit[]): void {
  for (const [group, legs] of Map.groupBy(linked, ({ member }) => groupOf[member.index]!))
    if (legs.length === group.length) units.push(unitOf(legs));
  units.sort((a, b) => a.legs[0].member.index - b.legs[0].member.index);
}

function unitOf(legs: readonly Leg[]): Unit {
  let slots = 0;
  let largest = NaN;
  for (const { needsSlot: takesSlot, rank } of legs) {
    if (takesSlot) slots++;
    if (Number.isNaN(largest) || rank > largest) largest = rank;
  }
  return { legs, slots, rank: largest, link: undefined };
}

/** Larger first; missing ones last; equal ones as they are. */
function byRank({ rank: a }: Unit, { rank: b }: Unit): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return b - a;
}

/** Of the units that need slots, those that get them, in their order; the others are counted. */
function fitting(portfolio: Portfolio, units: readonly Unit[]): readonly Unit[] {
  let free = portfolio.ledger.slots - takenSlots(portfolio);
  const taken: Unit[] = [];
  const lost: Unit[] = [];
  for (const unit of units) {
    if (unit.slots === 0) continue;
    const fits = unit.slots <= free;
    (fits ? taken : lost).push(unit);
    if (fits) free -= unit.slots;
  }
  if (lost.length > 0) countLost(portfolio, taken, lost);
  return taken;
}

/** Positions that stay open, pending orders, and market orders that wait for a bar of their instrument. */
function takenSlots({ active }: Portfolio): number {
  let taken = 0;
  for (const { run } of active) taken += countStaying(run) + run.pendingCount + (run.dueEntry === null ? 0 : 1);
  return taken;
}

/** Counts lost orders, and notes the largest losing and the smallest winning rank (semantics §8.6). */
function countLost(portfolio: Portfolio, taken: readonly Unit[], lost: readonly Unit[]): void {
  let orders = 0;
  for (const { legs, rank } of lost) {
    for (const { member } of legs) member.run.counts.lostSlots++;
    orders += legs.length;
    if (!(portfolio.largestLost >= rank) && !Number.isNaN(rank)) portfolio.largestLost = rank;
  }
  portfolio.lostAtClose += orders;
  portfolio.mostLostAtOnce = Math.max(portfolio.mostLostAtOnce, orders);
  for (const { rank } of taken)
    if (!(portfolio.smallestTaken <= rank) && !Number.isNaN(rank)) portfolio.smallestTaken = rank;
  const isUnranked = ({ legs }: Unit) => legs.every(({ member, rule }) => member.run.entries[rule].rank === undefined);
  if (taken.some(isUnranked) && lost.some(isUnranked)) portfolio.isUnranked = true;
}
