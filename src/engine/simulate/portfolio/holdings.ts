// Holdings: the one position that an allocation has in an instrument, at the average price of its entries
// (semantics §8.12).
import type { EntryRule } from '../../evaluate/tradingRules.ts';
import { wordCount } from '../../kernels/bits.ts';
import { chargeFee } from '../costs.ts';
import { feeTime, openPosition } from '../fills.ts';
import type { Instant } from '../instant.ts';
import { initialStop, setLevels } from '../levels.ts';
import { updateMargin } from '../margin.ts';
import { logEntry } from '../orderLog.ts';
import type { EntryOrder } from '../orders.ts';
import type { Position } from '../position.ts';
import type { Run } from '../run.ts';

/** The entry rules whose orders the fills of an allocation count as: of its long and of its short holdings. */
export function holdingEntries(id: string, rows: number): readonly [EntryRule, EntryRule] {
  const never = { kind: 'bits', isTrue: new Uint32Array(wordCount(rows)) } as const;
  const rule = (side: 1 | -1): EntryRule => ({
    id,
    side,
    signal: never,
    sizing: { mode: 'fixed', value: 0 },
    order: { type: 'market' },
    cooldownBars: 0,
    conflict: 'ignore',
  });
  return [rule(1), rule(-1)];
}

/** Opens a holding or adds to it, at the price and quantity in `run.entryFill`. */
export function addToHolding(run: Run, order: EntryOrder, at: Instant): void {
  const { entryFill: fill, positions } = run;
  const { side } = run.entries[order.rule];
  if (positions.length > 0) {
    increase(run, positions[0], order, at);
    return;
  }
  fill.stopPrice = initialStop(run.levels, order.levels, side, fill.price);
  openPosition(run, order, at);
}

/** The levels of a holding stand around its average price. */
function increase(run: Run, position: Position, order: EntryOrder, at: Instant): void {
  const { input, ledger, entryFill: fill } = run;
  const { price, rawPrice, quantity } = fill;
  const { side } = position;
  const fee = chargeFee(run.fees, quantity, price, input.config.execution.entryOrderRole, feeTime(run, at));
  const slippage = Math.abs(price - rawPrice) * quantity;
  const total = position.quantity + quantity;
  position.entryPrice = (position.entryPrice * position.quantity + price * quantity) / total;
  position.quantity = total;
  position.plannedQuantity = total;
  position.initialQuantity += quantity;
  position.entryFee += fee;
  position.entrySlippage += slippage;
  position.best = Math.max(position.best, side * price);
  position.peak = Math.max(position.peak, side * price);
  position.trough = Math.min(position.trough, side * price);
  const stopPrice = initialStop(run.levels, order.levels, side, position.entryPrice);
  position.initialRisk = Math.abs(position.entryPrice - stopPrice);
  if (run.hasLevels) setLevels(run, position, order.levels, stopPrice);
  run.slippageCost += slippage;
  run.counts.fillsByRule[order.rule]++;
  ledger.balance -= fee;
  updateMargin(run);
  if (run.orders === null) return;
  const { id } = position;
  logEntry(run, order, { status: 'filled', filledRow: at.row, fillPrice: price, quantity, fee, positionId: id });
}
