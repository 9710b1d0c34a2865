// Errors that repair: what authors write by habit from other languages is recognized, and its patch makes the strategy valid.
import { applyPatch, type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { TIER_LIMITS } from '../../../src/tiers.ts';
import { TEMPLATES } from '../../../src/api/templates/catalog.ts';
import { compiledAst } from '../../../src/api/templates/template.ts';
import { diceOf, type Dice } from '../../support/dice.ts';

type Json = Record<string, unknown>;
type Body = Record<string, unknown> & { readonly settings: Json };

const SYMBOLS = new Set(['SPX', 'EURUSD', 'AAPL', 'MSFT', 'GOOG', 'IBM', 'NASDAQ']);
const check = (body: Body) => checkStrategy(body, { limits: TIER_LIMITS.pro, knownSymbols: SYMBOLS });
const close = { kind: 'market', field: 'close' };
const sma = { kind: 'indicator', indicator: 'sma', args: { length: 5 } };
const strategyOf = (trigger: Json, more: Json = {}): Body => ({
  settings: {},
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: { kind: 'entry', trigger, action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } } },
      risk: { timeStop: { maxBars: 9 } },
      ...more,
    },
  },
});
const above = { kind: 'compare', op: 'gt', left: close, right: sma };

/** Applies every patch of every error, in the order of the issues; where there is none, the word that a suggestion proposes. */
function patched(body: Body): Body {
  const errors = check(body).issues.filter(({ severity }) => severity === 'error');
  const steps = errors.flatMap(({ code, path, suggestion, patch }): readonly object[] => {
    if (patch !== undefined) return patch;
    const word = /Did you mean "([^"]+)"/.exec(suggestion ?? '')?.[1];
    if (word === undefined) return [];
    if (code !== 'UNKNOWN_FIELD') return [{ op: 'replace', path, value: word }];
    return [{ op: 'move', from: path, path: path.slice(0, path.lastIndexOf('/') + 1) + word }];
  });
  return applyPatch(structuredClone(body), structuredClone(steps) as Operation[]).newDocument;
}

describe('a patch repairs', () => {
  it.each<[string, Body]>([
    ['the kind crossover', strategyOf({ kind: 'crossover', left: close, right: sma })],
    ['the kind crosses_below', strategyOf({ kind: 'crosses_below', left: close, right: sma })],
    ['an operator written as a kind', strategyOf({ kind: 'gt', left: close, right: sma })],
    ['a pattern with its side in the name', strategyOf({ kind: 'pattern', name: 'bullish_engulfing' })],
    ['simple_ma', strategyOf({ ...above, right: { ...sma, indicator: 'simple_ma' } })],
    ['relative_strength', strategyOf({ ...above, right: { ...sma, indicator: 'relative_strength' } })],
    ['type instead of mode', strategyOf(above, { risk: { stopLoss: { type: 'atr', period: 14, multiplier: 2 } } })],
    ['days instead of weekdays', strategyOf({ kind: 'time_window', days: ['mon'] })],
  ])('%s', (_what, body) => {
    expect(check(body).valid).toBe(false);
    expect(check(patched(body)).issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('a suggestion', () => {
  it('names every timeframe for one that does not exist', () => {
    const { issues } = check(strategyOf({ ...above, left: { ...close, timeframe: '5m' } }));
    expect(issues).toContainEqual(
      expect.objectContaining({ code: 'UNKNOWN_TIMEFRAME', suggestion: 'Use one of 15m, 1h, 4h, 1d.' }),
    );
  });

  it('never cuts an enumeration off', () => {
    const { issues } = check(strategyOf({ ...above, left: { kind: 'state', field: 'foo' } }));
    expect(issues[0].suggestion).toContain('last_exit_price');
  });

  it('is not joined by warnings that another error causes', () => {
    const signalGraph = {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [{ id: 'price', kind: 'market', field: 'close' }],
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: { ref: 'typo' },
          action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
        },
      },
    };
    const codes = check({ settings: {}, signalGraph }).issues.map(({ code }) => code);
    expect(codes).toContain('REF_NOT_FOUND');
    expect(codes).not.toContain('UNUSED_NODE');
  });
});

/** One seeded damage of the kind that authors make. */
function damage(body: Body, dice: Dice): void {
  const places: { owner: Json; name: string }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (['kind', 'op', 'indicator', 'mode', 'side', 'field', 'args', 'left', 'right', 'trigger'].includes(name))
        places.push({ owner: value as Json, name });
      walk(member);
    }
  };
  walk(body.strategyAst);
  const { owner, name } = dice.pick(places);
  const value = owner[name];
  if (typeof value === 'string' && value.length > 3 && dice.whole(0, 1) === 0) {
    const at = dice.whole(1, value.length - 2);
    owner[name] = dice.pick([value.toUpperCase(), value.slice(0, at) + value.slice(at + 1), `${value}s`]);
  } else {
    const wrong = dice.pick([`${name}s`, name.toUpperCase(), `${name}_`]);
    owner[wrong] = value;
    delete owner[name];
  }
}

/** As a client sends it: templates use some of their nodes twice. */
const written = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

describe('the repair loop', () => {
  it('ends valid for at least 95 % of damaged strategies, and no patch adds errors', () => {
    const dice = diceOf(14);
    let valid = 0;
    const runs = 40;
    for (let run = 0; run < runs; run++) {
      const template = dice.pick(TEMPLATES);
      let body: Body = { settings: { ...template.settings }, strategyAst: written(compiledAst(template)) };
      damage(body, dice);
      for (let round = 0; round < 5 && !check(body).valid; round++) {
        const before = check(body).summary.errors;
        body = patched(body);
        expect(check(body).summary.errors).toBeLessThanOrEqual(before);
      }
      if (check(body).valid) valid++;
    }
    expect(valid / runs).toBeGreaterThanOrEqual(0.95);
  });
});
