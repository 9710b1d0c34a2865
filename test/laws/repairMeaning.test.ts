// What a patch may do to a meaning: strategies damaged in ways whose meaning is known, repaired by their patches alone,
// either trade as their author meant them to or stay invalid.
import { applyPatch, type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy, createMarket, runBacktest, type BacktestConfig } from '../../src/engine/index.ts';
import { randomSnapshot } from '../support/bars.ts';
import {
  all,
  astOf,
  compare,
  constant,
  cross,
  entry,
  exit,
  indicator,
  market,
  sma,
  type Json,
} from '../support/builders.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { graphOf } from '../support/graphs.ts';
import { scaled } from '../support/scale.ts';

const SEED = 20_261_124;
const MAX_ROUNDS = 8;
const BARS = createMarket([randomSnapshot({ symbol: 'LAW', count: 400, seed: 3 })], 'LAW', '1h');
const CONFIG: BacktestConfig = { timeframe: '1h', signalInstrument: { symbol: 'LAW' }, initialBalance: 10_000 };

const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** The trades of the payload that a body holds. */
function tradesOf(body: Json): unknown {
  const { compiled } = checkStrategy(body);
  const task = { id: 'law', strategyAst: compiled!.strategyAst, settings: body.settings, config: CONFIG };
  const outcome = runBacktest({ ...task, strategyHash: 'law' }, BARS, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.trades;
}

/** The body once its patches are applied, round by round; null while an error has none. */
function patched(body: Json): Json | null {
  let copy = copied(body);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { valid, issues } = checkStrategy(copy);
    if (valid) return copy;
    const steps = issues.flatMap(({ severity, patch }) => (severity === 'error' && patch ? [patch] : []));
    if (steps.length === 0) return null;
    for (const patch of steps) {
      try {
        copy = applyPatch(copied(copy), copied(patch) as Operation[]).newDocument;
      } catch {
        continue;
      }
    }
  }
  return null;
}

/** What is wrong with the repair of `broken`, whose meaning is that of `meant`; null: its meaning is not certain. */
function faultOf(broken: Json, meant: Json | null): string | undefined {
  const repaired = patched(broken);
  if (repaired === null) return undefined;
  if (meant === null) return `became valid: ${JSON.stringify(repaired)}`;
  const isSame = JSON.stringify(tradesOf(repaired)) === JSON.stringify(tradesOf(meant));
  return isSame ? undefined : `trades as something else: ${JSON.stringify(repaired)}`;
}

const dip = compare(market(), 'lt', sma(5));
const peak = compare(market(), 'gt', sma(5));
const bodyOf = (sections: object): Json => ({ settings: {}, strategyAst: astOf(sections) });

const sized = (sizing: object, action: object = {}): Json =>
  bodyOf({
    entry: entry(dip, { action: { side: 'long', sizing, ...action } }),
    exits: [exit(peak)],
    risk: { stopLoss: { mode: 'percent', value: 4 } },
  });
const risked = (risk: object): Json => bodyOf({ entry: entry(dip), risk });
const triggered = (trigger: Json): Json => bodyOf({ entry: entry(trigger), exits: [exit(peak)] });
const held = { timeStop: { maxBars: 9 } };
const stop = { mode: 'percent', value: 4 };
const later = (more: object): Json => triggered(compare(market('close', more), 'gt', market()));

