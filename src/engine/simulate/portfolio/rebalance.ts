// Rebalances: at the close of an instant, what an allocation wants every instrument to hold
// (semantics §8.9, §8.11).
import type { AllocationRule, LegRule } from '../../evaluate/tradingRules.ts';
import { hasBit } from '../../kernels/bits.ts';
import { readPrice, readSignalLevels } from '../levels.ts';
import { floorToStep } from '../sizing.ts';
import { isLastRow, type Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';
import { cancelHoldingOrder } from './rebalanceFills.ts';
import { targetWeights, type Candidate, type LegFacts } from './targets.ts';

/** Decides a rebalance where the allocation asks for one at this instant. */
export function rebalance(portfolio: Portfolio, instant: number): void {
  const { members, rebalances, rebalancing: counts } = portfolio;
  if (rebalances === null || !hasBit(rebalances, instant)) return;
  counts.whenTrue++;
  const equity = portfolio.equityAtMarks();
  const able = members.filter((member) => findRow(member, instant));
  const gross = grossOf(able);
  // Without a known gross and positive equity there is no rebalance, and the orders of the last one stay.
  if (Number.isNaN(gross) || !(equity > 0)) {
    counts.undecided++;
    return;
  }
  for (const member of members) if (member.holdingOrder !== null) cancelHoldingOrder(portfolio, member, 'cancelled');
  const isAble = new Set(able);
  const allocation = able[0].run.input.allocation!;
  const candidates = members.map((member) => candidateOf(member, isAble.has(member), equity));
  const targets = targetWeights(allocation, candidates, gross, counts);
  if (!isOffBand(allocation, able, candidates, targets, equity)) {
    counts.withinBand++;
    return;
  }
  counts.rebalances++;
  for (const member of able) {
    const target = targets[member.index];
    if (target !== 0 || candidates[member.index].weight !== 0) order(portfolio, member, target * equity);
  }
}

/** Finds the row of a member at an instant. False when it has no bar there, or its warm-up has not ended. */
function findRow(member: Member, instant: number): boolean {
  const { run, instants } = member;
  let row = member.rebalanceRow;
  while (row < run.end && instants[row] < instant) row++;
  member.rebalanceRow = row;
  if (row >= run.end || instants[row] !== instant || row < run.input.start) return false;
  if (!member.isActive) {
    member.row = row;
    member.mark = run.bars.close[row];
  }
  return true;
}

/** The first known gross in the order of symbols, as a fraction of equity; NaN: none is known (semantics §8.10). */
function grossOf(able: readonly Member[]): number {
  for (const { run, rebalanceRow } of able.toSorted((a, b) => a.symbolRank - b.symbolRank)) {
    const percent = readPrice(run, run.input.allocation!.gross, rebalanceRow);
    if (!Number.isNaN(percent)) return percent / 100;
  }
  return NaN;
}

function candidateOf(
  { run, rebalanceRow, quantity, mark, open }: Member,
  isPresent: boolean,
  equity: number,
): Candidate {
  const { instrument, allocation } = run.input;
  const { long, short, weights } = allocation!;
  const read = (leg: LegRule): LegFacts => ({
    by: leg.by === null ? 0 : readPrice(run, leg.by, rebalanceRow),
    where: leg.where === null || hasBit(leg.where, rebalanceRow),
    require: leg.require === null || hasBit(leg.require, rebalanceRow),
  });
  return {
    symbol: instrument.symbol,
    isPresent,
    long: long && (isPresent ? read(long) : NOTHING_KNOWN),
    short: short && (isPresent ? read(short) : NOTHING_KNOWN),
    weightBy: !isPresent ? NaN : weights.by === null ? 1 : readPrice(run, weights.by, rebalanceRow),
    weight: open === 0 ? 0 : (quantity * mark) / equity,
  };
}

const NOTHING_KNOWN: LegFacts = { by: NaN, where: false, require: false };

/** Whether a holding enters or leaves, or a weight is off by more than the band (semantics §8.11). */
function isOffBand(
  { bandPercent }: AllocationRule,
  able: readonly Member[],
  candidates: readonly Candidate[],
  targets: Float64Array,
  equity: number,
): boolean {
  return able.some((member) => {
    const target = targets[member.index];
    const { weight } = candidates[member.index];
    if (weight === 0) return target !== 0 && canEnter(member, Math.abs(target) * equity);
    return target === 0 || Math.abs(target - weight) > bandPercent / 100;
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
