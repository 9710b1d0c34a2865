import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy, type CheckContext } from '../../../src/engine/language/check/checkStrategy.ts';
import { ISSUE_CODES, severityOf } from '../../../src/engine/definitions/issueCodes.ts';
import type { ArgDefinition } from '../../../src/engine/indicators/definition.ts';
import { checkArgs } from '../../../src/engine/language/check/callArguments.ts';
import { IssueLog } from '../../../src/engine/language/issues/issues.ts';
import {
  CONFIG_ERROR_CODES,
  CONFIG_WARNING_CODES,
  PORTFOLIO_WARNING_CODES,
  TRADING_DAY_WARNING_CODES,
} from '../../../src/engine/definitions/issueCodes.ts';
import { TIER_LIMITS } from '../../../src/tiers.ts';
import { pointerTo } from '../../../src/engine/language/pointer.ts';
import {
  all,
  any,
  astOf,
  compare,
  constant,
  cross,
  graph,
  indicator,
  market,
  sma,
  strategy,
  type Json,
} from '../../support/builders.ts';

interface Case {
  readonly code: string;
  readonly path: string;
  readonly body: Json;
  readonly context?: CheckContext;
  /** Whether applying the issue's patch leaves no issue of this code (default: there is no patch). */
  readonly isRepaired?: boolean;
}
const ast = (strategyAst: Json, settings: Json = {}): Json => ({ settings, strategyAst });
/** A copy of a payload with one change. */
function changed(payload: Json, change: (copy: Json) => void): Json {
  const copy = structuredClone(payload);
  change(copy);
  return copy;
}
const inAst = (change: (strategy: Json, root: Json) => void): Json =>
  ast(changed(strategy(), (root) => change(root.strategy, root)));
const inGraph = (change: (graph: Json) => void): Json => ({ settings: {}, signalGraph: changed(graph(), change) });
const triggered = (trigger: Json, more: object = {}): Json => ast(strategy(trigger, more));
/** The words of a payload and of a path in it. */
const named = (body: Json, path: string): Set<string> => new Set(`${JSON.stringify(body)} ${path}`.match(/\w+/g));
const TRIGGER = '/strategyAst/strategy/entry/trigger';
const rsi = indicator('rsi', { length: 14 });
const long = (sizing: object): Json => ({ side: 'long', sizing });

const monthly: Json = { kind: 'schedule', every: 'month', on: 'first' };
const allocation = (more: object): Json => ({
  kind: 'allocation',
  when: compare(market('close', { instrument: { symbol: 'SPX' } }), 'gt', sma(20, { instrument: { symbol: 'SPX' } })),
  long: { by: indicator('roc', { length: 252 }), top: 3 },
  ...more,
});
const allocated = (more: object, sections: object = {}): Json =>
  ast(astOf({ allocation: allocation(more), ...sections }));
const ALLOCATION = '/strategyAst/strategy/allocation';

