// A stretch of quiet instants of an account that holds several instruments without levels, played instrument by
// instrument: their bars are then read one after the other. All sums are those of instant by instant, bit for bit.
import { recordExtremes } from '../position.ts';
import { isBelowMaintenance } from './liquidation.ts';
import type { Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';

/** The most instants of a stretch: what is summed for them fits a near cache. */
export const MOST_INSTANTS = 256;

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
 * Plays the instants from `first` on, at most up to `end` and MOST_INSTANTS of them. Returns the first one that is not
 * played: the account is liquidated in it.
 */
export function playStretch(portfolio: Portfolio, first: number, end: number): number {
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
