// What positions pay or receive at an open for having been carried into it: funding, borrowing and dividends.
import { fundingInstants, midnights, type Carry } from './carry.ts';
import { updateMargin } from './margin.ts';
import type { Position } from './position.ts';
import type { Run } from './run.ts';

/**
 * Positions carried into this bar pay funding for each funding instant passed (semantics §4.6), then what borrowing a
 * short costs for each midnight passed, then pay or receive dividends (semantics §4.8).
 */
export function payCarry(run: Run, carry: Carry, row: number): void {
  if (run.positions.length === 0) return;
  const { open, close, time } = run.bars;
  const instants = fundingInstants(time[row]) - fundingInstants(time[row - 1]);
  const nights = midnights(time[row]) - midnights(time[row - 1]);
  const funding = open[row] * carry.fundingRate * instants;
  const borrowing = close[row - 1] * carry.borrowRatePerDay * nights;
  const dividend = carry.dividends.get(row) ?? 0;
  for (const position of run.positions) {
    const { side, quantity } = position;
    if (funding !== 0) run.fundingPaid += pay(run, position, side * quantity * funding);
    if (borrowing !== 0 && side < 0) run.borrowPaid += pay(run, position, quantity * borrowing);
    if (dividend !== 0) run.dividendsReceived -= pay(run, position, -side * quantity * dividend);
  }
  if (funding !== 0 || borrowing !== 0 || dividend !== 0) updateMargin(run);
}

/** @returns what was paid; negative: received */
function pay({ ledger }: Run, position: Position, paid: number): number {
  position.carry -= paid;
  ledger.balance -= paid;
  return paid;
}
