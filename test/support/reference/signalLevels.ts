// What the risk rules read at a signal's close, and the levels they become at the fill (semantics §2.4).
import type { RunnableStrategy } from '../../../src/engine/language/grammar/ast.ts';
import type { Side, Target } from './levels.ts';

type Risk = RunnableStrategy['risk'];

/** How the risk rules read prices and ATR at the signal; NaN while missing. */
export interface Reader {
  price(node: unknown): number;
  atr(period: number): number;
}

export interface SignalLevels {
  /** The initial stop for an entry filled at `price`; NaN without one. */
  readonly stopFrom: (price: number) => number;
  /** Price or ATR distance of each ladder step, NaN where it reads nothing. */
  readonly targets: readonly number[];
  readonly trailDistance: number;
}

export const isStopUpdated = ({ stopLoss }: Risk): boolean => stopLoss?.mode === 'price' && stopLoss.update === 'bar';

/** null: a level is missing, and the order is rejected. */
export function readLevels(risk: Risk, side: Side, read: Reader): SignalLevels | null {
  const { stopLoss, takeProfits, trailingStop } = risk;
  let stopFrom = (_price: number): number => NaN;
  if (stopLoss?.mode === 'percent') stopFrom = (price) => price * (1 - (side * stopLoss.value) / 100);
  if (stopLoss?.mode === 'fixed') stopFrom = (price) => price - side * stopLoss.value;
  if (stopLoss?.mode === 'atr') {
    const distance = stopLoss.multiplier * read.atr(stopLoss.period);
    if (Number.isNaN(distance)) return null;
    stopFrom = (price) => price - side * distance;
  }
  if (stopLoss?.mode === 'price') {
    const level = read.price(stopLoss.value);
    if (Number.isNaN(level) && !isStopUpdated(risk)) return null;
    stopFrom = () => level;
  }
  const targets = takeProfits.map(({ triggerAtr, triggerPrice }) => {
    if (triggerAtr !== undefined) return triggerAtr.multiplier * read.atr(triggerAtr.period);
    return triggerPrice === undefined ? 0 : read.price(triggerPrice);
  });
  const trail = trailingStop?.distanceAtr;
  const trailDistance = trail === undefined ? 0 : trail.multiplier * read.atr(trail.period);
  if ([...targets, trailDistance].some(Number.isNaN)) return null;
  return { stopFrom, targets, trailDistance };
}

/** The ladder of an entry filled at `price`, mirrored for a short. */
export function targetsOf(
  { takeProfits }: Risk,
  read: SignalLevels,
  side: Side,
  price: number,
  initialRisk: number | null,
): Target[] {
  return takeProfits.map((rule, step) => {
    const { triggerPercent, triggerR, triggerAtr, closePercent, closeBasis, moveStopToBreakeven } = rule;
    let level = read.targets[step];
    if (triggerPercent !== undefined) level = price * (1 + (side * triggerPercent) / 100);
    else if (triggerR !== undefined)
      level = initialRisk === null ? side * Infinity : price + side * triggerR * initialRisk;
    else if (triggerAtr !== undefined) level = price + side * read.targets[step];
    return { price: side * level, closePercent, closeBasis, moveStopToBreakeven, step, isDone: false };
  });
}
