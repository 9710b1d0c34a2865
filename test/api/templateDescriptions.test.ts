// Templates against their descriptions: what a description says is computed from the strategy, and nothing else is
// said.
import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../src/api/templates/catalog.ts';
import { compiledAst, type Template } from '../../src/api/templates/template.ts';

type Json = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<number, string>> = {
  0.2: 'fifth',
  0.5: 'half',
  1: 'one',
  2: 'two|twice',
  2.5: 'two and a half',
  3: 'three',
  4: 'four',
  5: 'five',
  6: 'six',
  8: 'eight',
  10: 'ten',
};
/** A number as a description may write it: 10 or ten. */
const written = (value: number): string => `(?:${value}${value in WORDS ? `|${WORDS[value]}` : ''})`;
const strategyOf = (template: Template): Json => (compiledAst(template) as { strategy: Json }).strategy;

/** What a risk rule must be called, in words that a reader of the rule would look for. */
const RISK_WORDS: Readonly<Record<string, (rule: Json) => string[]>> = {
  stopLoss: ({ mode, value, multiplier }) => {
    switch (mode) {
      case 'percent':
        return [`${written(value as number)} percent below`];
      case 'atr':
        return [`${written(multiplier as number)} ATRs`];
      case 'price':
        return ['stops? at'];
      default:
        throw new Error(`No words for a stop of mode ${String(mode)}.`);
    }
  },
  trailingStop: ({ distancePercent, distanceAtr }) => [
    'trailing stop',
    distancePercent === undefined
      ? `${written((distanceAtr as { multiplier: number }).multiplier)} ATRs`
      : `${written(distancePercent as number)} percent`,
  ],
  takeProfits: (steps) =>
    (steps as unknown as Json[]).flatMap(({ triggerR, closePercent }) => {
      if (closePercent !== 100 || triggerR === undefined) throw new Error('No words for this take-profit.');
      return [`aims at ${written(triggerR as number)} the risk`];
    }),
  timeStop: ({ maxBars }) => [`after ${written(maxBars as number)} bars`],
};
const SIZING_WORDS: Readonly<Record<string, (value: number) => string[]>> = {
  // The usual size, most of the equity, goes without saying.
  percent_equity: (value) =>
    value >= 95 ? [] : [`${written(value / 100)} of the equity|${written(value)} percent of equity`],
  equal_slots: () => ['slots'],
  risk_percent: (value) => [`risks ${value} % of equity`],
  volatility_target: (value) => [`${value} % volatility`],
};
const INDICATOR_WORDS: Readonly<Record<string, string>> = {
  sma: 'average',
  ema: 'EMA',
  rsi: 'RSI',
  macd: 'MACD',
  bbands: 'band',
  donchian: 'highest high|lowest low',
  ichimoku: 'cloud',
  adx: 'ADX',
  plus_di: '\\+DI',
  minus_di: '-DI',
  keltner: 'Keltner channel',
  roc: 'change over',
  stoch_rsi: 'stochastic RSI',
  supertrend: 'supertrend',
  vwap: 'volume-weighted average price',
  vwap_session: 'volume-weighted average price of the day \\(UTC\\)',
  atr: 'ATR',
};

interface Leg {
  readonly top?: number;
  readonly bottom?: number;
  readonly topPercent?: number;
  readonly bottomPercent?: number;
  readonly keepWithin?: number;
}
interface AllocationJson {
  readonly long?: Leg;
  readonly short?: Leg;
  readonly weights?: { readonly mode: string; readonly maxPercent?: number; readonly values?: Record<string, number> };
  readonly fallback?: string;
  readonly bandPercent?: number;
}

