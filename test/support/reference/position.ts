// A position and its levels as semantics §2 has them: what stands where, and which stop is in force.
import type { ExitReason } from '../../../src/engine/simulate/program.ts';

export interface Target {
  readonly price: number;
  readonly closePercent: number;
  readonly closeBasis: 'initial' | 'remaining';
  readonly moveStopToBreakeven: boolean;
  /** Its step of the ladder. */
  readonly step: number;
  isDone: boolean;
}

export interface Position {
  readonly id: number;
  readonly rule: number;
  readonly side: 1 | -1;
  readonly entryRow: number;
  readonly entryPrice: number;
  readonly initialQuantity: number;
  readonly entryFee: number;
  /** Row whose close gave the signal. */
  readonly signalRow: number;
  quantity: number;
  /** NaN: none, or not known yet. */
  stop: number;
  readonly initialRisk: number | null;
  readonly trailDistance: number;
  readonly targets: Target[];
  breakevenStop: number;
  best: number;
  /** Funding of the whole position not yet given to a row. */
  funding: number;
  /** Realised by earlier rows. */
  realised: number;
  highest: number;
  lowest: number;
  readonly doneExits: Set<number>;
}

export type StopReason = Extract<ExitReason, 'stop_loss' | 'breakeven' | 'trailing_stop'>;

export interface TrailingRule {
  readonly distancePercent?: number;
  readonly activateAfterPercent?: number;
}

/** The trailing level after `best`, NaN while there is none. */
export function trailingLevel(position: Position, rule: TrailingRule | undefined): number {
  if (rule === undefined) return NaN;
  const { side, entryPrice, best, trailDistance } = position;
  const start = entryPrice * (1 + (side * (rule.activateAfterPercent ?? 0)) / 100);
  if ((best - start) * side < 0) return NaN;
  return rule.distancePercent === undefined
    ? best - side * trailDistance
    : best * (1 - (side * rule.distancePercent) / 100);
}

/** The tightest stop and why it stands; equal ones by the order of semantics §3.4. */
export function stopInForce(
  position: Position,
  trailing: number,
): { readonly price: number; readonly reason: StopReason } | null {
  const levels: { price: number; reason: StopReason }[] = [
    { price: position.stop, reason: 'stop_loss' },
    { price: position.breakevenStop, reason: 'breakeven' },
    { price: trailing, reason: 'trailing_stop' },
  ];
  let found: { price: number; reason: StopReason } | null = null;
  for (const level of levels) {
    if (Number.isNaN(level.price)) continue;
    if (found === null || (level.price - found.price) * position.side > 0) found = level;
  }
  return found;
}
