// Rebalances: at the close of an instant, what an allocation wants every instrument to hold
// (semantics §8.9, §8.11).
import type { AllocationRule } from '../../evaluate/tradingRules.ts';
import { hasBit } from '../../kernels/bits.ts';
import { readPrice, readSignalLevels } from '../levels.ts';
import { floorToStep } from '../sizing.ts';
import { isLastRow, type Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';
import { cancelHoldingOrder } from './rebalanceFills.ts';
import { targetWeights, type Candidate } from './targets.ts';

/** Weights that are nearer to each other are equal. */
const ROUNDING = 1e-12;

/** Decides a rebalance where the allocation asks for one at this instant. */
export function rebalance(portfolio: Portfolio, instant: number): void {
  const { members, rebalances, readCandidates, rebalancing: counts } = portfolio;
  if (rebalances === null || readCandidates === null || !hasBit(rebalances, instant)) return;
  counts.whenTrue++;
  const equity = portfolio.equityAtMarks();
  const rows = new Int32Array(members.length);
  for (const member of members) rows[member.index] = findRow(member, instant);
  const gross = grossOf(portfolio, rows);
  // Without a known gross and positive equity there is no rebalance, and the orders of the last one stay.
  if (Number.isNaN(gross) || !(equity > 0)) {
    counts.undecided++;
    return;
  }
  for (const member of members) if (member.holdingOrder !== null) cancelHoldingOrder(portfolio, member, 'cancelled');
  const allocation = members[0].run.input.allocation!;
  const candidates = readCandidates(rows, equity);
  const targets = targetWeights(allocation, candidates, gross, counts);
  // Others than these hold nothing, and are to hold nothing.
  const changing = members.filter(
    ({ index }) => rows[index] >= 0 && (targets[index] !== 0 || candidates[index].weight !== 0),
  );
  for (const member of changing) takeRow(member, rows[member.index]);
  if (!isOffBand(allocation, changing, candidates, targets, equity)) {
    counts.withinBand++;
    return;
  }
  counts.rebalances++;
  for (const member of changing) order(portfolio, member, targets[member.index] * equity);
}

/** The row of a member at an instant; -1: it has no bar there, or its warm-up has not ended. */
function findRow(member: Member, instant: number): number {
  const { run, instants, rebalanceRow } = member;
  if (rebalanceRow >= run.end) return -1;
  // Every row has an instant of its own: as many rows follow as instants, or less.
  let row = Math.min(rebalanceRow + Math.max(0, instant - instants[rebalanceRow]), run.end - 1);
  while (row > rebalanceRow && instants[row] > instant) row--;
  member.rebalanceRow = row;
  return instants[row] === instant && row >= run.input.start ? row : -1;
}

function takeRow(member: Member, row: number): void {
  if (member.isActive) return;
  member.row = row;
  member.mark = member.run.bars.close[row];
}

/** The first known gross in the order of symbols, as a fraction of equity; NaN: none is known (semantics §8.10). */
function grossOf({ membersBySymbol }: Portfolio, rows: Int32Array): number {
  for (const { index, run } of membersBySymbol) {
    if (rows[index] < 0) continue;
    const percent = readPrice(run, run.input.allocation!.gross, rows[index]);
    if (!Number.isNaN(percent)) return percent / 100;
  }
  return NaN;
}

/** Whether a holding enters or leaves, or a weight is off by more than the band (semantics §8.11). */
function isOffBand(
  { bandPercent }: AllocationRule,
  changing: readonly Member[],
  candidates: readonly Candidate[],
  targets: Float64Array,
  equity: number,
): boolean {
  return changing.some((member) => {
    const target = targets[member.index];
    const { weight } = candidates[member.index];
    if (weight === 0) return target !== 0 && canEnter(member, Math.abs(target) * equity);
    return target === 0 || Math.abs(target - weight) > bandPercent / 100 + ROUNDING;
  });
}

/** Whether a value is at least one step and the minimum notional. */
function canEnter({ run, mark }: Member, value: number): boolean {
  const { qtyStep, minNotional } = run.input.instrument;
  return value >= minNotional && floorToStep(value / mark, qtyStep) > 0;
}

/** Orders fill at the next bar of their instrument. After its last one there is none, and they expire. */
function order(portfolio: Portfolio, member: Member, value: number): void {
  const { run, row } = member;
  const positionId = member.open === 0 ? null : run.positions[0].id;
  const levels = readSignalLevels(run, row);
  member.holdingOrder = { id: portfolio.ledger.nextOrderId++, row, value, levels, positionId };
  portfolio.rebalancing.orders++;
  if (isLastRow(member)) cancelHoldingOrder(portfolio, member, 'expired');
  else portfolio.activate(member);
}