/** Exactly one thing is wrong in each body, and no other code may be reported. */
const CASES: Case[] = [
  { code: 'PAYLOAD_REQUIRED', path: '', body: { settings: {} } },
  { code: 'PAYLOADS_DISAGREE', path: '/signalGraph', body: { settings: {}, strategyAst: strategy(), signalGraph: graph() } },
  { code: 'PROTOCOL_UNSUPPORTED', path: '/strategyAst/protocol', body: inAst((_, root) => (root.protocol = 'svc.strateegy')), isRepaired: true },
  { code: 'PROTOCOL_UNSUPPORTED', path: '/signalGraph/protocol', body: inGraph((g) => (g.protocol = 'something else')) },
  { code: 'VERSION_UNSUPPORTED', path: '/strategyAst/version', body: inAst((_, root) => (root.version = 2)) },
  { code: 'VERSION_UNSUPPORTED', path: '/signalGraph/version', body: inGraph((g) => (g.version = '2')), isRepaired: true },
  { code: 'UNKNOWN_FIELD', path: '/strategyAst/strategy/risk/stopLos', body: inAst((s) => (s.risk = { stopLos: { mode: 'percent', value: 2 } })), isRepaired: true },
  { code: 'UNKNOWN_FIELD', path: '/settings/leverage', body: ast(strategy(), { leverage: 2 }) },
  { code: 'UNKNOWN_FIELD', path: '/signalGraph/nodes/1/window', body: inGraph((g) => (g.nodes[1].window = 5)) },
  { code: 'UNKNOWN_FIELD', path: `${TRIGGER}/left/source`, body: triggered(compare(indicator('atr', { length: 14 }, { source: market() }), 'gt', 1)) },
  { code: 'MISSING_FIELD', path: '/strategyAst/protocol', body: inAst((_, root) => delete root.protocol), isRepaired: true },
  { code: 'MISSING_FIELD', path: '/signalGraph/version', body: inGraph((g) => delete g.version), isRepaired: true },
  { code: 'MISSING_FIELD', path: '/signalGraph/nodes/1/args', body: inGraph((g) => delete g.nodes[1].args), isRepaired: true },
  { code: 'MISSING_FIELD', path: `${TRIGGER}/kind`, body: triggered(changed(compare(rsi, 'lt', 30), (c) => delete c.kind)), isRepaired: true },
  { code: 'MISSING_FIELD', path: `${TRIGGER}/right`, body: triggered(changed(compare(rsi, 'lt', 30), (c) => delete c.right)) },
  { code: 'MISSING_FIELD', path: `${TRIGGER}/left/quantile`, body: triggered(compare({ kind: 'rolling', op: 'quantile', period: 5, source: market() }, 'gt', 1)) },
  { code: 'MISSING_FIELD', path: `${TRIGGER}/value`, body: triggered({ kind: 'rolling_window', window: 5, mode: 'count_gt', expr: compare(rsi, 'lt', 30) }) },
  { code: 'MISSING_FIELD', path: `${TRIGGER}/left/sources`, body: triggered(compare(indicator('correl', {}), 'gt', 0)) },
  { code: 'MISSING_FIELD', path: '/strategyAst/strategy/params/0/values', body: inAst((s) => (s.params = [{ name: 'c', type: 'choice', default: 1 }])) },
  { code: 'TYPE_MISMATCH', path: `${TRIGGER}/right`, body: triggered({ kind: 'compare', op: 'gt', left: market(), right: 30 }), isRepaired: true },
  { code: 'TYPE_MISMATCH', path: TRIGGER, body: triggered(market()) },
  { code: 'TYPE_MISMATCH', path: `${TRIGGER}/left`, body: triggered(compare(compare(rsi, 'lt', 30), 'gt', 1)) },
  { code: 'TYPE_MISMATCH', path: `${TRIGGER}/right/value`, body: triggered(compare(market(), 'gt', changed(constant(1), (c) => (c.value = '30')))), isRepaired: true },
  { code: 'TYPE_MISMATCH', path: '/signalGraph/nodes/2/left', body: inGraph((g) => (g.nodes[2].left = 'close')), isRepaired: true },
  { code: 'TYPE_MISMATCH', path: '/settings/warmupPeriod', body: ast(strategy(), { warmupPeriod: '30' }), isRepaired: true },
  { code: 'TYPE_MISMATCH', path: '/strategyAst/strategy/entry/setup', body: inAst((s) => (s.entry.setup = null)), isRepaired: true },
  { code: 'TYPE_MISMATCH', path: `${TRIGGER}/left/args/source`, body: triggered(compare(indicator('ema', { source: 'open' }, { source: market() }), 'gt', 1)) },
  { code: 'OUT_OF_RANGE', path: '/settings/maxConcurrentPositions', body: ast(strategy(), { maxConcurrentPositions: 101 }) },
  { code: 'OUT_OF_RANGE', path: '/settings/warmupPeriod', body: ast(strategy(), { warmupPeriod: -1 }) },
  { code: 'OUT_OF_RANGE', path: '/signalGraph/nodes/0/offset', body: inGraph((g) => (g.nodes[0].offset = -1)) },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/left/period`, body: triggered(compare({ kind: 'rolling', op: 'max', period: 0, source: market('high') }, 'gt', 1)) },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/left/period`, body: triggered(compare({ kind: 'rolling', op: 'slope', period: 5_001, source: market('high') }, 'gt', 1)) },
  { code: 'INDICATOR_ARG_OUT_OF_RANGE', path: `${TRIGGER}/left/args/length`, body: triggered(compare({ kind: 'indicator', indicator: 'alma', args: { length: 5_001 } }, 'gt', 1)) },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/left/args`, body: triggered(compare({ kind: 'math', op: 'sqrt', args: [market(), market('open')] }, 'gt', 1)) },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/timezone`, body: triggered({ kind: 'time_window', timezone: 'Europe/Londn', weekdays: ['mon'] }), isRepaired: true },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/dates/from`, body: triggered({ kind: 'time_window', dates: { from: '2023-02-30' } }) },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/left/field`, body: triggered(compare(market('clsoe'), 'gt', 1)), isRepaired: true },
  { code: 'OUT_OF_RANGE', path: `${TRIGGER}/left/period`, body: triggered(compare({ kind: 'rolling', op: 'max', period: { param: 'n' }, source: market() }, 'gt', 1), { params: [{ name: 'n', type: 'int', default: 0 }] }) },
  { code: 'UNKNOWN_NODE_KIND', path: `${TRIGGER}/kind`, body: triggered(changed(compare(rsi, 'lt', 30), (c) => (c.kind = 'comparee'))), isRepaired: true },
  { code: 'UNKNOWN_NODE_KIND', path: '/signalGraph/strategy/kind', body: inGraph((g) => (g.strategy.kind = 'strategie')), isRepaired: true },
  { code: 'UNKNOWN_INDICATOR', path: `${TRIGGER}/left/indicator`, body: triggered(compare(indicator('supertrnd', {}, { output: 'trend' }), 'gt', 0)), isRepaired: true },
  { code: 'UNKNOWN_INDICATOR', path: `${TRIGGER}/left/indicator`, body: triggered(compare(indicator('no_such_thing_at_all'), 'gt', 1)) },
  { code: 'UNKNOWN_INDICATOR_ARG', path: `${TRIGGER}/left/args/timeperiod`, body: triggered(compare(indicator('ema', { timeperiod: 9 }), 'gt', 1)), isRepaired: true },
  { code: 'UNKNOWN_INDICATOR_ARG', path: `${TRIGGER}/left/args/colour`, body: triggered(compare(indicator('ema', { colour: 9 }), 'gt', 1)) },
  { code: 'INDICATOR_ARG_OUT_OF_RANGE', path: '/signalGraph/nodes/1/args/length', body: inGraph((g) => (g.nodes[1].args.length = 0)) },
  { code: 'INDICATOR_OUTPUT_REQUIRED', path: `${TRIGGER}/left/output`, body: triggered(compare(indicator('macd'), 'gt', 0)) },
  { code: 'INDICATOR_OUTPUT_UNKNOWN', path: `${TRIGGER}/left/output`, body: triggered(compare(indicator('sma', {}, { output: 'sma' }), 'gt', 0)), isRepaired: true },
  { code: 'UNKNOWN_OPERATOR', path: `${TRIGGER}/op`, body: triggered(compare(rsi, '<', 30)), isRepaired: true },
  { code: 'UNKNOWN_OPERATOR', path: '/signalGraph/nodes/2/op', body: inGraph((g) => (g.nodes[2].op = 'crosses_above')), isRepaired: true },
  { code: 'UNKNOWN_PATTERN', path: `${TRIGGER}/name`, body: triggered({ kind: 'pattern', name: 'hamer' }), isRepaired: true },
  { code: 'UNKNOWN_STATE_FIELD', path: `${TRIGGER}/left/field`, body: triggered(compare({ kind: 'state', field: 'positon_size' }, 'gt', 0)), isRepaired: true },
  { code: 'UNKNOWN_TIMEFRAME', path: '/signalGraph/nodes/0/timeframe', body: inGraph((g) => (g.nodes[0].timeframe = 'daily')), isRepaired: true },
  { code: 'UNKNOWN_TIMEFRAME', path: '/strategyAst/strategy/defaults/timeframe', body: inAst((s) => (s.defaults = { timeframe: '7h30' })) },
  { code: 'NODE_ID_DUPLICATE', path: '/signalGraph/nodes/4/id', body: inGraph((g) => { g.nodes.push({ id: 'close', kind: 'market', field: 'open' }); g.strategy.exits[0].when = { ref: 'down' }; }) },
  { code: 'NODE_ID_DUPLICATE', path: `${TRIGGER}/right/id`, body: triggered(compare(market('close', { id: 'a' }), 'gt', market('open', { id: 'a' }))) },
  { code: 'REF_NOT_FOUND', path: '/signalGraph/nodes/2/right/ref', body: inGraph((g) => (g.nodes[2].right = { ref: 'avarage' })), isRepaired: true },
  { code: 'REF_TYPE_MISMATCH', path: '/signalGraph/strategy/exits/0/when/ref', body: inGraph((g) => { g.strategy.exits[0].when = { ref: 'average' }; g.strategy.entry.filters = [{ ref: 'down' }]; g.nodes[3] = { id: 'down', kind: 'rising', bars: 2, source: { ref: 'close' } }; }) },
  { code: 'GRAPH_CYCLE', path: '/signalGraph/nodes/5/args/0/ref', body: inGraph((g) => {
    g.nodes.push({ id: 'a', kind: 'shift', offset: 1, source: { ref: 'b' } }, { id: 'b', kind: 'math', op: 'neg', args: [{ ref: 'a' }] });
    g.nodes[1].source = { ref: 'a' };
  }) },
  { code: 'ENTRY_MISSING', path: '/strategyAst/strategy/entry', body: inAst((s) => delete s.entry) },
  { code: 'ENTRY_MISSING', path: '/signalGraph/strategy/entry', body: inGraph((g) => { g.strategy.entry = []; g.nodes.splice(2, 1); }) },
  { code: 'TRIGGER_MISSING', path: TRIGGER, body: inAst((s) => delete s.entry.trigger) },
  { code: 'SIZING_INVALID', path: '/strategyAst/strategy/entry/action/sizing/value', body: inAst((s) => (s.entry.action = long({ mode: 'percent_equity', value: 0 }))) },
  { code: 'SIZING_INVALID', path: '/strategyAst/strategy/entry/action/sizing/mode', body: inAst((s) => (s.entry.action = long({ mode: 'percent_equty', value: 5 }))), isRepaired: true },
  { code: 'SIZING_INVALID', path: '/strategyAst/strategy/exits/0/action/value', body: inAst((s) => (s.exits[0].action = { mode: 'percent_position', value: 120 })) },
  { code: 'SIZING_NEEDS_STOP', path: '/strategyAst/strategy/entry/action/sizing/mode', body: inAst((s) => (s.entry.action = long({ mode: 'risk_percent', value: 1 }))) },
  { code: 'TIMEFRAME_BELOW_BASE', path: `${TRIGGER}/left/timeframe`, body: triggered(compare(market('close', { timeframe: '15m' }), 'gt', 1), { defaults: { timeframe: '1h' } }) },
  { code: 'TIMEFRAME_BELOW_BASE', path: '/signalGraph/nodes/1/timeframe', body: inGraph((g) => (g.nodes[1].timeframe = '1h')), context: { baseTimeframe: '4h' } },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/stopLoss/value', body: inAst((s) => (s.risk = { stopLoss: { mode: 'percent', value: 150 } })) },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/stopLoss/value', body: inAst((s) => (s.risk = { stopLoss: { mode: 'fixed', value: -1 } })) },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/takeProfits/0', body: inAst((s) => (s.risk = { takeProfits: [{ closePercent: 100 }] })) },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/takeProfits/0/triggerR', body: inAst((s) => (s.risk = { takeProfits: [{ triggerR: 2, closePercent: 100 }] })) },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/trailingStop', body: inAst((s) => (s.risk = { trailingStop: { activateAfterPercent: 1 } })) },
  { code: 'RISK_INVALID', path: '/strategyAst/strategy/risk/takeProfits', body: inAst((s) => (s.risk = { takeProfits: Array.from({ length: 11 }, (_, i) => ({ triggerPercent: i + 1, closePercent: 1 })) })) },
  { code: 'TP_CLOSE_OVER_100', path: '/strategyAst/strategy/risk/takeProfits', body: inAst((s) => (s.risk = { takeProfits: [{ triggerPercent: 2, closePercent: 60 }, { triggerPercent: 4, closePercent: 60 }] })) },
  { code: 'ALLOCATION_INVALID', path: ALLOCATION, body: allocated({}, { exits: [{ kind: 'exit', when: compare(rsi, 'gt', 70) }] }) },
  { code: 'ALLOCATION_INVALID', path: ALLOCATION, body: inAst((s) => (s.allocation = allocation({}))) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/long`, body: allocated({ long: undefined }) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/long/by`, body: allocated({ long: { top: 3 } }) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/short/by`, body: allocated({ short: { bottomPercent: 20 } }) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/when`, body: allocated({ when: undefined }) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/weights/by`, body: allocated({ weights: { mode: 'inverse' } }) },
  { code: 'MISSING_FIELD', path: `${ALLOCATION}/weights/values`, body: allocated({ weights: { mode: 'fixed' } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/weights/values`, body: allocated({ weights: { mode: 'fixed', values: {} } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/weights/values/SPY`, body: allocated({ weights: { mode: 'fixed', values: { SPY: -60 } } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/weights/mode`, body: allocated({ weights: { mode: 'invers', by: rsi } }), isRepaired: true },
  { code: 'UNKNOWN_FIELD', path: `${ALLOCATION}/weights/by`, body: allocated({ weights: { mode: 'equal', by: rsi } }) },
  { code: 'UNKNOWN_FIELD', path: `${ALLOCATION}/weights/values`, body: allocated({ weights: { mode: 'proportional', by: rsi, values: { SPY: 60 } } }) },
  { code: 'UNKNOWN_FIELD', path: `${ALLOCATION}/long/bottom`, body: allocated({ long: { by: rsi, bottom: 3 } }) },
  { code: 'UNKNOWN_FIELD', path: `${ALLOCATION}/short/top`, body: allocated({ short: { by: rsi, top: 3 } }) },
  { code: 'UNKNOWN_FIELD', path: `${ALLOCATION}/short/topPercent`, body: allocated({ short: { by: rsi, topPercent: 20 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/topPercent`, body: allocated({ long: { by: rsi, top: 3, topPercent: 20 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/top`, body: allocated({ long: { by: rsi, top: 0 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/keepWithin`, body: allocated({ long: { by: rsi, top: 3, keepWithin: 2 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/keepWithin`, body: allocated({ long: { by: rsi, keepWithin: 2 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/keepWithin`, body: allocated({ long: { by: rsi, top: { param: 'n' }, keepWithin: 2 } }, { params: [{ name: 'n', type: 'int', default: 3 }] }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/weights/grossPercent`, body: allocated({ weights: { mode: 'equal', grossPercent: -1 } }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/bandPercent`, body: allocated({ bandPercent: 101 }) },
  { code: 'ALLOCATION_INVALID', path: `${ALLOCATION}/long/require/left/field`, body: allocated({ long: { require: compare({ kind: 'state', field: 'position_size' }, 'gt', 1) } }) },
  { code: 'ALLOCATION_INVALID', path: '/strategyAst/strategy/risk/takeProfits', body: allocated({}, { risk: { takeProfits: [{ triggerPercent: 4, closePercent: 50 }] } }) },
  { code: 'ALLOCATION_INVALID', path: '/strategyAst/strategy/risk/breakeven', body: allocated({}, { risk: { breakeven: { activateAfterPercent: 2 } } }) },
  { code: 'FRACTION_FOR_PERCENT', path: `${ALLOCATION}/weights/values/SPY`, body: allocated({ weights: { mode: 'fixed', values: { SPY: 0.6, BND: 40 } } }) },
  { code: 'FRACTION_FOR_PERCENT', path: `${ALLOCATION}/weights/maxPercent`, body: allocated({ weights: { mode: 'equal', maxPercent: 0.4 } }) },
  { code: 'FRACTION_FOR_PERCENT', path: `${ALLOCATION}/bandPercent`, body: allocated({ bandPercent: 0.05 }) },
  { code: 'FRACTION_FOR_PERCENT', path: `${ALLOCATION}/long/topPercent`, body: allocated({ long: { by: rsi, topPercent: 0.2 } }) },
  { code: 'TIER_LIMIT_CONDITIONS', path: ALLOCATION, body: allocated({ long: { where: all(compare(rsi, 'lt', 70), compare(rsi, 'gt', 30)) } }), context: { limits: { entryConditions: 2, exitConditions: 9, exits: 9, nodes: 99, depth: 9 } } },
  { code: 'PARAM_UNDEFINED', path: `${TRIGGER}/right/value`, body: triggered(compare(rsi, 'lt', { kind: 'const', value: { param: 'levl' } }), { params: [{ name: 'level', type: 'float', default: 30 }] }), isRepaired: true },
  { code: 'PARAM_UNDEFINED', path: `${TRIGGER}/right/name`, body: triggered(compare(rsi, 'lt', { kind: 'param', name: 'level' })) },
  { code: 'PARAM_UNDEFINED', path: `${TRIGGER}/left/args/length`, body: triggered(compare(indicator('rsi', { length: { param: 'n' } }), 'lt', 30)) },
  { code: 'PAYLOAD_TOO_DEEP', path: '/strategyAst', body: triggered(Array.from({ length: 20 }).reduce<Json>((item) => ({ kind: 'not', item }), compare(rsi, 'lt', 30))), context: { limits: { entryConditions: 10, exitConditions: 10, exits: 2, nodes: 64, depth: 16 } } },
  { code: 'NOT_AVAILABLE_YET', path: `${TRIGGER}/left/instrument/symbol`, body: triggered(compare({ kind: 'state', field: 'position_exists', instrument: { symbol: 'MSFT' } }, 'eq', 1), { defaults: { instrument: { symbol: 'AAPL' } } }) },
  { code: 'NOT_AVAILABLE_YET', path: `${TRIGGER}/left/source`, body: triggered(compare(indicator('ema', { length: 5 }, { source: { kind: 'math', op: 'neg', args: [{ kind: 'state', field: 'account_equity' }] } }), 'gt', 1)) },
  { code: 'TIER_LIMIT_CONDITIONS', path: '/strategyAst/strategy/entry', body: triggered(any(...Array.from({ length: 11 }, (_, i) => ({ kind: 'rising', bars: i + 1, source: market() })))), context: { limits: { entryConditions: 10, exitConditions: 10, exits: 2, nodes: 64, depth: 16 } } },
  { code: 'TIER_LIMIT_NODES', path: '/strategyAst/strategy', body: triggered(compare({ kind: 'math', op: 'add', args: Array.from({ length: 63 }, (_, i) => market('close', { offset: i })) }, 'gt', 1)), context: { limits: { entryConditions: 10, exitConditions: 10, exits: 2, nodes: 64, depth: 16 } } },
  { code: 'TIER_LIMIT_EXITS', path: '/strategyAst/strategy/exits', body: inAst((s) => (s.exits = [1, 2, 3].map((bars) => ({ kind: 'exit', when: { kind: 'falling', bars, source: market() } })))), context: { limits: { entryConditions: 10, exitConditions: 10, exits: 2, nodes: 64, depth: 16 } } },

  { code: 'WARMUP_TOO_SHORT', path: '/settings/warmupPeriod', body: ast(strategy(), { warmupPeriod: 18 }), isRepaired: true },
  { code: 'WARMUP_TOO_SHORT', path: '/strategyAst/strategy/defaults/warmupBars', body: inAst((s) => (s.defaults = { warmupBars: 5 })), isRepaired: true },
  { code: 'SYMBOL_NOT_AVAILABLE', path: '/signalGraph/nodes/0/instrument/symbol', body: inGraph((g) => (g.nodes[0].instrument = { symbol: 'SPY' })), context: { knownSymbols: new Set(['SPX', 'EURUSD']) } },
  { code: 'SYMBOL_NOT_AVAILABLE', path: '/strategyAst/strategy/defaults/instrument/symbol', body: inAst((s) => (s.defaults = { instrument: { symbol: 'X' } })), context: { knownSymbols: new Set(['SPX']) } },
  { code: 'NO_EXIT_RULE', path: '/strategyAst/strategy/exits', body: inAst((s) => delete s.exits) },
  { code: 'UNUSED_NODE', path: '/signalGraph/nodes/4', body: inGraph((g) => g.nodes.push({ id: 'spare', kind: 'market', field: 'open' })) },
  { code: 'CONSTANT_CONDITION', path: `${TRIGGER}/items/0`, body: triggered(any(compare(rsi, 'gt', 101), { kind: 'rising', bars: 2, source: market() })) },
  { code: 'CONSTANT_CONDITION', path: TRIGGER, body: triggered(compare(rsi, 'gte', 0)) },
  { code: 'CONSTANT_CONDITION', path: '/strategyAst/strategy/exits/0/when', body: inAst((s) => (s.exits[0].when = compare(rsi, 'lt', 0))) },
  { code: 'CONTRADICTION', path: TRIGGER, body: triggered(compare(rsi, 'gt', 101)) },
  { code: 'CONTRADICTION', path: `${TRIGGER}/items/1`, body: triggered(all(compare(rsi, 'lt', 30), compare(rsi, 'gt', 70))) },
  { code: 'CONTRADICTION', path: '/strategyAst/strategy/entry/filters/0', body: inAst((s) => { s.entry.trigger = compare(market(), 'gt', market('open')); s.entry.filters = [compare(market('open'), 'gt', market())]; }) },
  { code: 'REDUNDANT_CONDITION', path: `${TRIGGER}/items/1`, body: triggered(all(compare(rsi, 'lt', 30), compare(rsi, 'lt', 50))) },
  { code: 'REDUNDANT_CONDITION', path: `${TRIGGER}/items/1`, body: triggered(all({ kind: 'rising', bars: 2, source: market() }, { kind: 'rising', bars: 2, source: market() })) },
  { code: 'SIMULTANEOUS_CROSSES', path: `${TRIGGER}/items/1`, body: triggered(all(cross(market(), 'cross_up', indicator('sma')), cross(rsi, 'cross_up', constant(30)))) },
  { code: 'FLOAT_EQUALITY', path: `${TRIGGER}/op`, body: triggered(compare(market(), 'eq', indicator('sma'))) },
  { code: 'SELF_COMPARE_SAME_BAR', path: TRIGGER, body: triggered(compare(market(), 'gte', market('close', { offset: 0 }))) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/entry/action/sizing/value', body: inAst((s) => (s.entry.action.sizing = { mode: 'percent_equity', value: 0.95 })) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/risk/takeProfits/0/closePercent', body: inAst((s) => (s.risk = { takeProfits: [{ triggerPercent: 4, closePercent: 0.5 }] })) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/risk/takeProfits/0/triggerPercent', body: inAst((s) => (s.risk = { takeProfits: [{ triggerPercent: 0.04, closePercent: 100 }] })) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/entry/action/sizing/value', body: inAst((s) => { s.entry.action.sizing = { mode: 'risk_percent', value: 0.02 }; s.risk = { stopLoss: { mode: 'percent', value: 2 } }; }) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/exits/0/action/value', body: inAst((s) => (s.exits[0].action = { mode: 'percent_position', value: 0.5 })) },
  { code: 'FRACTION_FOR_PERCENT', path: `${TRIGGER}/right/value`, body: triggered(compare(rsi, 'lt', 0.3)) },
  { code: 'FRACTION_FOR_PERCENT', path: `${TRIGGER}/left/value`, body: triggered(cross(constant(0.7), 'cross_down', rsi)) },
  { code: 'FRACTION_FOR_PERCENT', path: `${TRIGGER}/upper/value`, body: triggered({ kind: 'between', value: rsi, lower: constant(0), upper: constant(0.5) }) },
  { code: 'FRACTION_FOR_PERCENT', path: '/signalGraph/nodes/2/right/const', body: inGraph((g) => { g.nodes[2] = { id: 'up', kind: 'cross', op: 'cross_up', left: { ref: 'rsi' }, right: { const: 0.3 } }; g.nodes.push({ id: 'rsi', kind: 'indicator', indicator: 'rsi', args: {} }); }) },
  { code: 'INTRADAY_WINDOW', path: `${TRIGGER}/items/1/between`, body: triggered(all(compare(rsi, 'lt', 30), { kind: 'time_window', between: { from: '09:30', to: '16:00' } }), { defaults: { timeframe: '1d' } }) },
  { code: 'INTRADAY_WINDOW', path: `${TRIGGER}/name`, body: triggered({ kind: 'session', name: 'london' }), context: { baseTimeframe: '1d' } },
  { code: 'INTRADAY_WINDOW', path: `${TRIGGER}/left/field`, body: triggered(compare({ kind: 'time', field: 'hour' }, 'gte', 9), { defaults: { timeframe: '1d' } }) },
  { code: 'WARMUP_EXCEEDS_DATA', path: '/strategyAst/strategy/defaults/instrument/symbol', body: inAst((s) => (s.defaults = { instrument: { symbol: 'SPX' }, timeframe: '1d' })), context: { barsOf: () => 10 } },
  { code: 'INSTRUMENTS_MAY_DISAGREE', path: `${ALLOCATION}/when`, body: allocated({ when: compare(market(), 'gt', sma(20)) }) },
  { code: 'INSTRUMENTS_MAY_DISAGREE', path: `${ALLOCATION}/weights/grossPercent`, body: allocated({ when: monthly, weights: { mode: 'equal', grossPercent: rsi } }) },
  { code: 'READS_ONE_POSITION', path: `${TRIGGER}/right/field`, body: { ...triggered(compare(market(), 'lt', { kind: 'state', field: 'position_entry_price' })), settings: { maxConcurrentPositions: 3 } } },
  { code: 'READS_ONE_POSITION', path: `${TRIGGER}/left/field`, body: triggered(compare({ kind: 'state', field: 'position_unrealized_pnl' }, 'lt', 0), { defaults: { maxConcurrentPositions: 2 } }) },
  { code: 'CONTRADICTION', path: TRIGGER, body: triggered(compare(market(), 'gt', market('high'))) },
  { code: 'CONTRADICTION', path: TRIGGER, body: triggered(compare(market(), 'lt', indicator('donchian', { length: 20 }, { output: 'lower' }))), isRepaired: true },
  { code: 'CONTRADICTION', path: TRIGGER, body: triggered(cross(market(), 'cross_up', { kind: 'rolling', op: 'max', period: 20, source: market('high') })), isRepaired: true },
  { code: 'CONSTANT_CONDITION', path: TRIGGER, body: triggered(compare(market('low'), 'lte', market('hl2'))) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/entry/action/sizing/value', body: inAst((s) => (s.entry.action.sizing = { mode: 'volatility_target', value: 0.15 })) },
  { code: 'FRACTION_FOR_PERCENT', path: '/strategyAst/strategy/risk/breakeven/activateAfterPercent', body: inAst((s) => (s.risk = { stopLoss: { mode: 'percent', value: 5 }, breakeven: { activateAfterPercent: 0.02 } })) },
  { code: 'STOP_TIGHTER_THAN_NOISE', path: '/strategyAst/strategy/risk/stopLoss/value', body: inAst((s) => (s.risk = { stopLoss: { mode: 'percent', value: 0.02 } })) },
  { code: 'STOP_TIGHTER_THAN_NOISE', path: '/strategyAst/strategy/risk/trailingStop/distanceAtr/multiplier', body: inAst((s) => (s.risk = { trailingStop: { distanceAtr: { period: 14, multiplier: 0.2 } } })) },
  { code: 'ALIAS_USED', path: `${TRIGGER}/kind`, body: triggered({ ...any(compare(rsi, 'lt', 30), compare(rsi, 'gt', 70)), kind: 'or' }), isRepaired: true },
  { code: 'ALIAS_USED', path: `${TRIGGER}/left/indicator`, body: triggered(compare(indicator('simple_moving_average'), 'gt', 1)), isRepaired: true },
  { code: 'ALIAS_USED', path: `${TRIGGER}/name`, body: triggered({ kind: 'pattern', name: 'CDLHAMMER' }), isRepaired: true },
  { code: 'ALIAS_USED', path: '/strategyAst/strategy/exit', body: inAst((s) => { [s.exit] = s.exits; delete s.exits; }), isRepaired: true },
]; // prettier-ignore

describe('issues', () => {
  for (const { code, path, body, context, isRepaired = false } of CASES) {
    it(`reports ${code} at ${path}${isRepaired ? ', with the patch that repairs it' : ''}`, () => {
      const outcome = checkStrategy(structuredClone(body), context);
      const codes = [...new Set(outcome.issues.map((issue) => issue.code))];
      expect(codes).toEqual([code]);
      const issue = outcome.issues.find((one) => one.path === path)!;
      expect(outcome.issues.map((one) => one.path)).toContain(path);
      expect(issue.field).toBe(path.split('/')[1] ?? '');
      expect(issue.severity).toBe(severityOf(issue.code));
      for (const { message, suggestion = 'None.' } of outcome.issues) {
        expect(message).toMatch(/^\S+( \S+)+ \S*[^\s.]\.$/);
        // A message begins as a sentence does, or with a name that the payload or the issue's path contains.
        const [start] = message.split(' ');
        expect([start, /^[A-Z"`\d]/.test(start) || named(body, path).has(start)]).toEqual([start, true]);
        expect(suggestion).toMatch(/^[A-Z].*[.?]$/);
      }
      expect(outcome.valid).toBe(issue.severity === 'warning');
      expect(outcome.requiresConfirmation).toBe(code === 'CONTRADICTION');
      expect(issue.patch !== undefined).toBe(isRepaired);
      if (issue.patch === undefined) return;
      const repaired = jsonPatch.applyPatch(structuredClone(body), issue.patch as Operation[], true).newDocument;
      const again = checkStrategy(repaired, context);
      expect(again.valid).toBe(true);
      expect(again.issues.filter((one) => one.code === code)).toEqual([]);
    });
  }

  it('reports INDICATOR_ARG_REQUIRED where a definition requires an argument', () => {
    const log = new IssueLog();
    const definition: ArgDefinition = { name: 'length', type: 'int', default: 14, min: 1, required: true };
    const context = {
      log,
      at: (...member: (string | number)[]) => pointerTo('/x', ...member),
      paramDefault: () => undefined,
      isParam: () => false,
    };
    expect(checkArgs({ args: {} }, { id: 'made_up', args: [definition] }, context)).toBe(false);
    expect(log.list().map(({ code, path }) => [code, path])).toEqual([['INDICATOR_ARG_REQUIRED', '/x/args/length']]);
    expect(checkArgs({ args: { length: 3 } }, { id: 'made_up', args: [definition] }, context)).toBe(true);
  });

  it('warns of one position of several only where an entry reads what is easily taken for all of them', () => {
    const codes = (entry: Json, exit: Json, maxConcurrentPositions: number) => {
      const body = triggered(compare(market(), 'lt', entry));
      body.strategyAst.strategy.exits = [{ kind: 'exit', when: compare(market(), 'gt', exit) }];
      return checkStrategy({ ...body, settings: { maxConcurrentPositions } }).issues.map(({ code }) => code);
    };
    const entryPrice = { kind: 'state', field: 'position_entry_price' };
    const average = { kind: 'state', field: 'position_average_price' };
    expect(codes(entryPrice, entryPrice, 2)).toEqual(['READS_ONE_POSITION']);
    expect(codes(average, entryPrice, 2)).toEqual([]);
    expect(codes(entryPrice, entryPrice, 1)).toEqual([]);
  });

  it('warns of prices of each instrument only where the account needs one answer and nothing makes it one', () => {
    const spx = { instrument: { symbol: 'SPX' } };
    const section = (op: string): Json => ({ kind: 'cross_section', op, source: compare(market(), 'gt', sma(20)) });
    const mean: Json = { kind: 'cross_section', op: 'mean', source: market() };
    const warned = (when: Json, grossPercent: Json = 100): string[] =>
      checkStrategy(allocated({ when, weights: { mode: 'equal', grossPercent } })).issues.map(({ path }) => path);
    for (const when of [
      monthly,
      compare({ kind: 'time', field: 'month' }, 'eq', 1),
      compare(market('close', spx), 'gt', sma(20, spx)),
      compare(indicator('sma', { length: 20 }, { source: market('close', spx) }), 'gt', 1),
      compare(indicator('sma', { length: 20 }, { ...spx, source: market() }), 'gt', 1),
      compare(section('share'), 'gt', 50),
    ])
      expect(warned(when), JSON.stringify(when)).toEqual([]);
    for (const when of [
      compare(market('close', spx), 'gt', market()),
      compare({ kind: 'cross_section', op: 'rank', source: market() }, 'lt', 2),
      compare(indicator('atr', { length: 20 }), 'gt', 1),
      { kind: 'pattern', name: 'engulfing' },
      all(monthly, compare({ kind: 'percent_change', bars: 5, source: market() }, 'gt', 1)),
    ])
      expect(warned(when), JSON.stringify(when)).toEqual([`${ALLOCATION}/when`]);
    expect(warned(monthly, mean)).toEqual([]);
    expect(warned(monthly, sma(20))).toEqual([`${ALLOCATION}/weights/grossPercent`]);
  });

  it('has a case above for every code that needs no config', () => {
    const tested = new Set(CASES.map(({ code }) => code));
    const withConfig: readonly string[] = [
      ...CONFIG_ERROR_CODES,
      ...CONFIG_WARNING_CODES,
      ...PORTFOLIO_WARNING_CODES,
      ...TRADING_DAY_WARNING_CODES,
    ];
    const untested = ISSUE_CODES.filter((code) => !tested.has(code) && !withConfig.includes(code));
    // No indicator of the registry has a required argument; the test above makes one up.
    expect(untested).toEqual(['INDICATOR_ARG_REQUIRED']);
  });

  it('reports no issue for a valid strategy and a valid graph', () => {
    expect(checkStrategy(ast(strategy())).issues).toEqual([]);
    expect(checkStrategy({ settings: {}, signalGraph: graph() }).issues).toEqual([]);
  });

  it('finds all issues in one pass, errors before warnings', () => {
    const body = inGraph((g) => {
      delete g.protocol;
      g.nodes[1].indicator = 'sma_nope_nope';
      g.nodes[2].op = 'crossup';
      g.nodes[3].right = { ref: 'nowhere' };
      g.nodes.push({ id: 'x', kind: 'and', items: [{ ref: 'down' }] });
      g.strategy.risk = { stopLoss: { mode: 'percent', value: 0 } };
      g.strategy.entry.action.sizing.value = -1;
    });
    const { issues, summary } = checkStrategy({ ...body, settings: { warmup: 1 } });
    expect(issues.map(({ code }) => code)).toEqual([
      'MISSING_FIELD', 'UNKNOWN_OPERATOR', 'SIZING_INVALID', 'RISK_INVALID', 'UNKNOWN_FIELD', 'REF_NOT_FOUND',
      'UNKNOWN_INDICATOR', 'ALIAS_USED',
    ]); // prettier-ignore
    expect(summary).toEqual({ errors: 7, warnings: 1 });
  });

  it('tells to upgrade only where a larger tier would allow more', () => {
    const deep = triggered(
      Array.from({ length: 40 }).reduce<Json>((item) => ({ kind: 'not', item }), compare(rsi, 'lt', 30)),
    );
    const suggested = (depth: number) =>
      checkStrategy(deep, { limits: { ...TIER_LIMITS.pro, depth } }).issues.find(
        ({ code }) => code === 'PAYLOAD_TOO_DEEP',
      )!.suggestion;
    expect(suggested(TIER_LIMITS.plus.depth)).toBe('Simplify the strategy, or upgrade the plan.');
    expect(suggested(TIER_LIMITS.pro.depth)).toBe('Simplify the strategy.');
  });

  it('keeps a hundred issues and counts the rest', () => {
    const items = Array.from({ length: 150 }, () => ({ kind: 'rising', bars: -1, source: market() }));
    const { issues, issueCount, summary } = checkStrategy(triggered(any(...items)), {
      limits: { entryConditions: 1e3, exitConditions: 1, exits: 1, nodes: 1e3, depth: 32 },
    });
    expect(issues.length).toBe(100);
    expect(issueCount).toBe(150);
    expect(summary.errors).toBe(150);
  });
});
