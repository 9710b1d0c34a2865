// One bar, every order of its prices and levels, both sides, every policy: against an oracle that steps along the
// price.
import { describe, expect, it } from 'vitest';
import type { AmbiguityFallback } from '../../../src/engine/config.ts';
import { AMBIGUITY_FALLBACKS } from '../../../src/engine/config.ts';
import type { OrderRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { barsOf, configOf, entryAt, inputOf, NO_RISK, takeProfit, type Ohlc } from './input.ts';

/** Six prices, so that open, high, low, close, stop and target can stand in every order. */
const PRICES = [1, 2, 3, 4, 5, 6];
type Outcome = readonly ['stop_loss' | 'take_profit', number] | null;
type EntryKind = 'carried' | 'open' | 'limit' | 'stop';

interface Case {
  readonly bar: Ohlc;
  readonly side: 1 | -1;
  readonly stop: number;
  readonly target: number;
  readonly policy: AmbiguityFallback;
  readonly entry: EntryKind;
  /** Where the limit or stop order stands. */
  readonly at: number;
}

/** The prices a path visits, half a step at a time. */
function pathOf([open, high, low, close]: Ohlc, isLowFirst: boolean): number[] {
  const visited = [open];
  for (const to of isLowFirst ? [low, high, close] : [high, low, close]) {
    while (visited.at(-1) !== to) visited.push(visited.at(-1)! + Math.sign(to - visited.at(-1)!) / 2);
  }
  return visited;
}

function isLowFirst([open, high, low, close]: Ohlc, policy: AmbiguityFallback): boolean | null {
  if (policy === 'bar_direction') return close >= open;
  return high - open === open - low ? null : open - low < high - open;
}

/** What must come out, by looking. `beyond(a, b)`: a is as far as b, or farther, in the position's favor. */
function oracle({ bar, side, stop, target, policy, entry, at }: Case): Outcome {
  const [open, high, low, close] = bar;
  const beyond = (a: number, b: number) => side * (a - b) >= 0;
  const isStopped = (price: number) => beyond(stop, price);
  const isReached = (price: number) => beyond(price, target);
  const best = side > 0 ? high : low;
  const worst = side > 0 ? low : high;
  const isInside = (entry === 'limit' && !beyond(at, open)) || (entry === 'stop' && !beyond(open, at));
  if (entry === 'limit' && !beyond(at, worst)) return null;
  if (entry === 'stop' && !beyond(best, at)) return null;
  const from = isInside ? at : open;
  if (isStopped(from)) return ['stop_loss', from];
  if (isReached(from)) return ['take_profit', from];

  const stopHit: Outcome = ['stop_loss', stop];
  const targetHit: Outcome = ['take_profit', target];
  const lowFirst = policy === 'bar_direction' || policy === 'distance' ? isLowFirst(bar, policy) : null;
  if (lowFirst !== null) {
    const path = pathOf(bar, lowFirst);
    const filledAt = isInside
      ? path.findIndex((price) => (entry === 'limit' ? beyond(at, price) : beyond(price, at)))
      : 0;
    const hit = path.slice(filledAt).find((price) => isStopped(price) || isReached(price));
    if (hit === undefined) return null;
    return isStopped(hit) ? stopHit : targetHit;
  }
  if (policy === 'optimistic') {
    if (isReached(best)) return targetHit;
    return isStopped(worst) && (!isInside || entry === 'limit' || isStopped(close)) ? stopHit : null;
  }
  if (isStopped(worst)) return stopHit;
  return isReached(best) && (!isInside || entry === 'stop' || isReached(close)) ? targetHit : null;
}

function ours({ bar, side, stop, target, policy, entry, at }: Case): Outcome {
  const middle = (stop + target) / 2;
  const before: Ohlc = [middle, middle, middle, middle];
  // The signal's bar, for a carried position the quiet bar of its entry, and the bar in question.
  const bars = barsOf(entry === 'carried' ? [before, before, bar] : [before, bar]);
  const order: OrderRule =
    entry === 'limit' || entry === 'stop'
      ? { type: entry, price: { kind: 'constant', value: at }, expireBars: 5 }
      : { type: 'market' };
  const { trades } = simulate(
    inputOf(bars, {
      config: configOf({ ambiguityResolution: policy, initialBalance: 1e6 }),
      entries: [entryAt(bars, [0], { side, order })],
      risk: {
        ...NO_RISK,
        stopLoss: { mode: 'price', price: { kind: 'constant', value: stop }, update: 'entry' },
        takeProfits: [takeProfit({ mode: 'price', price: { kind: 'constant', value: target } })],
      },
    }),
  );
  const [trade] = trades;
  if (trade === undefined || trade.exitReason === 'end_of_data') return null;
  return [trade.exitReason as 'stop_loss' | 'take_profit', trade.exitPrice];
}

function* barsOver(prices: readonly number[]): Generator<Ohlc> {
  for (const low of prices) {
    for (const high of prices.filter((price) => price >= low)) {
      const between = prices.filter((price) => price >= low && price <= high);
      for (const open of between) for (const close of between) yield [open, high, low, close];
    }
  }
}

function check(side: 1 | -1, policy: AmbiguityFallback, entry: EntryKind): number {
  const levels = entry === 'limit' || entry === 'stop' ? PRICES : [NaN];
  let cases = 0;
  for (const bar of barsOver(PRICES)) {
    for (const lower of PRICES) {
      for (const upper of PRICES.filter((price) => price > lower)) {
        for (const at of levels) {
          const [stop, target] = side > 0 ? [lower, upper] : [upper, lower];
          const each: Case = { bar, side, stop, target, policy, entry, at };
          const expected = oracle(each);
          const got = ours(each);
          if (got?.[0] !== expected?.[0] || got?.[1] !== expected?.[1]) {
            expect.fail(`${JSON.stringify(each)}: ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`);
          }
          cases++;
        }
      }
    }
  }
  return cases;
}

describe.each(AMBIGUITY_FALLBACKS)('one bar under %s', (policy) => {
  describe.each([
    ['a long', 1],
    ['a short', -1],
  ] as const)('for %s', (_, side) => {
    it.each([
      ['carried into it', 'carried', 2_940],
      ['opened at its open', 'open', 2_940],
      ['opened inside it by a limit order', 'limit', 17_640],
      ['opened inside it by a stop order', 'stop', 17_640],
    ] as const)('%s, fills what stepping along the price says', (_, entry, cases) => {
      expect(check(side, policy, entry)).toBe(cases);
    });
  });
});
