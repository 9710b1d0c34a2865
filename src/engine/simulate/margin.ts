// Margin: what open positions use of the balance, and the price at which the account is liquidated.
import type { Position } from './position.ts';
import type { Run } from './run.ts';

/**
 * Computes the used margin, the terms of equity and the liquidation price from the balance and the open positions;
 * called after every fill and funding. The sums start from 0 each time, so that the equity of a flat account is exactly
 * its balance (semantics §4.5). Other instruments of the account, of which a single run has none, add theirs.
 */
export function updateMargin(run: Run): void {
  const { ledger, positions } = run;
  const { leverage, maintenanceMarginRate } = run.input.config;
  let quantity = 0;
  let notional = 0;
  for (const position of positions) {
    quantity += position.quantity;
    notional += position.quantity * position.entryPrice;
  }
  ledger.usedMargin = notional / leverage + ledger.othersMargin;
  if (positions.length === 0) {
    ledger.cashBase = ledger.balance + ledger.othersUnrealized;
    ledger.netQuantity = 0;
    ledger.liquidation = -Infinity;
    return;
  }
  const { side } = positions[0];
  ledger.netQuantity = side * quantity;
  ledger.cashBase = ledger.balance + ledger.othersUnrealized - side * notional;
  ledger.liquidation = ledger.isShared
    ? -Infinity
    : liquidationLevel(side, ledger.balance, quantity, notional, maintenanceMarginRate);
}

/**
 * The signed price at which the account is liquidated: long (Σq·e − B)/(Σq·(1 − m)), short (B + Σq·e)/(Σq·(1 + m));
 * -Infinity when no price above 0 liquidates it.
 */
export function liquidationLevel(
  side: 1 | -1,
  balance: number,
  quantity: number,
  notional: number,
  maintenanceMarginRate: number,
): number {
  const price =
    side > 0
      ? (notional - balance) / (quantity * (1 - maintenanceMarginRate))
      : (balance + notional) / (quantity * (1 + maintenanceMarginRate));
  return price > 0 ? side * price : -Infinity;
}

/**
 * The level that ends a position if the market turns against it (signed): its stop, or the account's liquidation if
 * that is nearer.
 */
export const adverseLevel = (run: Run, position: Position): number => Math.max(position.stop, run.ledger.liquidation);

/**
 * The open positions in the order in which the levels that an open has passed fill: oldest first. When the open has
 * passed the liquidation price, the nearest stop goes first, because its loss moves that price (semantics §3.9).
 */
export function openingOrder({ positions, ledger }: Run, open: number): Position[] {
  const ordered = [...positions];
  if (ordered.length < 2) return ordered;
  if (ordered[0].side * open <= ledger.liquidation) ordered.sort((a, b) => b.stop - a.stop);
  return ordered;
}
