// The short pack: what most strategies need, for agents that read it before their first call; parts have the rest.

/** The members of the authoring pack that are shortened. */
interface Shortened {
  readonly examples: object;
  readonly kinds: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, string>>;
  readonly indicators: string;
  readonly patterns: string;
  readonly limits: unknown;
  readonly more: object;
}

const RARE_KINDS: ReadonlySet<string> = new Set(
  (
    'param time_window rolling percent_change if bars_since shift session time value_when series capture pivot ' +
    'cross_section near rising falling pattern schedule sequence ' +
    'rolling_window state_machine'
  ).split(' '),
);
const RARE_SECTIONS: ReadonlySet<string> = new Set([
  'defaults',
  'params[]',
  'entry.action.order',
  'exits[].action',
  'allocation',
  'allocation.long',
  'allocation.short',
  'allocation.weights',
  'risk.trailingStop',
  'risk.breakeven',
]);
const RARE_CONFIG: ReadonlySet<string> = new Set([
  'portfolio.slots',
  'portfolio.linked',
  'benchmark.symbol',
  'ambiguityResolution',
  'ambiguityFallback',
  'borrowRatePerYear',
  'dividends',
  'riskFreeRatePerYear',
]);
const EXAMPLES: ReadonlySet<string> = new Set(['strategyAst', 'settings', 'config']);

export function shortPack(pack: Shortened): object {
  const { more: _, patterns: __, limits: ___, ...whole } = pack;
  const names = pack.indicators.split(' ');
  const common = names.filter((name) => /[(→]/.test(name) || ARGUMENTLESS.has(name));
  return {
    ...whole,
    examples: keep(pack.examples, (name) => EXAMPLES.has(name)),
    kinds: keep(pack.kinds, (name) => !RARE_KINDS.has(name)),
    members: keep(pack.members, (name) => !RARE_SECTIONS.has(name)),
    config: keep(pack.config, (name) => !RARE_CONFIG.has(name)),
    indicators: common.join(' '),
    parts: {
      examples: 'signalGraph, rotation',
      kinds: Object.keys(pack.kinds)
        .filter((name) => RARE_KINDS.has(name))
        .join(' '),
      members: Object.keys(pack.members)
        .filter((name) => RARE_SECTIONS.has(name))
        .join(' '),
      config: Object.keys(pack.config)
        .filter((name) => RARE_CONFIG.has(name))
        .join(' '),
      indicators: `${names.length - common.length} other names`,
      patterns: `${pack.patterns.split(' ').length} candlestick patterns`,
    },
  };
}
/** Common indicators without arguments. */
const ARGUMENTLESS: ReadonlySet<string> = new Set(['vwap', 'obv']);

const keep = (members: object, isKept: (name: string) => boolean): object =>
  Object.fromEntries(Object.entries(members).filter(([name]) => isKept(name)));