/** What a description has to say of an allocation. */
function allocationWords({ long, short, weights, fallback, bandPercent }: AllocationJson): string[] {
  const words = <T>(member: T | undefined, say: (value: T) => string): string[] =>
    member === undefined ? [] : [say(member)];
  const { mode, maxPercent, values = {} } = weights ?? { mode: 'equal' };
  return [
    ...[long, short].flatMap((leg = {}) => [
      ...words(leg.top ?? leg.bottom, (places) => `\\b${written(places)} `),
      ...words(leg.topPercent ?? leg.bottomPercent, (percent) => `${percent} percent`),
      ...words(leg.keepWithin, (places) => `among the first ${written(places)}`),
    ]),
    ...(mode === 'inverse' ? ['inverse proportion'] : []),
    // With one place, its weight goes without saying.
    ...(mode === 'equal' && long?.top !== 1 ? ['in equal parts'] : []),
    ...Object.values(values).map((percent) => `${percent} percent`),
    ...words(maxPercent, (percent) => `at most ${percent} percent`),
    ...words(fallback, (symbol) => symbol),
    ...words(bandPercent, (percent) => `more than ${written(percent)} percent of equity`),
  ];
}

/** What a description has to say of an entry. */
function entryWords({ action }: Json): string[] {
  const { side, sizing } = action as { side: string; sizing: { mode: string; value: number } };
  return [side === 'short' ? '\\bsells\\b.* short' : '\\b(?:buys|long)\\b', ...SIZING_WORDS[sizing.mode](sizing.value)];
}

interface Sections {
  readonly risk?: Json;
  readonly entry?: Json | Json[];
  readonly allocation?: AllocationJson;
}

/** What the description of a strategy has to say, as patterns. */
function wordsFor(strategy: Json): string[] {
  const { risk = {}, entry, allocation } = strategy as Sections;
  const entries = entry === undefined ? [] : [entry].flat();
  const found = entries.flatMap(entryWords);
  if (allocation !== undefined) found.push(...allocationWords(allocation));
  for (const [name, rule] of Object.entries(risk)) found.push(...RISK_WORDS[name](rule as Json));
  visit(strategy, (node) => {
    if (node.kind === 'indicator')
      found.push(INDICATOR_WORDS[node.indicator as string] ?? 'an indicator without words');
    if (node.kind === 'schedule') found.push(`each ${String(node.every)}`);
    if (node.kind === 'rolling' && node.op === 'std') found.push('deviation');
    if (node.kind === 'pattern') found.push(String(node.name));
    if (node.instrument !== undefined && node.kind !== undefined)
      found.push((node.instrument as { symbol: string }).symbol);
  });
  return found;
}

function visit(value: unknown, see: (node: Json) => void): void {
  if (typeof value !== 'object' || value === null) return;
  see(value as Json);
  for (const member of Object.values(value)) visit(member, see);
}

/** Numbers that a description may mention: those of its strategy. */
function numbersOf(strategy: Json): Set<number> {
  const found = new Set<number>();
  visit(strategy, (node) => {
    for (const member of Object.values(node)) if (typeof member === 'number') found.add(member);
  });
  return found;
}

/** Numbers in figures; "1 %" and "50-bar" included, those of symbols not. */
const figuresIn = (text: string): number[] =>
  [...text.replaceAll(/SYN-[\w-]+/g, '').matchAll(/\d+(?:\.\d+)?/g)].map(([figure]) => Number(figure));

/** Words of a description → whether the strategy has what they speak of. */
const CLAIMS: readonly [RegExp, (strategy: Json & { risk?: Json }) => boolean][] = [
  [/\btrailing stop\b/, ({ risk }) => risk?.trailingStop !== undefined],
  [/(?<!trailing )\bstops?\b/, ({ risk }) => risk?.stopLoss !== undefined],
  [/\b(?:percent|ATRs) (?:below|above) the fill\b/, ({ risk }) => risk?.stopLoss !== undefined],
  [/\bafter \d+ bars\b/, ({ risk }) => risk?.timeStop !== undefined],
  [/\baims at\b.*\brisk\b/, ({ risk }) => risk?.takeProfits !== undefined],
  [/\bbreak-?even\b/, ({ risk }) => risk?.breakeven !== undefined],
  [/\bof the day\b/, (strategy) => uses(strategy, 'indicator', 'vwap_session')],
  [/\bhourly\b|\bhours?\b/, (strategy) => uses(strategy, 'timeframe', '1h') || uses(strategy, 'kind', 'time_window')],
  [/\b\d+-day\b|\bday closed\b/, (strategy) => uses(strategy, 'timeframe', '1d')],
  [/\bLondon\b/, (strategy) => uses(strategy, 'timezone', 'Europe/London')],
  [
    /\b(?:short|Covers)\b/,
    (strategy) => uses(strategy, 'side', 'short') || (strategy as Sections).allocation?.short !== undefined,
  ],
];

