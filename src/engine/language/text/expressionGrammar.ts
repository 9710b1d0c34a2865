// The grammar of text expressions, such as `rsi(14) < 30 and close > sma(200)`, and the syntax tree that a text parses
// to. docs/expressions.md describes it for authors; readExpression.ts says what each name means.
import { createRequire } from 'node:module';
import type * as Ohm from 'ohm-js';
import type { TextFault } from './textMeaning.ts';

type Node = Ohm.Node;

/** One part of a text; `at` is the place of its first character, from 0. */
export type Syntax = { readonly at: number } & (
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'name' | 'param'; readonly name: string }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Argument[] }
  /** `macd(12, 26, 9).signal`, `df.close`, and `close.shift(1)`, whose part is a call. */
  | { readonly type: 'member'; readonly of: Syntax; readonly part: Syntax }
  /** `df["close"]` */
  | { readonly type: 'column'; readonly of: Syntax; readonly name: string }
  /** `close[1]` */
  | { readonly type: 'earlier'; readonly of: Syntax; readonly bars: number }
  /** `close@1d`, `close@SPX` */
  | { readonly type: 'place'; readonly of: Syntax; readonly place: string }
  | { readonly type: 'math'; readonly op: MathSign; readonly args: readonly Syntax[] }
  | { readonly type: 'join'; readonly by: 'all' | 'any'; readonly items: readonly Syntax[] }
  | { readonly type: 'not'; readonly item: Syntax }
  | { readonly type: 'compare'; readonly op: CompareSign; readonly left: Syntax; readonly right: Syntax }
  | {
      readonly type: 'cross';
      readonly op: 'cross_up' | 'cross_down' | 'cross_any';
      readonly left: Syntax;
      readonly right: Syntax;
      readonly within: number;
    }
  | { readonly type: 'between'; readonly value: Syntax; readonly lower: Syntax; readonly upper: Syntax }
  | { readonly type: 'move'; readonly direction: 'rising' | 'falling'; readonly of: Syntax; readonly bars: number }
  | { readonly type: 'if'; readonly cond: Syntax; readonly met: Syntax; readonly unmet: Syntax }
  | { readonly type: 'window'; readonly weekdays: readonly string[]; readonly hours: readonly string[] }
);
type MathSign = 'add' | 'sub' | 'mul' | 'div' | 'mod' | 'pow' | 'neg';
type CompareSign = 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'neq';
export interface Argument {
  /** The name that it is given by; undefined: its place says what it is. */
  readonly name: string | undefined;
  readonly value: Syntax;
}

