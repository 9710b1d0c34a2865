// Strategy members: one line for each member of a strategy, by its path, for authors.
import {
  DISTANCE_LEVELS,
  EXIT_SIZES,
  SIZING_MODES,
  STOP_LEVELS,
  TRIGGER_LEVELS,
  WEIGHT_MODES,
} from '../../engine/index.ts';

/** Paths as in capabilities; `<mode>` marks what only one variant has. */
export const STRATEGY_MEMBERS: Readonly<Record<string, string>> = {
  'strategy.defaults': 'The config of a backtest wins.',
  'strategy.defaults.instrument.symbol': 'A symbol of GET /public/v1/market-data.',
  'strategy.defaults.timeframe': 'The lookback is checked on it.',
  'strategy.defaults.timezone': 'IANA name for `time` and `time_window`. Default UTC.',
  'strategy.defaults.warmupBars': 'Bars before the first signal. `settings.warmupPeriod` wins; absent: inferred.',
  'strategy.defaults.maxConcurrentPositions': 'Open positions plus pending orders. `settings` wins; default 1.',
  'strategy.params[]': 'Values that `config.params` or a sweep may set.',
  'strategy.params[].name': 'Referred to by `{"param": "<name>"}`.',
  'strategy.params[].type': '`choice` takes one of `values`.',
  'strategy.params[].default': 'Where the config sets none.',
  'strategy.params[].min': 'Smallest.',
  'strategy.params[].max': 'Largest.',
  'strategy.params[].step': 'Of a sweep.',
  'strategy.params[].values[]': 'The choices of a `choice`.',
  'strategy.params[].log': 'Sweeps sample by logarithm.',
  'strategy.entry':
    'One entry rule or a list. The first that signals and is not blocked makes the one order of a close.',
  'strategy.entry.setup': 'The state of the market; must be true too.',
  'strategy.entry.trigger': 'The event. The entry signals on every bar on which all of it is true.',
  'strategy.entry.filters[]': 'Must all be true; the funnel counts each.',
  'strategy.entry.cooldownBars': 'Bars without a signal after the last full exit.',
  'strategy.entry.conflict':
    'While the other side is open: `ignore` drops the signal, `close` only closes, `reverse` closes and opens.',
  'strategy.entry.rank': 'Where a portfolio has too few slots, the largest get in. One scale for all rules.',
  'strategy.entry.action.side': 'Long and short are never open together.',
  'strategy.entry.action.sizing':
    'An order that cannot be paid is rejected, never made smaller, except by `equal_slots` (equity / slots).',
  ...variantTexts('strategy.entry.action.sizing', SIZING_MODES),
  'strategy.entry.action.order':
    'Default `market`: the next open. A new signal of the rule replaces its pending limit or stop order.',
  'strategy.entry.action.order<limit>.price': 'Read at the signal. Fills at this price or better.',
  'strategy.entry.action.order<limit>.expireBars': 'Bars after the signal on which it may fill.',
  'strategy.entry.action.order<stop>.price': 'Read at the signal. Fills at this price or worse.',
  'strategy.entry.action.order<stop>.expireBars': 'Bars after the signal on which it may fill.',
  'strategy.exits[]': 'Each true exit closes by its action at the next open.',
  'strategy.exits[].when': 'The condition that exits.',
  'strategy.exits[].appliesTo': 'The side it closes. Default `any`.',
  'strategy.exits[].priority': 'Lower goes first.',
  'strategy.exits[].reason': 'A label; it changes nothing.',
  'strategy.exits[].action': 'Default: all of the position.',
  ...variantTexts('strategy.exits[].action', EXIT_SIZES),
  'strategy.allocation':
    'In place of `entry` and `exits`: what to hold of `config.instruments`, with market orders at each next open.',
  'strategy.allocation.when': 'When to rebalance; the same for all instruments.',
  ...legTexts('long', 'top', 'largest'),
  ...legTexts('short', 'bottom', 'smallest'),
  'strategy.allocation.weights': 'Default `equal`.',
  ...variantTexts(
    'strategy.allocation.weights',
    WEIGHT_MODES.flatMap(({ mode, reads, text }) => (reads === null ? [] : [{ mode, texts: { [reads]: text } }])),
  ),
  'strategy.allocation.weights.maxPercent': 'The largest weight, in percent of equity; the excess goes to the others.',
  'strategy.allocation.weights.grossPercent': 'Percent of equity to share out: a number or a value. Default 100.',
  'strategy.allocation.fallback': 'A symbol of instruments, not ranked: takes empty places; absent: cash.',
  'strategy.allocation.bandPercent': 'Trades only if a weight is off by more than this percent of equity.',
  'strategy.risk':
    'Levels live from the fill on. Of stop, break-even and trailing stop the tightest is in force; it never moves ' +
    'back.',
  ...variantTexts(
    'strategy.risk.stopLoss',
    STOP_LEVELS.map(({ mode, stop: { texts } }) => ({ mode, texts })),
  ),
  'strategy.risk.takeProfits[]': 'Steps of a ladder, nearest first. Exactly one trigger each.',
  ...memberTexts(
    'strategy.risk.takeProfits[]',
    TRIGGER_LEVELS.map(({ trigger }) => trigger),
  ),
  'strategy.risk.takeProfits[].closePercent': 'Percent of the position that the step closes: 50 is half.',
  'strategy.risk.takeProfits[].closeBasis': 'Percent of the `initial` position (default) or of what is `remaining`.',
  'strategy.risk.takeProfits[].moveStopToBreakeven': 'After the step, the stop moves to the entry price.',
  'strategy.risk.trailingStop': 'Follows the best price since the fill. Exactly one distance.',
  ...memberTexts(
    'strategy.risk.trailingStop',
    DISTANCE_LEVELS.map(({ distance }) => distance),
  ),
  'strategy.risk.trailingStop.activateAfterPercent': 'Percent of gain before it starts.',
  'strategy.risk.breakeven.activateAfterPercent': 'Percent of gain after which the stop moves to the entry price.',
  'strategy.risk.breakeven.offsetPercent': 'Percent beyond the entry price, for instance to cover costs.',
  'strategy.risk.timeStop.maxBars': 'Bars after which the position is closed at the market.',
};

