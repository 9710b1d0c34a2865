// Reading text expressions: the expression that a text such as `rsi(14) < 30 and close > sma(200)` certainly means, or
// the reason why it has none, with the place in the text. docs/expressions.md has the rules.
import { TIMEFRAMES } from '../../bars/bars.ts';
import { SESSIONS, STATE_FIELDS, TIME_FIELDS } from '../../definitions/words.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import { expressionShapeOf, typeOfKind, type ExpressionType } from '../grammar/shapes.ts';
import { synonymIn } from '../hints/synonyms.ts';
import { shown } from '../issues/displayNames.ts';
import { nearestName } from '../issues/nearest.ts';
import { parseText, type Syntax } from './expressionGrammar.ts';
import { isFault, NODE, type Made, type TextContext, type TextFault } from './textMeaning.ts';
import { FUNCTIONS, type FunctionRule } from './expressionFunctions.ts';
import { columnMeant, fieldMeant } from './columns.ts';
import { indicatorCall, outputOf, plainIndicator } from './indicatorCalls.ts';

/** A grammar reads about 20 characters in a millisecond, and a hostile payload may hold thousands of texts. */
const MAX_TEXTS = 100;

/** The expression of a text, as it is written in a StrategyAst. */
export function readExpression(text: string, context: TextContext): Made | TextFault {
  const { known } = context;
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MAX_TEXTS) return { at: 0, message: `Of more than ${MAX_TEXTS} texts, no further one is read.` };
  const read = readNew(text, context);
  known.set(text, read);
  return read;
}