describe('patches alone never make a body valid whose meaning is not certain:', () => {
  it.each<[string, Json]>([
    ['a negative offset', later({ offset: -1 })],
    ['a negative offset as text', later({ offset: '-1' })],
    ['a negative offset under another name', later({ barsAgo: -1 })],
    ['a negative lag', later({ lag: -1 })],
    ['a member that looks ahead', later({ lookahead: true })],
    ['a later bar by name', later({ next: 1 })],
    ['a lead', later({ lead: 1 })],
    ['a negative shift', triggered(compare({ kind: 'shift', source: market(), offset: -1 }, 'gt', market()))],
    [
      'a ref, which counts ahead in AmiBroker',
      triggered(compare({ kind: 'ref', source: market(), offset: 1 }, 'gt', market())),
    ],
    ['a lead as a kind', triggered(compare({ kind: 'lead', source: market(), offset: 1 }, 'gt', market()))],
    ['a change to a later bar', triggered(compare({ kind: 'percent_change', source: market(), bars: -1 }, 'gt', 0))],
    ['a momentum of a later bar', triggered(compare(indicator('mom', { length: -1 }), 'gt', 0))],
    [
      'an occurrence counted from the end',
      triggered(compare({ kind: 'value_when', value: market(), when: peak, occurrence: -1 }, 'gt', 0)),
    ],
    ['the next close as a text', triggered(compare('close[-1]', 'gt', market()))],
    ['the shifted close as a text', triggered(compare('close.shift(-1)', 'gt', market()))],
    ['the close of an owner that looks ahead', triggered(compare('next.close', 'gt', market()))],
    ['the close of another instrument as a text', triggered(compare('SPY.close', 'gt', market()))],
    ['the close before as a text', triggered(compare('prev.close', 'gt', market()))],
    ['a comparison of texts that looks ahead', triggered('next.close > close')],
    ['a negative offset of a pattern', triggered({ kind: 'pattern', name: 'doji', side: 'any', offset: -1 })],
    ['a negative time stop, which is none elsewhere', risked({ timeStop: { maxBars: -1 } })],
    [
      'an order that expires after -1 bars, which is never elsewhere',
      sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', price: market('low'), expireBars: -1 } }),
    ],
    [
      '-1 positions, which is any number elsewhere',
      { ...sized({ mode: 'fixed', value: 5 }), settings: { maxConcurrentPositions: -1 } },
    ],
    [
      'more positions than there may be',
      { ...sized({ mode: 'fixed', value: 5 }), settings: { maxConcurrentPositions: 1_000 } },
    ],
    ['a negative cooldown', bodyOf({ entry: entry(dip, { cooldownBars: -3 }), exits: [exit(peak)] })],
    ['a period of 0', triggered(compare({ kind: 'rolling', op: 'max', source: market(), period: 0 }, 'gt', 0))],
    ['a window longer than there may be', triggered(compare(indicator('sma', { length: 1e6 }), 'gt', 0))],
    [
      'a slope longer than there may be',
      triggered(compare({ kind: 'rolling', op: 'slope', source: market(), period: 9_000 }, 'gt', 0)),
    ],
    ['a risk above 100 %', sized({ mode: 'risk_percent', value: 250 })],
    ['a size beyond the most', sized({ mode: 'percent_equity', value: 1e6 })],
    ['a trailing stop beyond 100 %', risked({ ...held, trailingStop: { distancePercent: 250 } })],
    ['a negative activation', risked({ ...held, trailingStop: { distancePercent: 5, activateAfterPercent: -2 } })],
    ['a target that closes 250 %', risked({ ...held, takeProfits: [{ triggerPercent: 3, closePercent: 250 }] })],
    ['a quantity in percent', sized({ mode: 'percent_equity', quantity: 10 })],
    ['units in cash', sized({ mode: 'fixed_cash', units: 10 })],
    ['a percent in units', sized({ mode: 'fixed', percent: 10 })],
    ['a risk in percent of equity', sized({ mode: 'percent_equity', riskPct: 1 })],
    ['a risk that may be an amount', sized({ risk: 100 })],
    ['a mode of risk that may be an amount', sized({ mode: 'risk', value: 100 })],
    ['a fixed risk', sized({ mode: 'fixed_risk', value: 100 })],
    ['a number as a size', sized(10 as never)],
    [
      'a number as a quantity beside the side',
      bodyOf({ entry: entry(dip, { action: { side: 'long', quantity: 10 } }), exits: [exit(peak)] }),
    ],
    ['a size without a unit', sized({ size: 10 })],
    ['an amount without a mode', sized({ value: 10 })],
    ['a stop in percent of a fixed distance', risked({ ...held, stopLoss: { mode: 'fixed', percent: 5 } })],
    ['a negative stop', risked({ stopLoss: { mode: 'percent', value: -5 } })],
    ['a stop without its mode', risked({ ...held, stopLoss: { value: 5 } })],
    ['a number as a stop', risked({ ...held, stopLoss: 5 })],
    ['a target that may be a price', risked({ ...held, takeProfits: [{ target: 101, closePercent: 100 }] })],
    ['a profit that may be an amount', risked({ ...held, takeProfits: [{ profit: 3, closePercent: 100 }] })],
    ['a portion that may be a fraction', risked({ ...held, takeProfits: [{ triggerPercent: 3, portion: 1 }] })],
    ['a part to close that may be units', risked({ ...held, takeProfits: [{ triggerPercent: 3, size: 1 }] })],
    ['a distance that may be a price', risked({ ...held, trailingStop: { distance: 3 } })],
    ['an activation that may be a price', risked({ ...held, trailingStop: { distancePercent: 3, activation: 101 } })],
    ['a sale that may close a position', sized({ mode: 'fixed', value: 5 }, { side: 'sell' })],
    ['a sale as the side of an exit', bodyOf({ entry: entry(dip), exits: [exit(peak, { appliesTo: 'sell' })] })],
    [
      'a limit order with the price of a stop',
      sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', stopPrice: market('low'), expireBars: 5 } }),
    ],
    [
      'a stop order with the price of a limit',
      sized({ mode: 'fixed', value: 5 }, { order: { type: 'stop', limitPrice: market('high'), expireBars: 5 } }),
    ],
    ['an exit among the entries', bodyOf({ entry: { ...entry(dip), kind: 'exit' }, exits: [exit(peak)] })],
    ['an entry among the exits', bodyOf({ entry: entry(dip), exits: [{ kind: 'entry', trigger: peak }] })],
    ['leverage', bodyOf({ entry: entry(dip), exits: [exit(peak)], leverage: 3 })],
    ['a stop that is not one of ours', risked({ ...held, stop: 5 })],
    ['a ladder of another platform', risked({ ...held, minimal_roi: { 0: 0.1 } })],
    ['a filter as an object', bodyOf({ entry: entry(dip, { regime: peak }), exits: [exit(peak)] })],
    ['a condition in `item` alone, which may be turned around', triggered({ item: dip })],
    ['an operator that says it is turned around', triggered(compare(market(), 'nlte', sma(5)))],
    ['a kind that says it is turned around', triggered({ ...compare(market(), '>', sma(5)), kind: 'not_compare' })],
    ['two operators that disagree', triggered({ ...compare(market(), 'lt', sma(5)), kind: 'gt' })],
    ['a pattern with two sides', triggered({ kind: 'pattern', name: 'bearish_engulfing', side: 'bullish' })],
    ['an amount in European thousands', sized({ mode: 'fixed_cash', value: '1.500' })],
    ['a percent of units', sized({ mode: 'fixed', value: '10%' })],
    [
      'a profit in money or in parts',
      bodyOf({ entry: entry(dip), exits: [exit(compare({ kind: 'state', field: 'profit' }, 'gt', 0.05))] }),
    ],
  ])('%s', (_what, broken) => {
    expect(checkStrategy(broken).valid).toBe(false);
    expect(faultOf(broken, null)).toBeUndefined();
  });

  it('a reference to a node with another number', () => {
    const broken = {
      settings: {},
      signalGraph: copied(graphOf(triggered(compare(sma(5, { id: 'level_1' }), 'gt', market())).strategyAst)),
    };
    const text = JSON.stringify(broken).replace('"ref":"level_1"', '"ref":"level_2"');
    expect(text).toContain('level_2');
    expect(faultOf(JSON.parse(text), null)).toBeUndefined();
  });

  it('a param with another number, or with two letters changed', () => {
    for (const [declared, used] of [
      ['length1', 'length2'],
      ['uptrend', 'dntrend'],
      ['fast_ma', 'last_ma'],
    ]) {
      const params = [{ name: declared, type: 'int', default: 5 }];
      const trigger = compare(market(), 'gt', indicator('sma', { length: { param: used } }));
      const broken = bodyOf({ params, entry: entry(trigger), exits: [exit(peak)] });
      expect(faultOf(broken, null)).toBeUndefined();
    }
  });

  it('a misspelling of a member that is given already', () => {
    const trigger = compare(indicator('macd', { fast_length: 5, fast_lengths: 9 }, { output: 'macd' }), 'gt', 0);
    expect(faultOf(triggered(trigger), null)).toBeUndefined();
  });

  it('two payloads of one kind that differ', () => {
    const [signalGraph, strategyAst] = [5, 6].map((length) =>
      graphOf(triggered(compare(market(), 'gt', sma(length))).strategyAst),
    );
    expect(faultOf({ settings: {}, signalGraph, strategyAst }, null)).toBeUndefined();
  });
});