const GRAMMAR = String.raw`CandlepoolExpression {
  Choice = Any "?" Choice ":" Choice                           -- if
         | Any
  Any = NonemptyListOf<All, or>
  All = NonemptyListOf<No, and>
  No = not No                                                  -- not
     | Relation
  Relation = time in NonemptyListOf<weekday, optionalComma>? clockRange?  -- window
     | time between clock and clock                            -- hours
     | Sum between Sum and Sum                                 -- between
     | Sum crosses Sum Within?                                 -- cross
     | Sum is? move ForBars?                                   -- move
     | Sum sign Sum sign Sum                                   -- range
     | Sum sign Sum                                            -- compare
     | Sum
  Within = within digits bars?
  ForBars = for digits bars?
  Sum = Sum ("+" | "-") Product                                -- sum
      | Product
  Product = Product ("*" | "/" | "%" | "×") Sign               -- product
          | Sign
  Sign = "-" Sign                                              -- minus
       | "+" Sign                                              -- plus
       | Part ("**" | "^") Sign                                -- power
       | Part
  Part = Part "[" text "]"                                     -- column
       | Part "[" sign0? digits "]"                            -- earlier
       | Part "@" place                                        -- place
       | Part "." Call                                         -- method
       | Part "." name                                         -- member
       | "(" Choice ")"                                        -- group
       | Call
       | "$" name                                              -- param
       | text                                                  -- text
       | number                                                -- number
       | ~reserved name                                        -- name
  Call = ~reserved name "(" ListOf<Argument, ","> ")"
  Argument = name "=" ~"=" Choice                              -- named
           | Choice                                            -- plain

  or = "||" | "|" | word<caseInsensitive<"or">>
  and = "&&" | "&" | word<caseInsensitive<"and">>
  not = "!" ~"=" | word<caseInsensitive<"not">>
  time = word<caseInsensitive<"time">>
  in = word<caseInsensitive<"in">>
  between = (is spaces)? word<caseInsensitive<"between">>
  within = word<caseInsensitive<"within">>
  for = word<caseInsensitive<"for">>
  bars = word<caseInsensitive<"bars">> | word<caseInsensitive<"bar">>
  is = word<caseInsensitive<"is">>
  optionalComma = ","?
  crosses = (caseInsensitive<"crossed"> | caseInsensitive<"crosses"> | caseInsensitive<"crossing">
          | caseInsensitive<"cross">) ((space+ | "_")? direction)? ~nameRest
  direction = caseInsensitive<"above"> | caseInsensitive<"over"> | caseInsensitive<"up">
            | caseInsensitive<"below"> | caseInsensitive<"under"> | caseInsensitive<"down">
  move = word<caseInsensitive<"rising">> | word<caseInsensitive<"falling">>
  sign = ">=" | "<=" | "==" | "!=" | "<>" | ">" | "<" | "≥" | "≤" | "=" ~"=" | signWords
  signWords = (is space+)? signWord
  signWord = word<caseInsensitive<"above">> | word<caseInsensitive<"below">> | greaterThan | lessThan
  greaterThan = caseInsensitive<"greater"> space+ word<caseInsensitive<"than">>
  lessThan = caseInsensitive<"less"> space+ word<caseInsensitive<"than">>
  sign0 = "-" | "+"
  reserved = (caseInsensitive<"and"> | caseInsensitive<"or"> | caseInsensitive<"not"> | caseInsensitive<"between">
           | caseInsensitive<"crosses">) ~nameRest
  word<w> = w ~nameRest
  nameRest = alnum | "_"
  name = (letter | "_") nameRest*
  place = text | nameRest+
  digits = digit+
  number = whole exponent? ~nameRest
  whole = digit+ ("." digit*)?                                 -- decimals
        | "." digit+                                           -- part
  exponent = ("e" | "E") ("+" | "-")? digit+
  text = "\"" (~"\"" any)* "\"" | "'" (~"'" any)* "'"
  weekday = (caseInsensitive<"mon"> | caseInsensitive<"tue"> | caseInsensitive<"wed"> | caseInsensitive<"thu">
          | caseInsensitive<"fri"> | caseInsensitive<"sat"> | caseInsensitive<"sun">) ~nameRest
  clock = digit digit? ":" digit digit
  clockRange = clock space* ("-" | "–") space* clock
}`;

const COMPARE_SIGNS: Readonly<Record<string, CompareSign>> = {
  '>': 'gt', '>=': 'gte', '≥': 'gte', '<': 'lt', '<=': 'lte', '≤': 'lte', '=': 'eq', '==': 'eq', '!=': 'neq',
  '<>': 'neq', above: 'gt', greaterthan: 'gt', below: 'lt', lessthan: 'lt',
}; // prettier-ignore
const MATH_SIGNS: Readonly<Record<string, MathSign>> = {
  '+': 'add', '-': 'sub', '*': 'mul', '×': 'mul', '/': 'div', '%': 'mod',
}; // prettier-ignore

const compareSign = (written: string): CompareSign =>
  COMPARE_SIGNS[
    written
      .toLowerCase()
      .replace(/^is\s+/, '')
      .replaceAll(/\s/g, '')
  ];
