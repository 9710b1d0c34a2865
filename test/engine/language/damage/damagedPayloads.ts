// Damaged payloads: strategies as authors with habits of other platforms write them, each with the strategy it means.
type Json = Record<string, unknown>;
export interface Damaged {
  readonly what: string;
  readonly body: Json;
  readonly meant: Json;
}

const close = { kind: 'market', field: 'close' };
const constant = (value: number): Json => ({ kind: 'const', value });
const call = (indicator: string, args: Json, more: Json = {}): Json => ({
  kind: 'indicator',
  indicator,
  args,
  ...more,
});
const rsi = call('rsi', { length: 14 });
const sma = call('sma', { length: 50 });
const compare = (left: Json, op: string, right: Json): Json => ({ kind: 'compare', op, left, right });
const oversold = compare(rsi, 'lt', constant(40));
const uptrend = compare(close, 'gt', sma);
const overbought = compare(rsi, 'gt', constant(60));
const half = { mode: 'percent_equity', value: 50 };

export const entryOf = (trigger: unknown, more: Json = {}): Json => ({
  kind: 'entry', trigger, action: { side: 'long', sizing: half }, ...more,
}); // prettier-ignore
const exitOf = (when: unknown): Json => ({ kind: 'exit', when });
const risk5 = { stopLoss: { mode: 'percent', value: 5 } };
const sections = (over: Json = {}): Json => ({
  kind: 'strategy', entry: entryOf(oversold, { filters: [uptrend] }), exits: [exitOf(overbought)], risk: risk5, ...over,
}); // prettier-ignore
const ast = (over: Json = {}): Json => ({ protocol: 'svc.strategy', version: 1, strategy: sections(over) });
const bodyOf = (over: Json = {}): Json => ({ settings: {}, strategyAst: ast(over) });
const GRAPH: Json = {
  protocol: 'svc.signal-graph',
  version: 2,
  nodes: [
    { id: 'close', ...close },
    { id: 'rsi', ...rsi },
    { id: 'sma', ...sma },
    { id: 'oversold', kind: 'compare', op: 'lt', left: { ref: 'rsi' }, right: { const: 40 } },
    { id: 'uptrend', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { ref: 'sma' } },
    { id: 'overbought', kind: 'compare', op: 'gt', left: { ref: 'rsi' }, right: { const: 60 } },
  ],
  strategy: {
    kind: 'strategy',
    entry: entryOf({ ref: 'oversold' }, { filters: [{ ref: 'uptrend' }] }),
    exits: [exitOf({ ref: 'overbought' })],
    risk: risk5,
  },
};
const graphOf = (over: Json = {}): Json => ({ settings: {}, signalGraph: { ...GRAPH, ...over } });
const withNodes = (change: (nodes: Json[]) => unknown): Json =>
  graphOf({ nodes: change(structuredClone(GRAPH.nodes) as Json[]) });
const triggered = (trigger: unknown): Json => bodyOf({ entry: entryOf(trigger) });
const acted = (action: unknown): Json => bodyOf({ entry: { ...entryOf(oversold), action } });
const whole = bodyOf();
const inTrigger = (trigger: unknown, meant: Json): [Json, Json] => [triggered(trigger), triggered(meant)];
const inAction = (action: unknown, meant: Json): [Json, Json] => [acted(action), acted(meant)];
const inSections = (over: Json, meant: Json): [Json, Json] => [bodyOf(over), bodyOf(meant)];
const sized = (sizing: unknown): Json => ({ side: 'long', sizing });
const hours = (between: unknown, more: Json = {}): Json => ({ kind: 'time_window', between, ...more });
const fixedHours = { kind: 'time_window', between: { from: '09:30', to: '16:00' } };
const weekdays = (days: unknown): Json => ({ kind: 'time_window', weekdays: days });
const highest = (offset?: number): Json => ({
  kind: 'rolling', op: 'max', source: { kind: 'market', field: 'high' }, period: 20, ...(offset && { offset }),
}); // prettier-ignore

