// Strategies damaged in ways whose meaning is known, repaired by their patches alone: they trade as their author meant
// them to, or stay invalid.
import { expect, it } from 'vitest';
import { checkStrategy } from '../../src/engine/index.ts';
import { all, compare, constant, cross, entry, exit, indicator, market, sma } from '../support/builders.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { graphOf } from '../support/graphs.ts';
import {
  bodyOf,
  copied,
  dip,
  faultOf,
  patched,
  peak,
  risked,
  sized,
  tradesOf,
  triggered,
  type Body,
} from '../support/patchedMeaning.ts';
import { placesIn, type Place } from '../support/payloadPlaces.ts';
import { scaled } from '../support/scale.ts';

const SEED = 20_261_124;

/** Strategies that trade, with every section that carries risk. */
const SOUND: readonly Body[] = [
  sized({ mode: 'fixed', value: 10 }),
  sized({ mode: 'fixed_cash', value: 2_000 }),
  sized({ mode: 'percent_balance', value: 40 }, { side: 'short' }),
  sized({ mode: 'risk_percent', value: 2 }),
  sized({ mode: 'volatility_target', value: 20, atrPeriod: 10 }),
  sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', price: market('low', { offset: 1 }), expireBars: 5 } }),
  sized({ mode: 'fixed', value: 5 }, { order: { type: 'stop', price: market('high', { offset: 2 }), expireBars: 3 } }),
  risked({
    stopLoss: { mode: 'atr', period: 7, multiplier: 2 },
    takeProfits: [
      { triggerR: 2, closePercent: 60 },
      { triggerPercent: 6, closePercent: 40 },
    ],
  }),
  risked({
    stopLoss: { mode: 'fixed', value: 3 },
    trailingStop: { distancePercent: 3, activateAfterPercent: 2 },
    timeStop: { maxBars: 40 },
  }),
  risked({
    trailingStop: { distanceAtr: { period: 7, multiplier: 2 } },
    breakeven: { activateAfterPercent: 2, offsetPercent: 1 },
  }),
  triggered(
    all(cross(indicator('ema', { length: 5 }), 'cross_up', sma(9)), {
      kind: 'not',
      item: compare(indicator('rsi', { length: 7 }), 'gt', 80),
    }),
  ),
  triggered(
    compare({ kind: 'shift', source: market(), offset: 3 }, 'gt', {
      kind: 'rolling',
      op: 'avg',
      source: market('high'),
      period: 5,
      offset: 1,
    }),
  ),
  triggered({
    kind: 'any',
    items: [
      compare({ kind: 'percent_change', source: market(), bars: 3 }, 'lt', -1),
      { kind: 'falling', source: market(), bars: 2 },
    ],
  }),
  triggered({
    kind: 'between',
    value: indicator('bbands', { length: 9 }, { output: 'lower' }),
    lower: market('low'),
    upper: constant(1e4),
  }),
  bodyOf({
    entry: [
      entry(dip, { cooldownBars: 3, conflict: 'reverse' }),
      entry(peak, { action: { side: 'short', sizing: { mode: 'fixed', value: 4 } }, conflict: 'close' }),
    ],
  }),
  bodyOf({
    entry: entry(dip),
    exits: [
      exit(peak, { appliesTo: 'long', action: { mode: 'percent_position', value: 50 }, priority: 2 }),
      exit(compare(market(), 'gt', sma(30))),
    ],
  }),
];

function rename({ owner, name }: Place, to: string): void {
  const members = Object.entries(owner);
  for (const [each] of members) delete owner[each];
  for (const [each, value] of members) owner[each === name ? to : each] = value;
}

function misspelled(word: string, dice: Dice): string {
  const at = dice.whole(0, word.length - 1);
  const next = String.fromCharCode(97 + dice.whole(0, 25));
  return dice.pick([
    word.toUpperCase(),
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + next + word.slice(at),
    word.slice(0, at) + next + word.slice(at + 1),
    word.slice(0, at) +
      word
        .slice(at, at + 2)
        .split('')
        .reverse()
        .join('') +
      word.slice(at + 2),
  ]);
}

