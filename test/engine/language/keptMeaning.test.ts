// What a patch may do to a meaning: bodies whose meaning is not certain stay invalid, others keep theirs.
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { compare, entry, exit, indicator, market, sma } from '../../support/builders.ts';
import { graphOf } from '../../support/graphs.ts';
import {
  bodyOf,
  copied,
  dip,
  faultOf,
  patched,
  peak,
  risked,
  sized,
  triggered,
  type Body,
} from '../../support/patchedMeaning.ts';

const held = { timeStop: { maxBars: 9 } };
const stop = { mode: 'percent', value: 4 };
const later = (more: object): Body => triggered(compare(market('close', more), 'gt', market()));

describe('patches alone never make a body valid whose meaning is not certain:', () => {
  it.each<[string, Body]>([
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
    ['a number as a size that may be a fraction or one unit', sized(1 as never)],
    ['a number as a size that may be units', sized(150 as never)],
    [
      'a number as a quantity beside the side',
      bodyOf({ entry: entry(dip, { action: { side: 'long', quantity: 10 } }), exits: [exit(peak)] }),
    ],
    ['a size without a unit', sized({ size: 10 })],
    ['an amount without a mode', sized({ value: 10 })],
    ['a stop in percent of a fixed distance', risked({ ...held, stopLoss: { mode: 'fixed', percent: 5 } })],
    ['a negative stop', risked({ stopLoss: { mode: 'percent', value: -5 } })],
    ['a stop without its mode', risked({ ...held, stopLoss: { value: 5 } })],
    ['a number as a stop that may be a fraction', risked({ ...held, stopLoss: 0.05 })],
    ['a list of conditions of which one may be enough', triggered({ kind: 'not', item: [dip, 5] })],
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
  it.each<[string, Body, Body]>([
    ['a quantity', sized({ quantity: 10 }), sized({ mode: 'fixed', value: 10 })],
    ['shares', sized({ shares: 10 }), sized({ mode: 'fixed', value: 10 })],
    ['a quantity of the fixed mode', sized({ mode: 'fixed', quantity: 10 }), sized({ mode: 'fixed', value: 10 })],
    [
      'a percent of its mode',
      sized({ mode: 'percent_equity', percent: 10 }),
      sized({ mode: 'percent_equity', value: 10 }),
    ],
    ['a number as a size', sized(10 as never), sized({ mode: 'percent_equity', value: 10 })],
    ['a number as a stop', risked({ ...held, stopLoss: 4 }), risked({ ...held, stopLoss: stop })],
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