const CASES: readonly [what: string, pair: readonly [body: Json, meant: Json]][] = [
  // The request.
  ['no settings', [{ strategyAst: ast() }, whole]],
  ['settings of null', [{ settings: null, strategyAst: ast() }, whole]],
  ['signal_graph', [{ settings: {}, signal_graph: GRAPH }, whole]],
  ['strategy_ast without settings', [{ strategy_ast: ast() }, whole]],
  ['the payload as a JSON text', [{ settings: {}, strategyAst: JSON.stringify(ast()) }, whole]],
  ['the payload as the body', [{ ...ast() }, whole]],
  ['the graph as the body', [{ ...GRAPH, settings: {} }, whole]],
  ['the sections as the body', [{ ...sections() }, whole]],
  ['the strategy under its own name', [{ settings: {}, strategy: sections() }, whole]],
  [
    'settings inside the payload',
    [{ strategyAst: { ...ast(), settings: { warmupPeriod: 60 } } }, { ...whole, settings: { warmupPeriod: 60 } }],
  ],
  [
    'settings in snake case',
    [
      { ...whole, settings: { max_concurrent_positions: 1, warmup_period: 60 } },
      { ...whole, settings: { maxConcurrentPositions: 1, warmupPeriod: 60 } },
    ],
  ],
  [
    'settings as texts',
    [
      { ...whole, settings: { warmupPeriod: '60' } },
      { ...whole, settings: { warmupPeriod: 60 } },
    ],
  ],
  // The envelope.
  ['no protocol and no version', [{ settings: {}, strategyAst: { strategy: sections() } }, whole]],
  ['a version as text', [{ settings: {}, strategyAst: { ...ast(), version: '1.0' } }, whole]],
  ['the sections without their envelope', [{ settings: {}, strategyAst: sections() }, whole]],
  ['a name inside the strategy', inSections({ name: 'RSI dip' }, {})],
  [
    'a comment inside an entry',
    inSections({ entry: { ...entryOf(oversold), comment: 'buy the dip' } }, { entry: entryOf(oversold) }),
  ],
  ['symbol and timeframe beside the entry', inSections({ symbol: 'LAW', timeframe: '1h' }, {})],
  // Conditions.
  ['a list of conditions', inTrigger([oversold, uptrend], { kind: 'all', items: [oversold, uptrend] })],
  ['a text', inTrigger('rsi(14) < 40 and close > sma(50)', { kind: 'all', items: [oversold, uptrend] })],
  ['a list of texts', inTrigger(['rsi(14) < 40', 'close > sma(50)'], { kind: 'all', items: [oversold, uptrend] })],
  ['AND as a key', inTrigger({ AND: [oversold, uptrend] }, { kind: 'all', items: [oversold, uptrend] })],
  ['all as a key', inTrigger({ all: [oversold, uptrend] }, { kind: 'all', items: [oversold, uptrend] })],
  [
    'type and operands',
    inTrigger({ type: 'and', conditions: [oversold, uptrend] }, { kind: 'all', items: [oversold, uptrend] }),
  ],
  ['a flat condition', inTrigger({ indicator: 'rsi', length: 14, operator: '<', value: 40 }, oversold)],
  [
    'a flat condition with params',
    inTrigger({ indicator: 'RSI', params: { period: 14 }, op: 'below', threshold: 40 }, oversold),
  ],
  ['lhs, operator and rhs as texts', inTrigger({ lhs: 'close', operator: '>', rhs: 'sma(50)' }, uptrend)],
  ['a triple', inTrigger(['rsi(14)', '<', 40], oversold)],
  ['symbols for operators', inTrigger({ ...oversold, op: '<' }, oversold)],
  [
    'crosses above in a comparison',
    inTrigger({ ...uptrend, op: 'crosses above' }, { ...uptrend, kind: 'cross', op: 'cross_up' }),
  ],
  [
    'crossover as a kind',
    inTrigger({ kind: 'crossover', left: 'close', right: sma }, { ...uptrend, kind: 'cross', op: 'cross_up' }),
  ],
  ['Pine', inTrigger('ta.crossover(close, ta.sma(close, 50))', { ...uptrend, kind: 'cross', op: 'cross_up' })],
  [
    'freqtrade',
    inTrigger("(dataframe['rsi'] < 40) & (dataframe['close'] > dataframe['sma_50'])", {
      kind: 'all',
      items: [oversold, uptrend],
    }),
  ],
  ['close[1]', inTrigger({ ...uptrend, left: 'close[1]' }, { ...uptrend, left: { ...close, offset: 1 } })],
  ['sma(50)[2]', inTrigger({ ...uptrend, right: 'sma(50)[2]' }, { ...uptrend, right: { ...sma, offset: 2 } })],
  ['a bare number', inTrigger({ ...oversold, right: 40 }, oversold)],
  ['a number as text', inTrigger({ ...oversold, right: '40' }, oversold)],
  ['a value without its kind', inTrigger({ ...oversold, right: { value: 40 } }, oversold)],
  ['a field without its kind', inTrigger({ ...uptrend, left: { field: 'close' } }, uptrend)],
  [
    'an indicator without its kind',
    inTrigger({ ...oversold, left: { indicator: 'rsi', args: { length: 14 } } }, oversold),
  ],
  ['an indicator as the kind', inTrigger({ ...oversold, left: { kind: 'rsi', period: 14 } }, oversold)],
  [
    'type for kind everywhere',
    inTrigger(
      {
        type: 'compare',
        op: 'lt',
        left: { type: 'indicator', indicator: 'rsi', args: { length: 14 } },
        right: { type: 'const', value: 40 },
      },
      oversold,
    ),
  ],
  ['period for length', inTrigger({ ...oversold, left: call('rsi', { period: 14 }) }, oversold)],
  ['lengths as text', inTrigger({ ...oversold, left: call('RSI', { timeperiod: '14' }) }, oversold)],
  [
    'a list of arguments',
    inTrigger({ ...oversold, left: { kind: 'indicator', indicator: 'rsi', args: [14] } }, oversold),
  ],
  ['the name with its length', inTrigger({ ...uptrend, right: { kind: 'indicator', indicator: 'SMA_50' } }, uptrend)],
  [
    'name for indicator',
    inTrigger({ ...oversold, left: { kind: 'indicator', name: 'rsi', args: { length: 14 } } }, oversold),
  ],
  [
    'a band as text',
    inTrigger(
      { ...uptrend, right: 'bbands(20, 2).lower' },
      { ...uptrend, right: call('bbands', { length: 20, multiplier: 2 }, { output: 'lower' }) },
    ),
  ],
  [
    'an output in the name',
    inTrigger({ ...uptrend, right: 'bb_lowerband' }, { ...uptrend, right: call('bbands', {}, { output: 'lower' }) }),
  ],
  [
    'a parent output',
    inTrigger(
      { ...uptrend, right: { kind: 'indicator', indicator: 'bbands.lower', args: { length: 20 } } },
      { ...uptrend, right: call('bbands', { length: 20 }, { output: 'lower' }) },
    ),
  ],
  [
    'arithmetic as text',
    inTrigger(
      { ...uptrend, right: 'sma(50) * 1.01' },
      { ...uptrend, right: { kind: 'math', op: 'mul', args: [sma, constant(1.01)] } },
    ),
  ],
  [
    'a sign as the operation',
    inTrigger(
      { ...uptrend, right: { kind: 'math', op: '*', left: sma, right: 1.01 } },
      { ...uptrend, right: { kind: 'math', op: 'mul', args: [sma, constant(1.01)] } },
    ),
  ],
  ['highest of today', inTrigger({ ...uptrend, right: highest() }, { ...uptrend, right: highest(1) })],
  ['highest as a call', inTrigger('close > highest(high, 20)', { ...uptrend, right: highest(1) })],
  ['not as text', inTrigger('not (rsi(14) > 60)', { kind: 'not', item: overbought })],
  ['a pattern as text', inTrigger('bullish_engulfing', { kind: 'pattern', name: 'engulfing', side: 'bullish' })],
  // Times.
  ['whole weekdays', inTrigger(weekdays(['Monday', 'Friday']), weekdays(['mon', 'fri']))],
  ['weekdays as text', inTrigger(weekdays('Mon, Tue, Wed'), weekdays(['mon', 'tue', 'wed']))],
  ['a range of weekdays', inTrigger(weekdays('mon-fri'), weekdays(['mon', 'tue', 'wed', 'thu', 'fri']))],
  ['9:30', inTrigger(hours({ from: '9:30', to: '16:00' }), fixedHours)],
  ['start and end', inTrigger(hours({ start: '9:30', end: '16:00' }), fixedHours)],
  ['hours as text', inTrigger(hours('09:30-16:00'), fixedHours)],
  ['hours as a list', inTrigger(hours(['09:30', '16:00']), fixedHours)],
  ['seconds and a pm', inTrigger(hours({ from: '09:30:00', to: '4:00 PM' }), fixedHours)],
  // Actions.
  ['sizing: 50', inAction(sized(50), sized(half))],
  ['sizing: "50%"', inAction(sized('50%'), sized(half))],
  ['size with a type', inAction({ side: 'LONG', size: { type: 'percent', value: '50' } }, sized(half))],
  ['percent as a member', inAction(sized({ percent: 50 }), sized(half))],
  [
    'direction and sizing beside the trigger',
    [
      bodyOf({ entry: { kind: 'entry', trigger: oversold, direction: 'long', sizing: 50 } }),
      bodyOf({ entry: entryOf(oversold) }),
    ],
  ],
  [
    'side and size of the strategy',
    [
      bodyOf({ entry: { kind: 'entry', trigger: oversold }, side: 'long', sizing: half }),
      bodyOf({ entry: entryOf(oversold) }),
    ],
  ],
  [
    'a condition in conditions',
    [
      bodyOf({ entry: { conditions: [oversold, uptrend], side: 'buy', size_pct: 50 } }),
      bodyOf({ entry: entryOf({ kind: 'all', items: [oversold, uptrend] }) }),
    ],
  ],
  // Exits and risk.
  ['exit as a condition', inSections({ exits: undefined, exit: overbought }, {})],
  ['exits as conditions', inSections({ exits: [overbought] }, {})],
  ['an exit as text', inSections({ exits: undefined, exit: 'rsi(14) > 60' }, {})],
  ['exits as an object with a text', inSections({ exits: { condition: 'rsi > 60' } }, {})],
  ['stop_loss: 5', inSections({ risk: { stop_loss: 5 } }, {})],
  ['stopLoss: 5 beside the entry', inSections({ risk: undefined, stopLoss: 5 }, {})],
  ['a stop with a type', inSections({ risk: { stopLoss: { type: 'pct', value: 5 } } }, {})],
  ['stop_loss_pct', inSections({ risk: { stop_loss_pct: 5 } }, {})],
  [
    'takeProfit as an object',
    inSections(
      { risk: { ...risk5, takeProfit: { percent: 4 } } },
      { risk: { ...risk5, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] } },
    ),
  ],
  [
    'takeProfit: 4',
    inSections(
      { risk: { ...risk5, takeProfit: 4 } },
      { risk: { ...risk5, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] } },
    ),
  ],
  [
    'trailing_stop: 3',
    inSections({ risk: { ...risk5, trailing_stop: 3 } }, { risk: { ...risk5, trailingStop: { distancePercent: 3 } } }),
  ],
  [
    'a time stop of bars',
    inSections({ risk: { ...risk5, max_bars: 9 } }, { risk: { ...risk5, timeStop: { maxBars: 9 } } }),
  ],
  // Graphs.
  ['type in nodes', [withNodes((nodes) => nodes.map(({ kind, ...node }) => ({ ...node, type: kind }))), whole]],
  [
    'nodes as a map',
    [withNodes((nodes) => Object.fromEntries(nodes.map(({ id, ...node }) => [String(id), node]))), whole],
  ],
  [
    'references as texts',
    [
      withNodes((nodes) =>
        nodes.map((node) => (node.id === 'uptrend' ? { ...node, left: 'close', right: 'sma' } : node)),
      ),
      whole,
    ],
  ],
  [
    'an expression in a graph',
    [
      withNodes((nodes) => nodes.map((node) => (node.id === 'uptrend' ? { ...node, left: close, right: sma } : node))),
      whole,
    ],
  ],
  [
    'a text in a graph',
    [
      graphOf({ strategy: { ...(GRAPH.strategy as Json), entry: entryOf('rsi(14) < 40 and close > sma(50)') } }),
      bodyOf({ entry: entryOf({ kind: 'all', items: [oversold, uptrend] }) }),
    ],
  ],
  [
    'no version and no protocol',
    [{ settings: {}, signalGraph: { nodes: GRAPH.nodes, strategy: GRAPH.strategy } }, whole],
  ],
  [
    'an operand as a node name with $',
    [
      withNodes((nodes) =>
        nodes.map((node) => (node.id === 'uptrend' ? { ...node, left: '$close', right: '@sma' } : node)),
      ),
      whole,
    ],
  ],
];

export const DAMAGED: readonly Damaged[] = CASES.map(([what, [body, meant]]) => ({
  what,
  // As JSON, in which an undefined member is none.
  body: JSON.parse(JSON.stringify(body)) as Json,
  meant: JSON.parse(JSON.stringify(meant)) as Json,
}));
