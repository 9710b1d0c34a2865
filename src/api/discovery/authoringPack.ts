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
import { EXAMPLE_ROTATION_AST, EXAMPLE_STRATEGY_AST } from '../strategies/strategyExamples.ts';
import { GOLDEN_CROSS } from '../templates/catalog.ts';
import { STRATEGY_MEMBERS } from './strategyMembers.ts';

const slippageNotes = SLIPPAGE_KINDS.flatMap(({ note }) => note ?? []);

const Pack = z
  .object({
    about: z.string(),
    examples: z.object({ signalGraph: Json, strategyAst: Json, rotation: Json, settings: Json, config: Json }).meta({
      description:
        'Each is valid as it stands. `rotation` is the strategyAst of an allocation, and needs config.instruments.',
    }),
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
    indicators: z.string().meta({ description: 'Names; `/capabilities/indicators/{id}` has arguments and outputs.' }),
    patterns: z.string().meta({ description: 'Names for kind `pattern`, with `side` bullish, bearish or any.' }),
    more: z.record(z.string(), z.string()),
  })
  .meta({ id: 'AuthoringPack' });

type Language = ReturnType<typeof describeCapabilities>;
type Kind = Language['strategyAst']['nodes'][number];

const described = { tags: ['Discovery'], security: API_KEY_SECURITY, querystring: NoQuery };

export async function authoringPackRoutes(app: App, { config }: Services): Promise<void> {
  const language = describeCapabilities();
  packRoute(app, language, config);
  indicatorRoute(app, language);
  kindRoute(app, language);
}

function packRoute(app: App, language: Language, address: PublicAddress): void {
  const kept = new Map<Tier, TaggedBody>();
  app.get(
    '/public/v1/authoring-pack',
    {
      onRequest: requireKey(),
      schema: {
        ...described,
        operationId: 'get_authoring_pack',
        summary: 'All that is needed to write a strategy: worked examples, every node kind in a line, every name',
        response: { 200: Pack, ...problems(...KEY_PROBLEMS) },
      },
    },
    async (request, reply) => {
      const { tier } = request.caller;
      const answer = kept.get(tier) ?? tagged(JSON.stringify(authoringPack(language, tier, address)));
      kept.set(tier, answer);
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

function authoringPack(language: Language, tier: Tier, address: PublicAddress): z.input<typeof Pack> {
  const { enums, operators } = language;
  return {
    about:
      'A strategy is a signalGraph (nodes with ids, referred to by {"ref": id}) or a strategyAst (the same kinds, ' +
      'nested). Conditions are read at a close and fill at the next open. Percents are points: 5 is 5 %; ' +
      'in results, 0.05 is.',
    examples: {
      signalGraph: { ...GOLDEN_CROSS.signalGraph },
      strategyAst: EXAMPLE_STRATEGY_AST,
      rotation: EXAMPLE_ROTATION_AST,
      settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
      config: BACKTEST_EXAMPLES[0].config,
    },
    notation:
      'Members in () are optional; instrument is {symbol}. number and condition stand for a node: a ref in a graph, ' +
      'the node itself in an AST. Any object may also have id, label and description. A meaning that is absent for ' +
      '`short`, order<stop> or an ATR is that of `long`, order<limit> or stopLoss<atr>.',
    kinds: Object.fromEntries(language.strategyAst.nodes.map((node) => [node.kind, kindLine(node)])),
    members: sectionTexts(),
    settings: {
      maxConcurrentPositions: '1 to 100, default 1. Wins over strategy.defaults.',
      warmupPeriod: 'Bars before the first signal, counted from the first bar of the data. Absent: inferred.',
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
    operators: {
      compare: operators.compare,
      cross: operators.cross,
      math: operators.math.map(({ op }) => op),
      rolling: operators.rolling,
    },
    timeframes: [...TIMEFRAMES],
    stateFields: enums.stateFields.join(' '),
    limits: { tier, ...limitsOfAuthors(TIER_LIMITS[tier]) },
    indicators: language.indicators.map(({ id }) => id).join(' '),
    patterns: language.patterns.map(({ id }) => id).join(' '),
    more: {
      ...linksTo(address, {
        indicator: '/public/v1/capabilities/indicators/{id}',
        kind: '/public/v1/capabilities/kinds/{kind}',
        capabilities: '/public/v1/capabilities?sections=indicators,patterns,enums,limits',
      }),
      validate: 'POST /public/v1/strategies/validate says every issue at once, with patches.',
    },
  };
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
function sectionTexts(): Record<string, string> {
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

/** `op=gt|gte, left=number, right=number → condition. What it means.` */
function kindLine({ kind: name, inputs, fields, output, description }: Kind): string {
  const members = [
    ...inputs.map(({ name: member, kind, required, cardinality }) => {
      const type = `${kind === 'bool_ref' ? 'condition' : 'number'}${cardinality === 'many' ? '[]' : ''}`;
      return required ? `${member}=${type}` : `(${member}=${type})`;
    }),
    ...fields.map((field) => {
      const text = NAMED_AS_TYPE.has(field.name) ? field.name : `${field.name}=${typeText(field, name)}`;
      return field.required ? text : `(${text})`;
    }),
  ];
  const result = output === 'bool' ? 'condition' : output;
  return `${members.join(' ')} → ${result}. ${description}`;
}

/** Members whose type is in their name. */
const NAMED_AS_TYPE: ReadonlySet<string> = new Set(['timeframe', 'instrument']);

/** Longer lists appear only once in the pack, under `operators` and `stateFields`. */
const LONGEST_ENUM = 12;

function typeText({ type, enum: values, orOneOf }: Kind['fields'][number], kind: string): string {
  if (values === undefined) return [...(orOneOf ?? []), type].join('|');
  if (values.length <= LONGEST_ENUM) return values.join('|');
  return kind === 'state' ? 'one of stateFields' : `one of operators.${kind}`;
}
