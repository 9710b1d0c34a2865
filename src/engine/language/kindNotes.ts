// Notes: one line on what each kind of expression means, for capabilities (exact rules in the semantics of the engine).

export const KIND_NOTES: Readonly<Record<string, string>> = {
  const: 'A number.',
  market: 'A field of the bar; `offset` bars of its own timeframe ago.',
  indicator: 'One output of a registry indicator, on bars or on any value expression.',
  state: 'Position or account state before this bar’s orders.',
  rolling: 'An aggregate of the last `period` present values of its source.',
  math: 'Arithmetic; what has no finite value is missing.',
  shift: 'The source `offset` base bars ago.',
  param: 'A declared parameter as a value.',
  if: 'then where cond is true, else where it is false, missing where it is unknown.',
  bars_since: 'Bars since the condition was last true: 0 on the bar, missing before the first.',
  value_when: 'The value where the condition was true; occurrence 0 is the latest.',
  series: 'A column imported beside the bars.',
  capture: 'The value at the latest change of the condition from not true to true.',
  pivot: 'A swing high or low, known `right` bars after it.',
  time: 'A field of the bar’s open time in the strategy’s time zone.',
  compare: 'Compares two values; unknown where one is missing.',
  cross: 'left crosses right on this bar, or on one of the last `within`.',
  between: 'lower <= value <= upper.',
  near: 'The two values differ by at most `tolerance`.',
  rising: 'The source rose strictly, `bars` times in a row.',
  falling: 'The source fell strictly, `bars` times in a row.',
  pattern: 'A candlestick pattern, of that side, on one of the last `within` bars.',
  all: 'Every item is true.',
  and: 'Another name of all.',
  any: 'Some item is true.',
  or: 'Another name of any.',
  not: 'The item is false; unknown stays unknown.',
  time_window: 'The bar opens on those weekdays and dates, between those times of day.',
  session: 'The bar opens within that market session.',
  sequence: 'The steps were met one after the other, the last one now.',
  rolling_window: 'How often the condition was true in the last `window` bars.',
  state_machine: 'On from the bar that sets it, off on the bar that resets it or after ttlBars.',
};

/** Members that are required where another member of the node has one of some values. */
export const REQUIRED_WHEN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'rolling.quantile': { op: ['quantile'] },
  'rolling_window.value': { mode: ['count_gt', 'count_lt', 'count_eq'] },
};

/** What a member's schema does not say of it, by its name. */
export const MEMBER_NOTES: Readonly<
  Record<string, { readonly format?: string; readonly examples?: readonly string[]; readonly atMostField?: string }>
> = {
  timezone: { format: 'iana-time-zone', examples: ['UTC', 'America/New_York', 'Europe/London', 'Asia/Tokyo'] },
  minBars: { atMostField: 'maxBars' },
};

/** What the sections ask for beyond their fields. */
export const MEMBER_RULES = [
  { path: 'strategy.risk.takeProfits[]', exactlyOneOf: ['triggerPercent', 'triggerR', 'triggerAtr', 'triggerPrice'] },
  { path: 'strategy.risk.trailingStop', exactlyOneOf: ['distancePercent', 'distanceAtr'] },
  { path: 'strategy.risk.takeProfits[].triggerR', needs: 'strategy.risk.stopLoss' },
  { path: 'strategy.entry.action.sizing', when: { mode: ['risk_percent'] }, needs: 'strategy.risk.stopLoss' },
  { path: 'strategy.risk.takeProfits[].closePercent', when: { closeBasis: ['initial'] }, sumAtMost: 100 },
  { path: 'strategy.risk.stopLoss.value', when: { mode: ['percent'] }, below: 100 },
] as const;