describe('patches alone keep the meaning of', () => {
  it.each<[string, Json, Json]>([
    ['a quantity', sized({ quantity: 10 }), sized({ mode: 'fixed', value: 10 })],
    ['shares', sized({ shares: 10 }), sized({ mode: 'fixed', value: 10 })],
    ['a quantity of the fixed mode', sized({ mode: 'fixed', quantity: 10 }), sized({ mode: 'fixed', value: 10 })],
    [
      'a percent of its mode',
      sized({ mode: 'percent_equity', percent: 10 }),
      sized({ mode: 'percent_equity', value: 10 }),
    ],
    ['a size in percent as a text', sized('10%' as never), sized({ mode: 'percent_equity', value: 10 })],
    [
      'a purchase as the side of an entry',
      sized({ mode: 'fixed', value: 5 }, { side: 'buy' }),
      sized({ mode: 'fixed', value: 5 }),
    ],
    ['a misspelled stop', risked({ ...held, stopLos: stop }), risked({ ...held, stopLoss: stop })],
    [
      'a stop beside the risk',
      bodyOf({ entry: entry(dip), risk: held, stop_loss: stop }),
      risked({ ...held, stopLoss: stop }),
    ],
    ['a stop in percent as a text', risked({ ...held, stopLoss: '4%' }), risked({ ...held, stopLoss: stop })],
    [
      'a limit with its price',
      sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', limitPrice: market('low'), expireBars: 5 } }),
      sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', price: market('low'), expireBars: 5 } }),
    ],
    ['an earlier close as a text', triggered(compare('close[1]', 'gt', market())), later({ offset: 1 })],
    ['an offset by another name', later({ barsAgo: 2 }), later({ offset: 2 })],
  ])('%s', (_what, broken, meant) => {
    expect(patched(broken)).not.toBeNull();
    expect(faultOf(broken, meant)).toBeUndefined();
  });
});

