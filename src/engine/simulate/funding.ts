// Funding: what positions pay or receive every eight hours for being held.
import { updateMargin } from './margin.ts';
import type { Run } from './run.ts';

const EIGHT_HOURS_MS = 8 * 3_600_000;
/** How many funding instants (00, 08, 16 UTC) lie at or before this time. */
const fundingInstants = (time: number): number => Math.floor(time / EIGHT_HOURS_MS);

/** The first row from `row` on, at most `limit`, whose open has a funding instant since the open before it. */
export function nextFundingRow(run: Run, row: number, limit: number): number {
  const { time } = run.bars;
  let at = row;
  while (at < limit && fundingInstants(time[at]) === fundingInstants(time[at - 1])) at++;
  return at;
}

/**
 * Positions carried into this bar pay quantity × open × rate for each funding instant passed; a long pays a positive
 * rate (semantics §4.6).
 */
export function payFunding(run: Run, row: number): void {
  const { bars, ledger, positions } = run;
  if (positions.length === 0) return;
  const instants = fundingInstants(bars.time[row]) - fundingInstants(bars.time[row - 1]);
  if (instants === 0) return;
  const perUnit = bars.open[row] * run.input.config.fundingRate * instants;
  for (const position of positions) {
    const paid = position.side * position.quantity * perUnit;
    position.funding -= paid;
    ledger.balance -= paid;
    run.fundingPaid += paid;
  }
  updateMargin(run);
}