/** The lines of a leg of an allocation. */
function legTexts(side: string, count: string, extreme: string): Record<string, string> {
  const path = `strategy.allocation.${side}`;
  return {
    [`${path}.by`]: `The ${extreme} are held.`,
    [`${path}.${count}`]: 'How many; absent: all.',
    [`${path}.${count}Percent`]: 'How many, in percent of all; at least 1.',
    [`${path}.where`]: 'Asked before ranking.',
    [`${path}.require`]: 'Asked after ranking: a place that fails it stays empty.',
    [`${path}.keepWithin`]: 'A holding stays while it ranks within so many.',
  };
}

type Texts = Readonly<Record<string, string>>;

/** The lines of definitions that are one member of a section each, or the members of an object. */
function memberTexts(
  path: string,
  definitions: readonly { readonly member: string; readonly texts: string | Texts }[],
) {
  const lines: Record<string, string> = {};
  for (const { member, texts } of definitions) {
    if (typeof texts === 'string') lines[`${path}.${member}`] = texts;
    else for (const [name, text] of Object.entries(texts)) lines[`${path}.${member}.${name}`] = text;
  }
  return lines;
}

/** The lines of definitions that are one variant of a section each. */
function variantTexts(path: string, definitions: readonly { readonly mode: string; readonly texts: Texts }[]) {
  const lines: Record<string, string> = {};
  for (const { mode, texts } of definitions)
    for (const [member, text] of Object.entries(texts)) lines[`${path}<${mode}>.${member}`] = text;
  return lines;
}