/** What other platforms call a member; a mechanical client meets each of them in every place. */
const OTHER_NAMES = [
  'percent', 'pct', 'quantity', 'units', 'size', 'amount', 'value', 'price', 'stopPrice', 'limitPrice', 'distance',
  'target', 'profit', 'lag', 'shift', 'bars', 'period', 'length', 'risk', 'type', 'mode', 'direction', 'condition',
  'when', 'min', 'max', 'a', 'b', 'fast', 'slow', 'source', 'close', 'cash', 'shares', 'portion', 'activation',
]; // prettier-ignore
/** Members whose new name says another unit or another operand: the meaning of the old one is then not certain. */
const isFree = (name: string): boolean => !['id', 'label'].includes(name);

/** Damages `place`; what is returned says whether its meaning is still that of the sound strategy. */
function damageAt(place: Place, dice: Dice): 'same' | 'unknown' | undefined {
  const { owner, name } = place;
  const value = owner[name];
  const isList = Array.isArray(value);
  switch (dice.pick(['member', 'word', 'other', 'text', 'list', 'only', 'sign', 'far', 'missing'])) {
    case 'member':
      if (!isFree(name)) return undefined;
      rename(place, misspelled(name, dice));
      return 'same';
    case 'word': {
      if (typeof value !== 'string') return undefined;
      owner[name] = misspelled(value, dice);
      return 'same';
    }
    case 'other': {
      const to = dice.pick(OTHER_NAMES);
      if (Object.hasOwn(owner, to)) return undefined;
      rename(place, to);
      return 'same';
    }
    case 'text':
      if (typeof value !== 'number') return undefined;
      owner[name] = String(value);
      return 'same';
    case 'list':
      if (isList || typeof value !== 'object') return undefined;
      owner[name] = [value];
      return 'same';
    case 'only':
      if (!isList || value.length !== 1) return undefined;
      [owner[name]] = value;
      return 'same';
    case 'sign':
      if (typeof value !== 'number' || (name === 'value' && owner.kind === 'const')) return undefined;
      owner[name] = -value;
      return name === 'priority' ? undefined : 'unknown';
    case 'far':
      if (typeof value !== 'number' || (name === 'value' && owner.kind === 'const') || name === 'priority')
        return undefined;
      owner[name] = 1e9;
      return 'unknown';
    case 'missing':
      if (!['kind', 'mode', 'type', 'op', 'side', 'protocol'].includes(name)) return undefined;
      delete owner[name];
      return 'same';
  }
  return undefined;
}

it(`patches alone make a damaged strategy trade as it did, or leave it invalid (seed ${SEED})`, () => {
  const dice = diceOf(SEED);
  const faults: string[] = [];
  let repairs = 0;
  for (const sound of SOUND) expect(checkStrategy(sound).valid).toBe(true);
  expect(SOUND.filter((sound) => (tradesOf(sound) as unknown[]).length === 0)).toEqual([]);
  for (let count = 0; count < scaled(20_000); count++) {
    const sound = dice.pick(SOUND);
    const isGraph = dice.chance(0.25);
    const meant = isGraph ? { settings: {}, signalGraph: copied(graphOf(sound.strategyAst)) } : sound;
    const broken = copied(meant);
    const payload = broken.strategyAst ?? broken.signalGraph;
    const meaning = damageAt(dice.pick(placesIn(payload)), dice);
    // A damage may make another valid strategy by itself: no patch is at fault then.
    if (meaning === undefined || checkStrategy(broken).valid) continue;
    if (patched(broken) !== null) repairs++;
    const fault = faultOf(broken, meaning === 'same' ? sound : null);
    if (fault !== undefined) faults.push(`${JSON.stringify(broken)}\n  ${fault}`);
  }
  process.stdout.write(`${repairs} strategies repaired by patches alone\n`);
  expect(faults).toEqual([]);
  expect(repairs).toBeGreaterThan(scaled(2_000));
});
