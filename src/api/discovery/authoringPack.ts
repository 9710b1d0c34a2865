// The authoring pack: what an author needs to write a strategy and a config, in one answer of about 17 KB.
import { z } from 'zod';
import {
  AMBIGUITY_RESOLUTIONS,
  describeCapabilities,
  FALLBACK_CHOICES,
  nearestName,
  SLIPPAGE_KINDS,
  TIMEFRAMES,
} from '../../engine/index.ts';
import { TIER_LIMITS, type Tier, type TierLimits } from '../../tiers.ts';
import { BACKTEST_EXAMPLES } from '../backtests/backtestExamples.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { API_KEY_SECURITY, Json, KEY_PROBLEMS, NoQuery, problems } from '../http/routeSchemas.ts';
import { problem } from '../http/problems.ts';
import { sendTagged, sendTaggedJson, tagged, type TaggedBody } from '../http/etag.ts';
import { linksTo, type PublicAddress } from '../http/links.ts';
import type { App, Services } from '../services.ts';
import { EXAMPLE_MANAGED_AST, EXAMPLE_ROTATION_AST } from '../strategies/strategyExamples.ts';
import { GOLDEN_CROSS } from '../templates/catalog.ts';
import { shortPack } from './shortPack.ts';
import { COMMON_INDICATORS, groupedNames, indicatorText, kindLine, sectionTexts, type Language } from './packTexts.ts';

const slippageNotes = SLIPPAGE_KINDS.flatMap(({ note }) => note ?? []);

const Pack = z.object({
  about: z.string(),
  examples: z.object({ signalGraph: Json, strategyAst: Json, rotation: Json, settings: Json, config: Json }).meta({
    description:
      'Each is valid as it stands. `rotation` is the strategyAst of an allocation, and needs config.instruments.',
  }),
  rules: z.record(z.string(), z.string()),
  notation: z.string(),
  kinds: z.record(z.string(), z.string()).meta({ description: 'Kind → members, result and meaning.' }),
  members: z
    .record(z.string(), z.string())
    .meta({ description: 'Section below `strategy` → what it means, then `member: meaning` of each member.' }),
  settings: z.record(z.string(), z.string()),
  config: z.record(z.string(), z.string()),
  operators: Json,
  timeframes: z.array(z.string()),
  stateFields: z.string(),
  limits: Json.meta({ description: 'Of the tier of the workspace, as far as authors need them.' }),
  indicators: z.string().meta({
    description:
      'Names, of common ones with the arguments and their defaults, and with the outputs where one must be chosen; ' +
      '`/capabilities/indicators/{id}` has those of all.',
  }),
  patterns: z.string().meta({ description: 'Names for kind `pattern`, with `side` bullish, bearish or any.' }),
  more: z.record(z.string(), z.string()),
});
/** A part has its own member, the core most of them. */
const PackAnswer = Pack.partial()
  .extend({
    parts: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Of the core: what each part has beyond it.' }),
  })
  .meta({ id: 'AuthoringPack' });

const described = { tags: ['Discovery'], security: API_KEY_SECURITY, querystring: NoQuery };

/** Parts that can be read alone. */
export const PACK_PARTS = ['examples', 'kinds', 'members', 'config', 'indicators', 'patterns'] as const;
const PackQuery = z
  .strictObject({
    part: z
      .enum(['core', ...PACK_PARTS])
      .optional()
      .meta({
        description: 'core: what most strategies need, and which parts have the rest. Another: this member in full.',
      }),
  })
  .meta({ id: 'PackQuery' });

export async function authoringPackRoutes(app: App, { config }: Services): Promise<void> {
  const language = describeCapabilities();
  packRoute(app, language, config);
  indicatorRoute(app, language);
  kindRoute(app, language);
}

