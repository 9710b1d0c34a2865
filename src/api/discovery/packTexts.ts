// Texts of the authoring pack: a line for each node kind, each section of a strategy and each common indicator.
import type { describeCapabilities } from '../../engine/index.ts';
import { STRATEGY_MEMBERS } from './strategyMembers.ts';

export type Language = ReturnType<typeof describeCapabilities>;
type Kind = Language['strategyAst']['nodes'][number];

/** `op=gt|gte left=num right=num → cond. What it means.` */
export function kindLine({ kind: name, inputs, fields, output, description }: Kind): string {
  const members = [
    ...inputs.map(({ name: member, kind, required, cardinality }) => {
      const type = `${kind === 'bool_ref' ? 'cond' : 'num'}${cardinality === 'many' ? '[]' : ''}`;
      return required ? `${member}=${type}` : `(${member}=${type})`;
    }),
    ...fields.map((field) => {
      const text = NAMED_AS_TYPE.has(field.name) ? field.name : `${field.name}=${typeText(field, name)}`;
      return field.required ? text : `(${text})`;
    }),
  ];
  const result = output === 'bool' ? 'cond' : 'num';
  return `${members.join(' ')} → ${result}. ${description}`;
}

/** Members whose type is in their name. */
const NAMED_AS_TYPE: ReadonlySet<string> = new Set(['timeframe', 'instrument']);

/** Longer lists appear only once in the pack, under `operators` and `stateFields`. */
const LONGEST_ENUM = 15;

function typeText({ type, enum: values, orOneOf }: Kind['fields'][number], kind: string): string {
  if (values === undefined) return [...(orOneOf ?? []), type].join('|');
  if (values.length <= LONGEST_ENUM) return values.join('|');
  return kind === 'state' ? 'one of stateFields' : `one of operators.${kind}`;
}

/** Members that have a twin, described before them: of the short leg, of a stop order, of an ATR. */
const TWINS: readonly (readonly [of: RegExp, twin: string])[] = [
  [/allocation\.short\./, 'allocation.long.'],
  [/<stop>/, '<limit>'],
  [/(?:takeProfits\[\]|trailingStop)\.\w+Atr\.period$/, 'stopLoss<atr>.period'],
];

/** Whether a member means the same as its twin. */
const isAsTwin = (path: string, text: string): boolean =>
  TWINS.some(([of, twin]) => of.test(path) && STRATEGY_MEMBERS[path.replace(of, twin)] === text);

/** Sections whose members share one text, so that no path is repeated. A member is in the longest that fits it. */
const SECTIONS = [
  'defaults',
  'params[]',
  'entry',
  'entry.action.sizing',
  'entry.action.order',
  'exits[]',
  'exits[].action',
  'allocation',
  'allocation.long',
  'allocation.short',
  'allocation.weights',
  'risk',
  'risk.stopLoss',
  'risk.takeProfits[]',
  'risk.trailingStop',
  'risk.breakeven',
].toSorted((a, b) => b.length - a.length);

/** What each section means, then `member: meaning` of each member; the meaning of twins is there once. */
export function sectionTexts(): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [path, text] of Object.entries(STRATEGY_MEMBERS)) {
    if (isAsTwin(path, text)) continue;
    const short = path.replace(/^strategy\./, '');
    const section = SECTIONS.find((name) => short.startsWith(name) && /^(?:$|[.<])/.test(short.slice(name.length)));
    if (section === undefined) throw new Error(`No section of the authoring pack has ${path}.`);
    const member = short.slice(section.length).replace(/^\./, '');
    const line = member === '' ? text : `${member}: ${text}`;
    texts[section] = texts[section] === undefined ? line : `${texts[section]} ${line}`;
  }
  return texts;
}

/** Indicators whose arguments and outputs are in the pack: those that most strategies are made of. */
export const COMMON_INDICATORS: ReadonlySet<string> = new Set(
  (
    'sma ema wma hma vwma vwap rsi macd stoch stoch_rsi adx plus_di minus_di atr natr bbands keltner donchian ' +
    'supertrend sar cci mfi obv willr roc ichimoku stddev zscore linearreg_slope ttm_squeeze'
  ).split(' '),
);

/** `macd(fast_length=12,slow_length=26,signal_length=9)→macd,signal,histogram`. */
export function indicatorText({ id, args, outputs, outputRequired }: Language['indicators'][number]): string {
  const numbers = args.filter(({ default: byDefault }) => typeof byDefault === 'number');
  const given = numbers.map(({ name, default: byDefault }) => `${name}=${String(byDefault)}`).join(',');
  const chosen = outputRequired ? `→${outputs.map(({ name }) => name).join(',')}` : '';
  return `${id}${given === '' ? '' : `(${given})`}${chosen}`;
}

/** Names with a prefix in common in one group: `account_{balance,equity}`; no group has a single name. */
export function groupedNames(names: readonly string[]): string {
  const prefixOf = (name: string): string => GROUPED.find((prefix) => name.startsWith(prefix)) ?? '';
  const groups = GROUPED.map((prefix) => {
    const rests = names.filter((name) => prefixOf(name) === prefix).map((name) => name.slice(prefix.length));
    return `${prefix}{${rests.join(',')}}`;
  });
  return [...groups, ...names.filter((name) => prefixOf(name) === '')].join(' ');
}
const GROUPED = ['position_', 'account_', 'trades_count_', 'last_'];
