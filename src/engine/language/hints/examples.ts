// Examples: advice that shows how to write a member, where its type says too little.
import type { ExpressionType, Shape } from '../grammar/shapes.ts';
import { expected } from '../issues/displayNames.ts';

/** Examples of members whose types say too little. */
const EXAMPLES: Readonly<Record<string, string>> = {
  action: '{"side": "long", "sizing": {"mode": "percent_equity", "value": 100}}',
  sizing: '{"mode": "fixed", "value": 10} for 10 units, or {"mode": "percent_equity", "value": 10} for 10 % of equity',
  order: '{"type": "market"}',
  stopLoss: '{"mode": "percent", "value": 2} for 2 %',
  takeProfits: '[{"triggerPercent": 4, "closePercent": 100}] for 4 %',
  trailingStop: '{"distancePercent": 3} for 3 %',
  breakeven: '{"activateAfterPercent": 2} for 2 %',
  args: '[{"kind": "market", "field": "close"}, {"kind": "const", "value": 2}]',
  between: '{"from": "09:30", "to": "16:00"}',
  symbol: '"SPX"',
  closePercent: '100 for all of the position',
};
/** Advice on objects that are not objects. */
export const OBJECT_ADVICE: Readonly<Record<string, string>> = {
  args: 'Give an object, such as {"length": 20}.',
  entry: 'Give an object with kind, trigger and action; the trigger is a condition, such as a compare or cross.',
  exits: 'Give an object, such as {"kind": "exit", "when": …}, with a condition, such as a compare or cross.',
  takeProfits: 'Give an object, such as {"triggerPercent": 4, "closePercent": 100} for 4 %.',
  nodes: 'Give an object, such as {"id": "fast", "kind": "indicator", "indicator": "sma", "args": {"length": 50}}.',
  params: 'Give an object, such as {"name": "length", "type": "int", "default": 14}.',
  steps: 'Give an object, such as {"expr": …}, with a condition in it.',
  exit: 'Write it as "exits", which takes a list.',
};
/** A condition that is true on every bar, for strategies that buy and hold. */
export const ALWAYS_TRUE =
  'For every bar, compare what always holds: {"kind": "compare", "op": "gt", "left": {"kind": "market", "field": ' +
  '"close"}, "right": {"kind": "const", "value": 0}}.';
/** Advice on a value that is not an expression. */
export function expressionAdvice(of: ExpressionType, value: unknown): string {
  if (of === 'value')
    return 'Give an object, such as {"kind": "indicator", "indicator": "sma", "args": {"length": 20}}.';
  if (value === true || value === 'true') return ALWAYS_TRUE;
  return Array.isArray(value)
    ? 'Join several conditions with the kind `all` or `any`.'
    : 'Give an object with a kind, such as compare or cross.';
}

/** The action of an exit, which has the name of an entry's. */
const EXIT_ACTION = '{"mode": "percent_position", "value": 50} for half; without an action, an exit closes all';

/** Advice on what to give for a member, with an example where there is one. The args of calls are not a list. */
export function adviceFor(name: string, shape: Shape): string | undefined {
  if (!Object.hasOwn(EXAMPLES, name) || shape.type === 'record') return undefined;
  const example = name === 'action' && shape.type === 'kinds' ? EXIT_ACTION : EXAMPLES[name];
  return `Give ${shape.type === 'either' ? 'a number' : expected(shape)}, such as ${example}.`;
}

/** Advice on some missing members whose type says too little. */
export const MISSING_ADVICE: Readonly<Record<string, string>> = {
  indicator: 'Give a name, such as "sma"; the `indicators` of GET /public/v1/authoring-pack are all of them.',
};