function readNew(text: string, context: TextContext): Made | TextFault {
  const tree = parseText(text);
  if (!('type' in tree)) return tree;
  try {
    return new Reader(context).read(tree);
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
}
export const isMade = (read: Made | TextFault): read is Made => !isFault(read);

/** Stops the reading of a text; never leaves this file. */
class Refusal extends Error {
  readonly fault: TextFault;
  constructor(fault: TextFault) {
    super(fault.message);
    this.fault = fault;
  }
}
const refuse = (at: number, message: string): never => {
  throw new Refusal({ at, message });
};

/** Objects that hold the bars, the functions or the fields on other platforms, and say nothing here. */
const OWNERS = new Set(
  (
    'df dataframe data self this candle candles bar bars ohlcv ta talib tulipy qtpylib pta math np strategy state ' +
    'position account time'
  ).split(' '),
);
const AHEAD = 'This looks ahead: it would read a price that is not yet known. Count bars back: [1] is the bar before.';

class Reader {
  readonly #context: TextContext;

  constructor(context: TextContext) {
    this.#context = context;
  }

  /** The part of a text as an expression of either type. */
  read(tree: Syntax): Made {
    switch (tree.type) {
      case 'number':
        return { kind: 'const', value: tree.value };
      case 'text':
        return refuse(tree.at, `${shown(tree.text)} is a text, which is not an expression.`);
      case 'param':
        return { kind: 'param', name: tree.name };
      case 'name':
        return this.#name(tree.name, tree.at);
      case 'call':
        return this.#call(tree);
      case 'member':
        return this.#member(tree);
      case 'column':
        return isOwner(tree.of)
          ? this.#name(tree.name, tree.at)
          : refuse(tree.at, 'A column needs its owner: df["close"].');
      case 'earlier':
        return earlier(this.#value(tree.of), tree.bars, tree.at);
      case 'place':
        return this.#placed(tree);
      case 'math':
        return { kind: 'math', op: tree.op, args: tree.args.map((arg) => this.#value(arg)) };
      case 'join':
        return { kind: tree.by, items: tree.items.map((item) => this.#condition(item)) };
      case 'not':
        return { kind: 'not', item: this.#condition(tree.item) };
      case 'compare':
        return this.#compared(tree);
      case 'cross': {
        const [left, right] = [this.#value(tree.left), this.#value(tree.right)];
        return { kind: 'cross', op: tree.op, left, right, ...(tree.within > 1 && { within: tree.within }) };
      }
      case 'between': {
        const [value, lower, upper] = [tree.value, tree.lower, tree.upper].map((one) => this.#value(one));
        return { kind: 'between', value, lower, upper };
      }
      case 'move':
        return { kind: tree.direction, source: this.#value(tree.of), bars: tree.bars };
      case 'if':
        return FUNCTIONS.if.make([this.#condition(tree.cond), this.#value(tree.met), this.#value(tree.unmet)], 'if')!;
      case 'window':
        return windowOf(tree);
    }
  }

  #of(type: ExpressionType, tree: Syntax): Made {
    const made = this.read(tree);
    if (typeOfKind(made.kind) === type || made.kind === NODE) return made;
    return type === 'value'
      ? refuse(tree.at, 'This must be a value, and it is a condition.')
      : refuse(tree.at, 'This must be a condition, and it is a value: compare it with something.');
  }
  #value(tree: Syntax): Made {
    return this.#of('value', tree);
  }
  #condition(tree: Syntax): Made {
    return this.#of('condition', tree);
  }

  /** A flag of the platform compared with true or false is the condition itself, or its opposite. */
  #compared({ op, left, right }: Syntax & { readonly type: 'compare' }): Made {
    const truth = right.type === 'name' ? /^(true|false)$/i.exec(right.name)?.[1].toLowerCase() : undefined;
    if (truth === undefined || (op !== 'eq' && op !== 'neq'))
      return { kind: 'compare', op, left: this.#value(left), right: this.#value(right) };
    const item = this.#condition(left);
    return (truth === 'true') === (op === 'eq') ? item : { kind: 'not', item };
  }

  #name(name: string, at: number): Made {
    if (this.#context.params.has(name)) return { kind: 'param', name };
    if (this.#context.nodes.has(name)) return { kind: NODE, ref: name };
    const lower = name.toLowerCase();
    const time = TIME_FIELDS.find((one) => one === lower);
    if (time !== undefined) return { kind: 'time', field: time };
    const column = columnMeant(name);
    if (column !== undefined) return { ...column };
    const field = fieldMeant(lower);
    if (field !== undefined) return { kind: field.kind, field: field.name };
    return plainIndicator(name) ?? patternOf(name) ?? refuse(at, this.#unknown(name));
  }

  #unknown(name: string): string {
    const nearest = nearestName(name, [...[...this.#context.params].map(String), ...STATE_FIELDS]);
    return `Unknown name ${shown(name)}.${nearest === undefined ? '' : ` Did you mean "${nearest.name}"?`}`;
  }

  #call({ name, args, at }: Syntax & { readonly type: 'call' }): Made {
    const lower = name.toLowerCase();
    const rule: FunctionRule | undefined = Object.hasOwn(FUNCTIONS, lower) ? FUNCTIONS[lower] : undefined;
    if (rule !== undefined) {
      if (args.some(({ name: given }) => given !== undefined))
        return refuse(at, `${name} takes its arguments in order.`);
      const isCount = args.length >= rule.least && args.length <= rule.takes.length;
      if (!isCount) return refuse(at, `${name} takes ${rule.form}.`);
      const made = rule.make(
        args.map(({ value }, place) => this.#argument(rule.takes[place], value)),
        lower,
      );
      return made ?? refuse(at, `${name} takes ${rule.form}.`);
    }
    if (lower === 'session' && args.length === 1) return this.#session(args[0].value);
    const pattern = args.length === 0 ? patternOf(name) : undefined;
    if (pattern !== undefined) return pattern;
    const found = indicatorCall(name, args, (tree) => this.#value(tree), this.#context);
    if (found === undefined) return refuse(at, `There is no function ${shown(name)}.`);
    return isFault(found) ? refuse(found.at, found.message) : found;
  }

  /** An argument of a function as its rule takes it. */
  #argument(takes: FunctionRule['takes'][number], tree: Syntax): unknown {
    if (takes === 'value') return this.#value(tree);
    if (takes === 'condition') return this.#condition(tree);
    if (tree.type === 'number') return tree.value;
    const made = this.read(tree);
    return made.kind === 'param' ? { param: made.name } : refuse(tree.at, 'This must be a number or a param.');
  }

  #session(tree: Syntax): Made {
    const name = tree.type === 'text' ? tree.text : tree.type === 'name' ? tree.name : '';
    if (SESSIONS.some((one) => one === name)) return { kind: 'session', name };
    return refuse(tree.at, `A session is one of ${SESSIONS.join(', ')}.`);
  }

  #member({ of, part, at }: Syntax & { readonly type: 'member' }): Made {
    // In Pine, a rise over 3 bars is above each of them, not above the one before on each.
    if (isOwner(of) && part.type === 'call' && /^(?:rising|falling)$/i.test(part.name))
      return refuse(part.at, 'Write "close rising for 3 bars", which is a rise on each of them, if that is meant.');
    if (isOwner(of)) return this.read(part);
    if (part.type === 'name') {
      const call = of.type === 'name' ? { ...of, type: 'call' as const, args: [] } : of;
      // `macd.signal`, `bbands(20, 2).lower`: the output of a call that may lack one.
      const made =
        call.type === 'call'
          ? indicatorCall(call.name, call.args, (tree) => this.#value(tree), this.#context, part.name)
          : undefined;
      const found = made ?? outputOf(this.#value(of), part.name);
      if (found === undefined) return refuse(part.at, `There is no output ${shown(part.name)} here.`);
      return isFault(found) ? refuse(found.at, found.message) : found;
    }
    if (part.type !== 'call') return refuse(at, 'This is not an output or a method.');
    const rolling = /^rolling$/i.test(part.name);
    if (rolling) return refuse(at, 'Write rolling_max(high, 20), rolling_min, rolling_avg or rolling_std.');
    const window = of.type === 'member' && of.part.type === 'call' && of.part.name === 'rolling' ? of : undefined;
    if (window !== undefined && window.part.type === 'call' && part.args.length === 0) {
      const name = PANDAS[part.name];
      if (name === undefined) return refuse(part.at, `There is no rolling ${shown(part.name)}.`);
      return this.#call({ ...part, name, args: [{ name: undefined, value: window.of }, ...window.part.args] });
    }
    return this.#call({ ...part, args: [{ name: undefined, value: of }, ...part.args] });
  }

  /** `close@1d`, `sma(200)@SPX@1d`. */
  #placed({ of, place, at }: Syntax & { readonly type: 'place' }): Made {
    const made = this.read(of);
    const fields = expressionShapeOf(made.kind)?.fields;
    const timeframe = TIMEFRAMES.find((one) => one === place);
    const member = timeframe === undefined ? 'instrument' : 'timeframe';
    if (fields?.has(member) !== true || made[member] !== undefined)
      return refuse(at, `This has no ${member}: write @ directly after a field, an indicator or a pattern.`);
    return { ...made, [member]: timeframe ?? { symbol: place } };
  }
}

/** Methods of a rolling window in pandas, and what they are here; its std divides by n - 1, and ours by n. */
const PANDAS: Readonly<Record<string, string>> = {
  max: 'rolling_max', min: 'rolling_min', mean: 'rolling_avg', sum: 'rolling_sum', median: 'rolling_median',
}; // prettier-ignore

const isOwner = (tree: Syntax): boolean =>
  (tree.type === 'name' && OWNERS.has(tree.name.toLowerCase())) ||
  (tree.type === 'member' && isOwner(tree.of) && isOwner(tree.part));

/** A value some bars ago: its own offset where it has one that is free, else a shift. */
function earlier(made: Made, bars: number, at: number): Made {
  if (bars < 0) return refuse(at, AHEAD);
  if (bars === 0) return made;
  const isFree = made.offset === undefined && expressionShapeOf(made.kind)?.fields.has('offset') === true;
  return isFree ? { ...made, offset: bars } : { kind: 'shift', source: made, offset: bars };
}

/** A candlestick pattern by name, with its side before it: `bullish_engulfing`. */
function patternOf(name: string): Made | undefined {
  const [, side, base] = /^(bullish|bearish)_(.+)$/i.exec(name) ?? [];
  const pattern = findPattern(name);
  if (pattern !== undefined) return { kind: 'pattern', name: pattern.id };
  const sided = base === undefined ? undefined : findPattern(base);
  return sided && { kind: 'pattern', name: sided.id, side: side.toLowerCase() };
}

function windowOf({ weekdays, hours, at }: Syntax & { readonly type: 'window' }): Made {
  const [from, to] = hours;
  if (weekdays.length === 0 && from === undefined) return refuse(at, 'Write "time in mon tue 09:30-16:00".');
  return {
    kind: 'time_window',
    ...(weekdays.length > 0 && { weekdays: weekdays.map((day) => synonymIn(day, [day]) ?? day) }),
    ...(from !== undefined && { between: { from, to } }),
  };
}
