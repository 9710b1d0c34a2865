// Quiet instants: nothing is due, no close is read and no bar touches a level, so that only prices change what the
// account is worth. They are played without the steps that would find nothing to do.
import { setBits } from '../../kernels/bits.ts';
import { nextCarryRow } from '../carry.ts';
import { isRead, watchedCloses } from '../closes.ts';
import { isTouched } from '../inside.ts';
import { recordBar } from '../position.ts';
import type { Run } from '../run.ts';
import { nextWatched } from '../watch.ts';
import { isBelowMargin } from './liquidation.ts';
import type { Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';
import { MOST_INSTANTS, playStretch } from './quietStretch.ts';

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