/** Strategies that trade, with every section that carries risk. */
const SOUND: readonly Json[] = [
  sized({ mode: 'fixed', value: 10 }),
  sized({ mode: 'fixed_cash', value: 2_000 }),
  sized({ mode: 'percent_balance', value: 40 }, { side: 'short' }),
  sized({ mode: 'risk_percent', value: 2 }),
  sized({ mode: 'volatility_target', value: 20, atrPeriod: 10 }),
  sized({ mode: 'fixed', value: 5 }, { order: { type: 'limit', price: market('low', { offset: 1 }), expireBars: 5 } }),
  sized({ mode: 'fixed', value: 5 }, { order: { type: 'stop', price: market('high', { offset: 2 }), expireBars: 3 } }),
  risked({ stopLoss: { mode: 'atr', period: 7, multiplier: 2 }, takeProfits: [{ triggerR: 2, closePercent: 60 }, { triggerPercent: 6, closePercent: 40 }] }),
  risked({ stopLoss: { mode: 'fixed', value: 3 }, trailingStop: { distancePercent: 3, activateAfterPercent: 2 }, timeStop: { maxBars: 40 } }),
  risked({ trailingStop: { distanceAtr: { period: 7, multiplier: 2 } }, breakeven: { activateAfterPercent: 2, offsetPercent: 1 } }),
  triggered(all(cross(indicator('ema', { length: 5 }), 'cross_up', sma(9)), { kind: 'not', item: compare(indicator('rsi', { length: 7 }), 'gt', 80) })),
  triggered(compare({ kind: 'shift', source: market(), offset: 3 }, 'gt', { kind: 'rolling', op: 'avg', source: market('high'), period: 5, offset: 1 })),
  triggered({ kind: 'any', items: [compare({ kind: 'percent_change', source: market(), bars: 3 }, 'lt', -1), { kind: 'falling', source: market(), bars: 2 }] }),
  triggered({ kind: 'between', value: indicator('bbands', { length: 9 }, { output: 'lower' }), lower: market('low'), upper: constant(1e4) }),
  bodyOf({ entry: [entry(dip, { cooldownBars: 3, conflict: 'reverse' }), entry(peak, { action: { side: 'short', sizing: { mode: 'fixed', value: 4 } }, conflict: 'close' })] }),
  bodyOf({ entry: entry(dip), exits: [exit(peak, { appliesTo: 'long', action: { mode: 'percent_position', value: 50 }, priority: 2 }), exit(compare(market(), 'gt', sma(30)))] }),
]; // prettier-ignore

interface Place {
  readonly owner: Json;
  readonly name: string;
}
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [{ owner: value as Json, name }]),
    ...placesIn(member),
  ]);
}

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
