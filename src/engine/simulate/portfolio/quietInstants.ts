// Quiet instants: nothing is due, no close is read and no bar touches a level, so that only prices change what the
// account is worth. They are played without the steps that would find nothing to do.
import { setBits } from '../../kernels/bits.ts';
import { nextCarryRow } from '../carry.ts';
import { isRead, watchedCloses } from '../closes.ts';
import { isTouched } from '../inside.ts';
import { recordBar, recordExtremes } from '../position.ts';
import type { Run } from '../run.ts';
import { nextWatched } from '../watch.ts';
import { isBelowMargin, isBelowMaintenance } from './liquidation.ts';
import type { Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';

/** So few instants are played one by one. */
const FEW_INSTANTS = 4;

/** Plays the quiet instants from this one on, at most up to `limit`. Returns the first one that is not played. */
export function playQuiet(portfolio: Portfolio, first: number, limit: number): number {
  const end = quietUntil(portfolio, first, limit);
  if (end === first) return first;
  const { active, ledger, input, inPosition } = portfolio;
  ledger.isShared = portfolio.isShared();
  if (ledger.isShared) ledger.liquidation = -Infinity;
  else portfolio.takeTurn(active[0]);
  let instant = first;
  if (ledger.isShared && end - first >= FEW_INSTANTS && !active.some(({ run }) => run.hasLevels))
    instant = playStretches(portfolio, first, end);
  else while (instant < end && playAtMarks(portfolio, instant)) instant++;
  setBits(inPosition, first - input.start, instant - input.start);
  return instant;
}

function playStretches(portfolio: Portfolio, first: number, end: number): number {
  for (let from = first, next; from < end; from = next) {
    next = playStretch(portfolio, from, end);
    if (next < Math.min(from + MOST_INSTANTS, end)) return next;
  }
  return end;
}

/** The first instant from this one on at which an order, a signal or a rebalance is due or decided. */
function quietUntil(portfolio: Portfolio, instant: number, limit: number): number {
  const { active, dueEntries, links, input } = portfolio;
  if (dueEntries.size > 0) return instant;
  if (links.waiting.length > 0 || links.closed.size > 0) return instant;
  let end = portfolio.nextEvent(instant, Math.min(limit, input.end - 1));
  for (let at = 0; at < active.length && end > instant; at++) end = Math.min(end, quietFor(active[at]));
  return end;
}

/** The instant until which a member does nothing but hold one position; -Infinity: it does more now. */
function quietFor({ run, row, instants, holdingOrder, linkedExits, isLiquidated }: Member): number {
  const isWaiting = run.dueEntry !== null || run.dueExits.count > 0 || linkedExits.count > 0 || holdingOrder !== null;
  if (isWaiting || isLiquidated || run.positions.length !== 1) return -Infinity;
  if (row >= run.end) return Infinity;
  if (row === run.end - 1 || isRead(run, row)) return -Infinity;
  const next = nextWatched(watchedCloses(run), row, run.end - 1);
  return instants[run.carry === null ? next : nextCarryRow(run.bars.time, run.carry, row, next)];
}

/** Plays an instant, unless a bar touches a level or the account is liquidated in it: then it is not quiet. */
function playAtMarks(portfolio: Portfolio, instant: number): boolean {
  const { active, present, ledger, input } = portfolio;
  present.length = 0;
  for (const member of active) if (member.instants[member.row] === instant) present.push(member);
  for (const { run, row } of present) if (touches(run, row, ledger.isShared)) return false;
  if (ledger.isShared) {
    for (const member of present) member.mark = member.run.bars.open[member.row];
    if (isBelowMargin(portfolio)) return false;
  }
  for (const member of present) member.mark = member.run.bars.close[member.row];
  if (ledger.isShared && isBelowMargin(portfolio)) return false;
  for (const member of present) {
    const { run, row } = member;
    recordBar(run.positions[0], run.bars, row);
    member.row++;
  }
  portfolio.markInstant(instant - input.start);
  return true;
}

/** Whether a bar touches a level of its position. A shared account is liquidated at the marks. */
function touches(run: Run, row: number, isShared: boolean): boolean {
  if (isShared && !run.hasLevels) return false;
  const [position] = run.positions;
  const { high, low } = run.bars;
  return position.side > 0
    ? isTouched(run, position, high[row], low[row])
    : isTouched(run, position, -low[row], -high[row]);
}

/** The most instants of a stretch: what is summed for them fits a near cache. */
const MOST_INSTANTS = 256;

const column = (): Float64Array => new Float64Array(MOST_INSTANTS);

/** What the holdings are worth at each instant of a stretch, at one price of its bars. */
class Worth {
  readonly equity = column();
  /** Σ |quantity| × mark. */
  readonly held = column();
  readonly gross = column();
  readonly net = column();

  clear(count: number): void {
    for (const sums of [this.equity, this.held, this.gross, this.net]) sums.fill(0, 0, count);
  }

  /** Adds a holding, in the order of symbols; with the last one, the profits become equity, as in `equityAtMarks`. */
  add({ quantity, cost }: Member, marks: Float64Array, count: number, balance: number, isLast: boolean): void {
    const { equity, held, gross, net } = this;
    const size = Math.abs(quantity);
    for (let at = 0; at < count; at++) {
      const value = quantity * marks[at];
      held[at] += size * marks[at];
      gross[at] += Math.abs(value);
      net[at] += value;
      if (!isLast) equity[at] += value - cost;
    }
    if (isLast) for (let at = 0; at < count; at++) equity[at] = balance + equity[at] - cost + quantity * marks[at];
  }
}

const atOpens = new Worth();
const atCloses = new Worth();
const opens = column();
const closes = column();

/**
 * A stretch of quiet instants of an account that holds several instruments without levels, played instrument by
 * instrument: their bars are then read one after the other. All sums are those of instant by instant, bit for bit.
 *
 * Plays the instants from `first` on, at most up to `end` and MOST_INSTANTS of them. Returns the first one that is not
 * played: the account is liquidated in it.
 */
function playStretch(portfolio: Portfolio, first: number, end: number): number {
  const { active, activeBySymbol, ledger, input, config } = portfolio;
  const count = Math.min(end - first, MOST_INSTANTS);
  atOpens.clear(count);
  atCloses.clear(count);
  const last = activeBySymbol[activeBySymbol.length - 1];
  for (const member of activeBySymbol) {
    writeMarks(member, first, count);
    atOpens.add(member, opens, count, ledger.balance, member === last);
    atCloses.add(member, closes, count, ledger.balance, member === last);
  }
  const rate = config.maintenanceMarginRate;
  let played = 0;
  while (played < count && !isBelow(atOpens, played, rate) && !isBelow(atCloses, played, rate)) played++;
  const from = first - input.start;
  portfolio.equity.set(atCloses.equity.subarray(0, played), from);
  portfolio.grossExposure.set(atCloses.gross.subarray(0, played), from);
  portfolio.netExposure.set(atCloses.net.subarray(0, played), from);
  portfolio.openPositions.fill(portfolio.openCount, from, from + played);
  for (const member of active) holdThrough(portfolio, member, first, played);
  return first + played;
}

const isBelow = ({ equity, held }: Worth, at: number, rate: number): boolean =>
  isBelowMaintenance(equity[at], held[at], rate);

/** Writes the marks of a member: of its bars, and its last close where it has none. Returns the row after its bars. */
function writeMarks({ run, row, instants, mark }: Member, first: number, count: number): number {
  const { open, close } = run.bars;
  let next = row;
  let last = mark;
  for (let at = 0; at < count; at++) {
    const hasBar = next < run.end && instants[next] === first + at;
    opens[at] = hasBar ? open[next] : last;
    if (hasBar) last = close[next++];
    closes[at] = last;
  }
  return next;
}

/** Takes a member to the end of the stretch: its extremes and its weights. */
function holdThrough({ members, weights, input }: Portfolio, member: Member, first: number, count: number): void {
  if (count === 0) return;
  const next = writeMarks(member, first, count);
  recordRows(member, next);
  member.row = next;
  member.mark = closes[count - 1];
  const { quantity, index } = member;
  const { equity } = atCloses;
  let { weightSum, squaredWeightSum, maxWeight } = member;
  for (let at = 0; at < count; at++) {
    const weight = (quantity * closes[at]) / equity[at];
    const size = Math.abs(weight);
    weightSum += size;
    squaredWeightSum += weight * weight;
    if (size > maxWeight) maxWeight = size;
    if (weights !== null) weights[(first - input.start + at) * members.length + index] = weight;
  }
  member.instantsHeld += count;
  member.weightSum = weightSum;
  member.squaredWeightSum = squaredWeightSum;
  member.maxWeight = maxWeight;
}

/** The extremes of the rows up to `end`. Without levels no stop moves, so that they count together. */
function recordRows({ run, row }: Member, end: number): void {
  const { high, low } = run.bars;
  let highest = -Infinity;
  let lowest = Infinity;
  for (let at = row; at < end; at++) {
    if (high[at] > highest) highest = high[at];
    if (low[at] < lowest) lowest = low[at];
  }
  const [position] = run.positions;
  if (position.side > 0) recordExtremes(position, highest, lowest);
  else recordExtremes(position, -lowest, -highest);
}