function packRoute(app: App, language: Language, address: PublicAddress): void {
  const kept = new Map<string, TaggedBody>();
  app.get(
    '/public/v1/authoring-pack',
    {
      onRequest: requireKey(),
      schema: {
        ...described,
        querystring: PackQuery,
        operationId: 'get_authoring_pack',
        summary: 'All that is needed to write a strategy: worked examples, every node kind in a line, every name',
        response: { 200: PackAnswer, ...problems(...KEY_PROBLEMS) },
      },
    },
    async (request, reply) => {
      const { tier } = request.caller;
      const { part } = request.query;
      const key = `${tier} ${part}`;
      const whole = (): PackBody => authoringPack(language, tier, address);
      const shown = (): object => {
        if (part === undefined) return whole();
        return part === 'core' ? shortPack(whole()) : { [part]: whole()[part] };
      };
      const answer = kept.get(key) ?? tagged(JSON.stringify(shown()));
      kept.set(key, answer);
      return sendTagged(request, reply, answer);
    },
  );
}

function indicatorRoute(app: App, language: Language): void {
  app.get(
    '/public/v1/capabilities/indicators/:id',
    {
      onRequest: requireKey(),
      schema: {
        ...described,
        operationId: 'get_indicator',
        summary: 'One indicator, by its id or an alias: arguments, outputs, formula',
        params: z.object({ id: z.string() }),
        response: { 200: Json, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const name = request.params.id.toLowerCase();
      const found = language.indicators.find(({ id, aliases }) => id === name || aliases.includes(name));
      const names = language.indicators.flatMap(({ id, aliases }) => [id, ...aliases]);
      if (found === undefined) throw unknownName('indicator', request.params.id, names);
      return sendTaggedJson(request, reply, found);
    },
  );
}

function kindRoute(app: App, language: Language): void {
  app.get(
    '/public/v1/capabilities/kinds/:kind',
    {
      onRequest: requireKey(),
      schema: {
        ...described,
        operationId: 'get_node_kind',
        summary: 'One node kind, as a node of a graph and as an expression of an AST, or a section such as allocation',
        params: z.object({ kind: z.string() }),
        response: { 200: Json, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const wanted = request.params.kind;
      const of = ({ kind }: { kind: string }): boolean => kind === wanted;
      // A section that is one object, such as an allocation, has members as a node has.
      const section = language.strategyAst.sections.find(({ name, fields }) => name === wanted && fields !== undefined);
      if (section !== undefined) return sendTaggedJson(request, reply, { strategyAst: section });
      const strategyAst = language.strategyAst.nodes.find(of);
      const names = language.strategyAst.nodes.map(({ kind }) => kind);
      if (strategyAst === undefined) throw unknownName('node kind', wanted, names);
      const signalGraph = language.signalGraph.nodes.find(of);
      return sendTaggedJson(request, reply, { signalGraph, strategyAst });
    },
  );
}

function unknownName(what: string, given: string, names: readonly string[]): Error {
  const nearest = nearestName(given, names);
  const advice =
    nearest === undefined ? 'GET /public/v1/authoring-pack lists the names.' : `Did you mean "${nearest.name}"?`;
  return problem('NOT_FOUND', { message: `There is no ${what} "${given}". ${advice}` });
}

type PackBody = z.input<typeof Pack>;

function authoringPack(language: Language, tier: Tier, address: PublicAddress): PackBody {
  const { enums, operators } = language;
  return {
    about:
      'A strategy is a signalGraph (nodes with ids, referred to by {"ref": id}) or a strategyAst (the same kinds, ' +
      'nested), with `settings` beside it: {} is enough, and only MCP lets them be absent. Conditions are read at a ' +
      'close and fill at the next open. Percents are points: 5 is 5 %; in results, 0.05 is.',
    examples: {
      signalGraph: { ...GOLDEN_CROSS.signalGraph },
      strategyAst: EXAMPLE_MANAGED_AST,
      rotation: EXAMPLE_ROTATION_AST,
      settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
      config: BACKTEST_EXAMPLES[0].config,
    },
    rules: RULES,
    notation:
      'Members in () are optional; instrument is {symbol}. num and cond stand for a node: a ref in a graph, the node ' +
      'itself in an AST. Any object may also have id, label and description. A meaning that is absent for `short`, ' +
      'order<stop> or an ATR is that of `long`, order<limit> or stopLoss<atr>.',
    kinds: Object.fromEntries(language.strategyAst.nodes.map((node) => [node.kind, kindLine(node)])),
    members: sectionTexts(),
    settings: {
      maxConcurrentPositions: '1 to 100, default 1. Wins over strategy.defaults.',
      warmupPeriod: 'Bars of the data before the first signal. Absent: inferred.',
    },
    config: {
      'signalInstrument.symbol': 'A symbol of /market-data.',
      'instruments[].symbol': 'In place of signalInstrument: a portfolio, traded from one account.',
      'portfolio.slots': 'Positions plus pending orders of the account. Default: no bound; `entry.rank` decides.',
      'portfolio.linked': '[[symbol, symbol], …]: entered together or not at all, and closed together.',
      'benchmark.symbol': 'Bought and held in place of the instruments.',
      range: '{start, end}: dates, times or ms. Absent: all data.',
      initialBalance: 'Quote currency, above 0.',
      'execution.orderTiming': 'next_open (default) or bar_close.',
      'execution.feeModel':
        'tiered_maker_taker; rates are fractions: 0.001 = 0.1 %. Beside tiers: perUnit, perOrder, minPerOrder, ' +
        'maxPerOrder, maxRate.',
      'execution.slippage': `${SLIPPAGE_KINDS.map(({ kind }) => kind).join(', ')}; ${slippageNotes.join(' ')}`,
      borrowRatePerYear: 'Paid by shorts; a fraction.',
      dividends: '[{symbol, time, amount}]: cash per unit. Or dividendColumn.',
      riskFreeRatePerYear: 'Of Sharpe, Sortino and alpha; a fraction.',
      ambiguityResolution: AMBIGUITY_RESOLUTIONS.join(' '),
      ambiguityFallback: FALLBACK_CHOICES.join(' '),
      leverage: '1 (default) to 1000.',
      params: 'Name → value of a declared param.',
      overrides: 'JSON pointer into the payload as sent (/signalGraph/nodes/0/args/length) → number.',
    },
    operators: { math: operators.math.map(({ op }) => op).join(' ') },
    timeframes: [...TIMEFRAMES],
    stateFields: groupedNames(enums.stateFields),
    limits: { tier, ...limitsOfAuthors(TIER_LIMITS[tier]) },
    indicators: language.indicators
      .map((each) => (COMMON_INDICATORS.has(each.id) ? indicatorText(each) : each.id))
      .join(' '),
    patterns: language.patterns.map(({ id }) => id).join(' '),
    more: linksTo(address, {
      indicator: '/public/v1/capabilities/indicators/{id}',
      kind: '/public/v1/capabilities/kinds/{kind}',
      capabilities: '/public/v1/capabilities?sections=indicators,patterns,enums,limits',
    }),
  };
}

/** What authors ask that no single member answers. */
const RULES = {
  positions:
    'maxConcurrentPositions above 1: each signal opens another position with its own levels. position_* is in an ' +
    'exit the tested one, in an entry the newest; open_positions_count and position_average_price are of all.',
  sizes: 'Computed at the fill, net of its fee and slippage: percent_equity 100 can be paid.',
  instruments:
    '`instrument` reads another symbol; config.instruments trades several (rank, cross_section, allocation).',
  cannot:
    'Code and variables: use sequence, bars_since, value_when, capture. Adding to a position: open another. Long and ' +
    'short at once: two backtests. Orders inside a bar: limit, stop and risk levels.',
};

/** The limits that a strategy or a config can exceed; capabilities list all. */
const AUTHOR_LIMITS = [
  'entryConditions',
  'exitConditions',
  'exits',
  'nodes',
  'depth',
  'barsPerBacktest',
  'maxInstrumentsPerRun',
  'runSeconds',
  'sweepVariants',
  'sweepPoints',
  'payloadBytes',
  'configBytes',
] as const satisfies readonly (keyof TierLimits)[];
const limitsOfAuthors = (limits: TierLimits) => Object.fromEntries(AUTHOR_LIMITS.map((name) => [name, limits[name]]));