function uses(strategy: Json, name: string, value: string): boolean {
  let isUsed = false;
  visit(strategy, (node) => (isUsed ||= node[name] === value));
  return isUsed;
}

/** What is wrong with a description. */
function faultsOf(description: string, strategy: Json): string[] {
  const unsaid = wordsFor(strategy).filter((words) => !new RegExp(words, 'i').test(description));
  const numbers = numbersOf(strategy);
  const unfounded = figuresIn(description).filter((figure) => !numbers.has(figure));
  const untrue = CLAIMS.filter(([words, isTrue]) => words.test(description) && !isTrue(strategy));
  return [
    ...unsaid.map((words) => `does not say ${words}`),
    ...unfounded.map((figure) => `says ${figure}`),
    ...untrue.map(([words]) => `says ${words.source}`),
  ];
}

describe('the description of a template', () => {
  it.each(TEMPLATES.map((template) => [template.key, template] as const))(
    'says what %s does, every risk rule with its number, and mentions no rule or number it does not have',
    (_key, template) => {
      expect(faultsOf(template.description, strategyOf(template))).toEqual([]);
    },
  );

  const of = (key: string): Template => TEMPLATES.find((template) => template.key === key)!;
  const without = (key: string, words: string): [string, Json] => {
    const { description } = of(key);
    expect(description).toContain(words);
    return [description.replace(words, ''), strategyOf(of(key))];
  };

  it.each([
    ['bollinger_squeeze_breakout', ', or at a stop six percent below the fill'],
    ['keltner_breakout', ', or at a stop two and a half ATRs below the fill'],
    ['macd_trend', ', or at an eight percent trailing stop'],
    ['hammer_at_support', ', at a stop two ATRs below the fill, or after 30 bars'],
    ['short_breakdown', ', or at a stop two ATRs above the fill'],
    ['rsi2_mean_reversion', ', or after 15 bars'],
    ['zscore_pair_spread', ', at a stop ten percent below the fill, or after 60 bars'],
    ['opening_range_breakout', ', stops at its low, aims at twice the risk'],
    ['dual_momentum', ', and SYN-BOND-FUND otherwise'],
    ['sector_rotation', ' A fund is kept as long as it ranks among the first five.'],
    ['sixty_forty_bands', ' only if a weight is off by more than four percent of equity'],
    ['inverse_volatility', ', with at most 40 percent in one'],
    ['linked_pair', ' and sells the dearer one short'],
  ])('of %s is refused without "%s"', (key, words) => {
    expect(faultsOf(...without(key, words))).not.toEqual([]);
  });

  it('is refused when it names a number or a rule that the strategy does not have', () => {
    const { description } = of('golden_cross');
    const strategy = strategyOf(of('golden_cross'));
    expect(faultsOf(description.replace('50-bar', '60-bar'), strategy)).toEqual(['says 60']);
    expect(faultsOf(`${description} A trailing stop follows.`, strategy)).toHaveLength(1);
  });

  it('is refused when it speaks of the day and the VWAP is that of all the data', () => {
    const { description } = of('vwap_reversion');
    const strategy = JSON.parse(
      JSON.stringify(strategyOf(of('vwap_reversion'))).replaceAll('vwap_session', 'vwap'),
    ) as Json;
    expect(faultsOf(description, strategy)).toContain(String.raw`says \bof the day\b`);
  });
});
