// Generated strategies: valid payloads over every kind of the language, for laws that must hold of all of them.
import fc from 'fast-check';
import type { Condition, Entry, Exit, Param, Risk, StrategyAst, Value } from '../../src/engine/language/grammar/ast.ts';
import * as words from '../../src/engine/definitions/words.ts';
import { decimal, expressionArbitrary, hasKind, object, type StrategyOptions } from './expressions.ts';

export { ALL_CONDITION_KINDS, ALL_VALUE_KINDS, type AnyKind, type StrategyOptions } from './expressions.ts';

const PARAMS: readonly Param[] = [
  { name: 'n', type: 'int', default: 5, min: 1, max: 50 },
  { name: 'x', type: 'float', default: 20, min: 0, max: 100, step: 0.5 },
];

/** A valid strategy: entries, exits and risk of every mode around generated expressions. */
export function strategyArbitrary(options: StrategyOptions = {}): fc.Arbitrary<StrategyAst> {
  const { value, condition } = expressionArbitrary(options);
  const strategy = fc.record(
    {
      entry: fc.oneof(
        entryArbitrary(value, condition),
        fc.array(entryArbitrary(value, condition), { minLength: 1, maxLength: 2 }),
      ),
      exits: fc.array(exitArbitrary(condition), { maxLength: 2 }),
      risk: riskArbitrary(value),
    },
    { requiredKeys: ['entry'] },
  );
  return fc.tuple(strategy, fc.infiniteStream(fc.integer({ min: 0, max: 9 }))).map(([sections, stream]) => {
    const risk: Risk = sections.risk ?? {};
    // Sizing by risk and targets in R need a stop.
    const needsStop =
      [sections.entry].flat().some(({ action }) => action.sizing.mode === 'risk_percent') ||
      (risk.takeProfits ?? []).some(({ triggerR }) => triggerR !== undefined);
    const withStop: Risk =
      needsStop && risk.stopLoss === undefined ? { ...risk, stopLoss: { mode: 'percent', value: 2 } } : risk;
    const ast: StrategyAst = {
      protocol: 'svc.strategy',
      version: 1,
      strategy: {
        kind: 'strategy',
        ...(hasKind(options, 'param') ? { params: [...PARAMS] } : {}),
        ...sections,
        ...(Object.keys(withStop).length > 0 ? { risk: withStop } : {}),
      },
    };
    return options.named === false ? ast : nameSome(ast, stream);
  });
}

/** Ids on about a third of the nodes, each its own; a copy, so that nothing is shared. */
function nameSome(ast: StrategyAst, stream: Iterator<number>): StrategyAst {
  const copy = JSON.parse(JSON.stringify(ast)) as StrategyAst;
  let next = 0;
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as Record<string, unknown>;
    if (typeof node.kind === 'string' && (stream.next().value as number) < 3) node.id = `n${next++}`;
    for (const member of Object.values(node)) walk(member);
  };
  walk(copy.strategy.entry);
  walk(copy.strategy.exits);
  return copy;
}

function entryArbitrary(value: fc.Arbitrary<Value>, condition: fc.Arbitrary<Condition>): fc.Arbitrary<Entry> {
  const sizing = fc.oneof(
    object<object>({ mode: fc.constant('fixed'), value: decimal(0.01, 5) }),
    object<object>({ mode: fc.constant('fixed_cash'), value: decimal(10, 500) }),
    object<object>({ mode: fc.constantFrom('percent_equity', 'percent_balance'), value: decimal(1, 100) }),
    object<object>({ mode: fc.constant('risk_percent'), value: decimal(0.1, 5) }),
    object<object>(
      { mode: fc.constant('volatility_target'), value: decimal(5, 50) },
      { atrPeriod: fc.integer({ min: 2, max: 12 }) },
    ),
  );
  const expireBars = fc.integer({ min: 1, max: 5 });
  const order = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ type: 'market' }) },
    { weight: 1, arbitrary: object<object>({ type: fc.constantFrom('limit', 'stop'), price: value, expireBars }) },
  );
  return object<Entry>(
    {
      kind: fc.constant('entry'),
      trigger: condition,
      action: object<object>({ side: fc.constantFrom(...words.SIDES), sizing }, { order }),
    },
    {
      setup: condition,
      filters: fc.array(condition, { maxLength: 2 }),
      cooldownBars: fc.integer({ min: 0, max: 5 }),
      conflict: fc.constantFrom(...words.CONFLICT_POLICIES),
      rank: value,
    },
  );
}

function exitArbitrary(condition: fc.Arbitrary<Condition>): fc.Arbitrary<Exit> {
  const action = fc.oneof(
    object<object>({ mode: fc.constant('percent_position'), value: decimal(1, 100) }),
    object<object>({ mode: fc.constant('fixed'), value: decimal(0.01, 5) }),
  );
  return object<Exit>(
    { kind: fc.constant('exit'), when: condition },
    { appliesTo: fc.constantFrom(...words.APPLIES_TO), priority: fc.integer({ min: -2, max: 2 }), action },
  );
}

function riskArbitrary(value: fc.Arbitrary<Value>): fc.Arbitrary<Risk> {
  const percent = decimal(0.5, 20);
  const atr = object<object>({ period: fc.integer({ min: 2, max: 12 }), multiplier: decimal(0.5, 4) });
  const stopLoss = fc.oneof(
    object<object>({ mode: fc.constant('percent'), value: percent }),
    object<object>({ mode: fc.constant('fixed'), value: percent }),
    object<object>({ mode: fc.constant('atr'), period: fc.integer({ min: 2, max: 12 }), multiplier: decimal(0.5, 4) }),
    object<object>({ mode: fc.constant('price'), value }, { update: fc.constantFrom(...words.STOP_UPDATES) }),
  );
  const trigger = fc.oneof(
    fc.record({ triggerPercent: percent }),
    fc.record({ triggerR: decimal(0.5, 4) }),
    fc.record({ triggerAtr: atr }),
    fc.record({ triggerPrice: value }),
  );
  const rest = object<object>(
    { closePercent: decimal(1, 50) },
    { closeBasis: fc.constantFrom(...words.CLOSE_BASES), moveStopToBreakeven: fc.boolean() },
  );
  const target = fc.tuple(trigger, rest).map(([one, other]) => ({ ...one, ...other }));
  const distance = fc.oneof(fc.record({ distancePercent: percent }), fc.record({ distanceAtr: atr }));
  const trailingStop = fc
    .tuple(distance, object<object>({}, { activateAfterPercent: decimal(0, 5) }))
    .map(([one, other]) => ({ ...one, ...other }));
  return object<Risk>(
    {},
    {
      stopLoss,
      takeProfits: fc.array(target, { maxLength: 2 }),
      trailingStop,
      // An offset above the activation puts the stop beyond the market, where it is hit at once.
      breakeven: object<object>({ activateAfterPercent: decimal(0.5, 5) }, { offsetPercent: decimal(0, 7) }),
      timeStop: fc.record({ maxBars: fc.integer({ min: 1, max: 40 }) }),
    },
  );
}
