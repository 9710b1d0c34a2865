// Multi-resolution equals a plain walk over every minute: opening only the undecided bars loses nothing.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../src/engine/bars/bars.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import { configOf, entryAt, inputOf, NO_RISK, takeProfit } from '../engine/simulate/input.ts';
import { scaled } from '../support/scale.ts';
import { diceOf } from '../support/dice.ts';
import { bucketMinutes, randomMinutes } from './simulationInputs.ts';

interface Levels {
  readonly side: 1 | -1;
  /** Percents of the fill; null: none. */
  readonly stop: number | null;
  readonly target: number | null;
  readonly trail: number | null;
  readonly trailFrom: number | null;
  readonly breakevenFrom: number | null;
}
interface Exit {
  readonly entryRow: number;
  readonly exitRow: number;
  readonly reason: string;
  readonly price: number;
}

const MINUTES_PER_BAR = 15;

/**
 * Minute after minute from the entry on: stop, then target, each at its level or at an open beyond it; then the stop
 * moves. `isAmbiguous` when some minute touched both, or touched a stop that would have moved inside it.
 */
function walkEveryMinute(minutes: Bars, entryRow: number, levels: Levels): { exit: Exit; isAmbiguous: boolean } {
  const { side } = levels;
  const from = entryRow * MINUTES_PER_BAR;
  const fill = minutes.open[from];
  const away = (percent: number) => fill * (1 + (side * percent) / 100);
  const isPast = (price: number, level: number) => side * (price - level) >= 0;
  let stops: [string, number][] = levels.stop === null ? [] : [['stop_loss', away(-levels.stop)]];
  const target = levels.target === null ? null : away(levels.target);
  let best = fill;
  let isAmbiguous = false;
  const exitAt = (minute: number, reason: string, price: number) => ({
    exit: { entryRow, exitRow: Math.floor(minute / MINUTES_PER_BAR), reason, price },
    isAmbiguous,
  });
  const move = () => {
    stops = stops.filter(([name]) => name !== 'trailing_stop');
    if (
      levels.breakevenFrom !== null &&
      isPast(best, away(levels.breakevenFrom)) &&
      !stops.some(([name]) => name === 'breakeven')
    ) {
      stops.push(['breakeven', fill]);
    }
    if (levels.trail !== null && (levels.trailFrom === null || isPast(best, away(levels.trailFrom)))) {
      stops.push(['trailing_stop', best * (1 - (side * levels.trail) / 100)]);
    }
  };
  move();
  for (let minute = from; minute < minutes.length; minute++) {
    const open = minutes.open[minute];
    const most = side > 0 ? minutes.high[minute] : minutes.low[minute];
    const least = side > 0 ? minutes.low[minute] : minutes.high[minute];
    // The tightest; of equal ones the first named.
    const ORDER = ['stop_loss', 'breakeven', 'trailing_stop'];
    const [name, stop] = stops.toSorted(
      (a, b) => side * (b[1] - a[1]) || ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]),
    )[0] ?? ['', NaN];
    const isStopped = name !== '' && isPast(stop, least);
    const isReached = target !== null && isPast(most, target);
    if (name !== '' && isPast(stop, open)) return exitAt(minute, name, open);
    if (target !== null && isPast(open, target)) return exitAt(minute, 'take_profit', open);
    if (isStopped && isReached) isAmbiguous = true;
    if (isStopped) return exitAt(minute, name, stop);
    if (isReached) return exitAt(minute, 'take_profit', target);
    if (isPast(most, best)) best = most;
    move();
  }
  return exitAt(minutes.length - 1, 'end_of_data', minutes.close[minutes.length - 1]);
}

function check(seed: number, gap: number, comparesPrices: boolean): boolean {
  const dice = diceOf(seed);
  const minutes = randomMinutes(dice, 40 * MINUTES_PER_BAR, gap, 0.6);
  const bars = bucketMinutes(minutes, MINUTES_PER_BAR);
  const percent = (probability: number, low: number, high: number) =>
    dice.chance(probability) ? dice.number(low, high) : null;
  const levels: Levels = {
    side: dice.pick([1, -1]),
    stop: percent(0.8, 1, 5),
    target: percent(0.8, 1, 6),
    trail: percent(0.4, 1, 4),
    trailFrom: percent(0.5, 0.5, 3),
    breakevenFrom: percent(0.4, 0.5, 3),
  };
  const entryRow = dice.whole(1, 5);
  const { exit, isAmbiguous } = walkEveryMinute(minutes, entryRow, levels);
  const { trades } = simulate(
    inputOf(bars, {
      fine: minutes,
      entries: [entryAt(bars, [entryRow - 1], { side: levels.side })],
      risk: {
        ...NO_RISK,
        stopLoss: levels.stop === null ? null : { mode: 'percent', value: levels.stop },
        takeProfits: levels.target === null ? [] : [takeProfit({ mode: 'percent', value: levels.target })],
        trailingStop:
          levels.trail === null
            ? null
            : { distance: { mode: 'percent', value: levels.trail }, activateAfterPercent: levels.trailFrom },
        breakeven:
          levels.breakevenFrom === null ? null : { activateAfterPercent: levels.breakevenFrom, offsetPercent: 0 },
      },
      config: configOf({ initialBalance: 1e6, ambiguityResolution: 'multi_resolution' }),
    }),
  );
  if (isAmbiguous) return false;
  const [trade] = trades;
  const ours = { entryRow: trade.entryRow, exitRow: trade.exitRow, reason: trade.exitReason, price: trade.exitPrice };
  const label = `seed ${seed}: ${JSON.stringify(levels)}`;
  if (comparesPrices) expect(ours, label).toEqual(exit);
  else expect({ ...ours, price: 0 }, label).toEqual({ ...exit, price: 0 });
  return exit.reason !== 'end_of_data';
}

describe('multi-resolution, compared with a walk over every minute,', () => {
  it('agrees in side, reason, bar and price if no minute opens away from the last close', () => {
    const exits = Array.from({ length: scaled(20_000) }, (_, index) => check(index + 1, 0, true)).filter(Boolean);
    expect(exits.length).toBeGreaterThan(scaled(20_000) / 2);
  });

  it('agrees in side, reason and bar where minutes jump', () => {
    const exits = Array.from({ length: scaled(20_000) }, (_, index) => check(index + 1, 0.2, false)).filter(Boolean);
    expect(exits.length).toBeGreaterThan(scaled(20_000) / 2);
  });
});
