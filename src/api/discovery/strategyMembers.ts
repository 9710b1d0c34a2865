// Strategy members: one line for each member of a strategy, by its path, for authors.

/** Paths as in capabilities; `<mode>` marks what only one variant has. */
export const STRATEGY_MEMBERS: Readonly<Record<string, string>> = {
  'strategy.defaults': 'What the author had in mind. The config of a backtest wins over instrument and timeframe.',
  'strategy.defaults.instrument.symbol': 'A symbol of GET /public/v1/market-data.',
  'strategy.defaults.timeframe': 'The timeframe that the lookback is checked on.',
  'strategy.defaults.timezone': 'IANA name for `time` and `time_window`. Default UTC.',
  'strategy.defaults.warmupBars': 'Bars before the first signal. `settings.warmupPeriod` wins; absent: inferred.',
  'strategy.defaults.maxConcurrentPositions': 'Open positions plus pending orders. `settings` wins; default 1.',
  'strategy.params[]': 'A value that a backtest (`config.params`) or a sweep may set.',
  'strategy.params[].name': 'Referred to by `{"param": "<name>"}`.',
  'strategy.params[].type': 'Type of the value; `choice` takes one of `values`.',
  'strategy.params[].default': 'Used when the config sets nothing.',
  'strategy.params[].min': 'Smallest value allowed.',
  'strategy.params[].max': 'Largest value allowed.',
  'strategy.params[].step': 'Distance between values of a sweep.',
  'strategy.params[].values[]': 'The choices of a `choice`.',
  'strategy.params[].log': 'Sweeps sample on a logarithmic scale.',
  'strategy.entry':
    'One entry rule or a list. The first that signals and is not blocked makes the one order of a close.',
  'strategy.entry.setup':
    'Must be true, like `trigger` and `filters`; the funnel counts it first. Use it for the state of the market.',
  'strategy.entry.trigger': 'The event that enters. It signals on every bar on which all of the entry is true.',
  'strategy.entry.filters[]': 'Must all be true; each has its own count in the funnel, in this order.',
  'strategy.entry.cooldownBars': 'Bars without a signal after the last full exit.',
  'strategy.entry.conflict':
    'While the other side is open: `ignore` drops the signal, `close` only closes, `reverse` closes and opens.',
  'strategy.entry.action.side': 'Long and short are never open together.',
  'strategy.entry.action.sizing': 'An order that cannot be paid is rejected and counted, never made smaller.',
  'strategy.entry.action.sizing<fixed>.value': 'Units of the instrument.',
  'strategy.entry.action.sizing<fixed_cash>.value': 'Quote currency per position.',
  'strategy.entry.action.sizing<percent_equity>.value': 'Percent of equity: 95 is 95 %, 0.95 is 0.95 %.',
  'strategy.entry.action.sizing<percent_balance>.value':
    'Percent of free cash, unrealized profit left out: 95 is 95 %.',
  'strategy.entry.action.sizing<risk_percent>.value':
    'Percent of equity lost at the stop: 1 is 1 %. Needs a stop loss.',
  'strategy.entry.action.sizing<volatility_target>.value':
    'Volatility of the position per year, in percent: 20 is 20 %.',
  'strategy.entry.action.sizing<volatility_target>.atrPeriod': 'Bars of the ATR it measures with.',
  'strategy.entry.action.order':
    'Default `market`: the next open. A new signal of the rule replaces its pending limit or stop order.',
  'strategy.entry.action.order<limit>.price': 'Read at the signal. Fills at this price or better.',
  'strategy.entry.action.order<limit>.expireBars': 'Bars after the signal on which it may fill.',
  'strategy.entry.action.order<stop>.price': 'Read at the signal. Fills at this price or worse.',
  'strategy.entry.action.order<stop>.expireBars': 'Bars after the signal on which it may fill.',
  'strategy.exits[]': 'Each true exit closes by its action at the next open.',
  'strategy.exits[].when': 'The condition that exits.',
  'strategy.exits[].appliesTo': 'The side it closes. Default `any`.',
  'strategy.exits[].priority': 'Lower goes first when several are true on one bar.',
  'strategy.exits[].reason': 'A label; it changes nothing.',
  'strategy.exits[].action': 'Default: all of the position.',
  'strategy.exits[].action<percent_position>.value':
    'Percent of what is left: 100 is all. A partial exit fires once per position.',
  'strategy.exits[].action<fixed>.value': 'Units; at most what is left.',
  'strategy.risk':
    'Levels live from the fill on. Of stop, break-even and trailing stop the tightest is in force; it never moves ' +
    'back.',
  'strategy.risk.stopLoss<percent>.value': 'Percent from the entry: 5 is 5 %.',
  'strategy.risk.stopLoss<atr>.period': 'Bars of the ATR, read at the signal.',
  'strategy.risk.stopLoss<atr>.multiplier': 'ATRs from the entry.',
  'strategy.risk.stopLoss<price>.value': 'A value expression: the stop price.',
  'strategy.risk.stopLoss<price>.update':
    '`entry`: read once, at the signal. `bar`: read at every close, moves only in favor of the position.',
  'strategy.risk.stopLoss<fixed>.value': 'Distance in quote currency.',
  'strategy.risk.takeProfits[]': 'Steps of a ladder, nearest first. Exactly one trigger each.',
  'strategy.risk.takeProfits[].triggerPercent': 'Percent from the entry: 4 is 4 %.',
  'strategy.risk.takeProfits[].triggerR': 'Multiples of the distance to the initial stop. Needs a stop loss.',
  'strategy.risk.takeProfits[].triggerAtr.period': 'Bars of the ATR, read at the signal.',
  'strategy.risk.takeProfits[].triggerAtr.multiplier': 'ATRs from the entry.',
  'strategy.risk.takeProfits[].triggerPrice': 'A value expression, read at the signal.',
  'strategy.risk.takeProfits[].closePercent': 'Percent of the position that the step closes: 50 is half.',
  'strategy.risk.takeProfits[].closeBasis': 'Percent of the `initial` position (default) or of what is `remaining`.',
  'strategy.risk.takeProfits[].moveStopToBreakeven': 'After the step, the stop moves to the entry price.',
  'strategy.risk.trailingStop': 'Follows the best price since the fill. Exactly one distance.',
  'strategy.risk.trailingStop.distancePercent': 'Percent below the best price (above it for a short).',
  'strategy.risk.trailingStop.distanceAtr.period': 'Bars of the ATR, read at the signal.',
  'strategy.risk.trailingStop.distanceAtr.multiplier': 'ATRs from the best price.',
  'strategy.risk.trailingStop.activateAfterPercent': 'Percent of gain before it starts.',
  'strategy.risk.breakeven.activateAfterPercent': 'Percent of gain after which the stop moves to the entry price.',
  'strategy.risk.breakeven.offsetPercent': 'Percent beyond the entry price, for instance to cover costs.',
  'strategy.risk.timeStop.maxBars': 'Bars after which the position is closed at the market.',
};