const crossOf = (written: string): 'cross_up' | 'cross_down' | 'cross_any' =>
  /(?:above|over|up)$/i.test(written)
    ? 'cross_up'
    : /(?:below|under|down)$/i.test(written)
      ? 'cross_down'
      : 'cross_any';
const padded = (clock: string): string => clock.trim().padStart(5, '0');
const unquoted = (text: string): string => text.replace(/^["']|["']$/g, '');

const tree = (node: Node): Syntax => (node as Node & { readonly tree: () => Syntax }).tree();
const atOf = (node: Node): number => node.source.startIdx;
const numberIn = (optional: Node, absent: number): number =>
  optional.numChildren === 0 ? absent : Number(/\d+/.exec(optional.sourceString)![0]);

/** The parts of a list of one are that part. */
function joined(this: Node, list: Node, by: 'all' | 'any'): Syntax {
  const items = list.asIteration().children.map(tree);
  return items.length === 1 ? items[0] : { type: 'join', at: items[0].at, by, items };
}
const arithmetic = (left: Node, sign: Node, right: Node): Syntax => ({
  type: 'math', at: atOf(left), op: MATH_SIGNS[sign.sourceString], args: [tree(left), tree(right)],
}); // prettier-ignore

const TREE: Ohm.ActionDict<Syntax> = {
  Choice_if(cond, _if, met, _else, unmet) {
    return { type: 'if', at: atOf(cond), cond: tree(cond), met: tree(met), unmet: tree(unmet) };
  },
  Any(list) {
    return joined.call(this, list, 'any');
  },
  All(list) {
    return joined.call(this, list, 'all');
  },
  No_not(_not, item) {
    return { type: 'not', at: atOf(this), item: tree(item) };
  },
  Relation_window(_time, _in, days, hours) {
    const weekdays = days.sourceString.toLowerCase().match(/[a-z]+/g) ?? [];
    const clocks = hours.sourceString.match(/\d+:\d+/g) ?? [];
    return { type: 'window', at: atOf(this), weekdays, hours: clocks.map(padded) };
  },
  Relation_hours(_time, _between, from, _and, to) {
    return { type: 'window', at: atOf(this), weekdays: [], hours: [from, to].map((end) => padded(end.sourceString)) };
  },
  Relation_between(value, _between, lower, _and, upper) {
    return { type: 'between', at: atOf(value), value: tree(value), lower: tree(lower), upper: tree(upper) };
  },
  Relation_cross(left, crosses, right, within) {
    const op = crossOf(crosses.sourceString);
    return { type: 'cross', at: atOf(left), op, left: tree(left), right: tree(right), within: numberIn(within, 1) };
  },
  Relation_move(of, _is, move, bars) {
    const direction = move.sourceString.toLowerCase() as 'rising' | 'falling';
    return { type: 'move', at: atOf(of), direction, of: tree(of), bars: numberIn(bars, 1) };
  },
  Relation_range(first, sign, middle, sign2, last) {
    const [left, value, right] = [tree(first), tree(middle), tree(last)];
    const [op, op2] = [compareSign(sign.sourceString), compareSign(sign2.sourceString)];
    const { at } = left;
    if (op === 'lte' && op2 === 'lte') return { type: 'between', at, value, lower: left, upper: right };
    const items: Syntax[] = [
      { type: 'compare', at, op, left, right: value },
      { type: 'compare', at: value.at, op: op2, left: value, right },
    ];
    return { type: 'join', at, by: 'all', items };
  },
  Relation_compare(left, sign, right) {
    const op = compareSign(sign.sourceString);
    return { type: 'compare', at: atOf(left), op, left: tree(left), right: tree(right) };
  },
  Sum_sum: arithmetic,
  Product_product: arithmetic,
  Sign_minus(_minus, value) {
    const negated = tree(value);
    if (negated.type === 'number') return { ...negated, at: atOf(this), value: -negated.value };
    return { type: 'math', at: atOf(this), op: 'neg', args: [negated] };
  },
  Sign_plus(_plus, value) {
    return tree(value);
  },
  Sign_power(base, _sign, exponent) {
    return { type: 'math', at: atOf(base), op: 'pow', args: [tree(base), tree(exponent)] };
  },
  Part_column(of, _open, name, _close) {
    return { type: 'column', at: atOf(of), of: tree(of), name: unquoted(name.sourceString) };
  },
  Part_earlier(of, _open, sign, bars, _close) {
    const count = Number(bars.sourceString) * (sign.sourceString === '-' ? -1 : 1);
    return { type: 'earlier', at: atOf(of), of: tree(of), bars: count };
  },
  Part_place(of, _at, place) {
    return { type: 'place', at: atOf(of), of: tree(of), place: unquoted(place.sourceString) };
  },
  Part_method(of, _dot, call) {
    return { type: 'member', at: atOf(of), of: tree(of), part: tree(call) };
  },
  Part_member(of, _dot, name) {
    return {
      type: 'member',
      at: atOf(of),
      of: tree(of),
      part: { type: 'name', at: atOf(name), name: name.sourceString },
    };
  },
  Part_group(_open, inner, _close) {
    return tree(inner);
  },
  Call(name, _open, args, _close) {
    const given = args.asIteration().children.map((one) => (one as Node & { argument: () => Argument }).argument());
    return { type: 'call', at: atOf(name), name: name.sourceString, args: given };
  },
  Part_param(_dollar, name) {
    return { type: 'param', at: atOf(this), name: name.sourceString };
  },
  Part_text(text) {
    return { type: 'text', at: atOf(text), text: unquoted(text.sourceString) };
  },
  Part_number(number) {
    return { type: 'number', at: atOf(number), value: Number(number.sourceString) };
  },
  Part_name(name) {
    return { type: 'name', at: atOf(name), name: name.sourceString };
  },
};
const ARGUMENT: Ohm.ActionDict<Argument> = {
  Argument_named(name, _equals, value) {
    return { name: name.sourceString, value: tree(value) };
  },
  Argument_plain(value) {
    return { name: undefined, value: tree(value) };
  },
};

/** Longer texts are programs; a payload may hold a hundred of them. */
export const MAX_TEXT = 500;
/** Parentheses, and signs in a row, deeper than this would need a deep stack. */
const TOO_DEEP = /(?:\([^()]*){24}|(?:[-+!]\s*){12}|(?:\bnot\s+){12}|(?:[*^]\s*\w+\s*){60}|(?:\?[^?]*){12}/i;

function makeParser() {
  const ohm = createRequire(import.meta.url)('ohm-js') as typeof Ohm;
  const grammar = ohm.grammar(GRAMMAR);
  const semantics = grammar.createSemantics().addOperation('tree', TREE).addOperation('argument', ARGUMENT);
  return { grammar, treeOf: (match: Ohm.MatchResult) => tree(semantics(match) as Node) };
}
/** Made with the first text: that takes a fifth of a second, and most processes and threads never read one. */
let parser: ReturnType<typeof makeParser> | undefined;

/** The syntax tree of a text. */
export function parseText(text: string): Syntax | TextFault {
  if (text.length > MAX_TEXT) return { at: MAX_TEXT, message: `A text may have at most ${MAX_TEXT} characters.` };
  if (TOO_DEEP.test(text)) return { at: 0, message: 'This nests too deeply.' };
  parser ??= makeParser();
  const match = parser.grammar.match(text, 'Choice');
  if (!match.failed()) return parser.treeOf(match);
  const at = match.getRightmostFailurePosition();
  const [word] = /^\s*(?:\w+|\S)/.exec(text.slice(at)) ?? [];
  return {
    at,
    message: word === undefined ? 'The text ends too early.' : `${JSON.stringify(word.trim())} is not expected here.`,
  };
}
