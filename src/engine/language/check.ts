// Checking: every issue of a strategy's payloads in one pass, and what they compile to when there is no error among them.
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '../columns/bars.ts';
import type { Condition, Entry, Exit, Expression, Param, Risk, Settings, StrategyAst } from './ast.ts';
import { measure, MAX_CONTAINERS, MAX_DEPTH } from './bounds.ts';
import { canonicalise, Canonicaliser } from './canonical.ts';
import { Conjunctions } from './conjunctions.ts';
import { contentOf, ContentIndex, strategyHash } from './content.ts';
import { costOf } from './cost.ts';
import { firstDifference } from './difference.ts';
import {
  checkParamUses,
  checkTimezone,
  ExpressionChecks,
  reportSymbol,
  UNAVAILABLE_KINDS,
} from './expressionChecks.ts';
import { IssueLog, type ValidationIssue } from './issues.ts';
import { locate } from './locate.ts';
import { inferLookback } from './lookback.ts';
import { Lowering } from './lower.ts';
import { checkParams, resolveParams } from './params.ts';
import { pointerTo } from './pointer.ts';
import { checkRules, checkRuleWarnings, sectionsOf, type PointerOf } from './rules.ts';
import { concreteRules, runnableStrategy } from './runnable.ts';
import { AST_SHAPE, GRAPH_SHAPE, SETTINGS_SHAPE, typeOfKind } from './shapes.ts';
import { isMembers, Structure, type ParamUse } from './structure.ts';
import {
  checkLimits,
  conditionCountOf,
  countExpressions,
  WIDEST_LIMITS,
  type Census,
  type LanguageLimits,
} from './tiers.ts';
import { childrenOf, rootsOf } from './visit.ts';

/** The members of a strategy write that are checked here; whether they may be there at all is the caller's envelope. */
export interface Payloads {
  readonly settings?: unknown;
  readonly strategyAst?: unknown;
  readonly signalGraph?: unknown;
}
export interface CheckContext {
  /** What the caller's tier allows; default that of the largest tier. */
  readonly limits?: LanguageLimits;
  /** Symbols there is market data of; absent: not looked at. */
  readonly knownSymbols?: ReadonlySet<string>;
  /** The bars the strategy will run on; default `defaults.timeframe`. */
  readonly baseTimeframe?: Timeframe;
  readonly unavailableKinds?: ReadonlySet<string>;
}

export interface StrategyAnalysis {
  /** Base bars before every node has a value; null where the payload has errors. */
  readonly inferredLookback: number | null;
  /** The same until the seeds of recursive indicators no longer show. */
  readonly recommendedWarmup: number | null;
  readonly nodeCount: number;
  readonly conditionCount: number;
  /** Registry ids, sorted. */
  readonly indicators: readonly string[];
  /** Named by nodes and defaults, finest first. */
  readonly timeframes: readonly string[];
  /** About so many ns a bar, to compare strategies by. */
  readonly estimatedCost: number;
}
export interface Compiled {
  /** The payload's AST as sent, or what its graph lowers to. */
  readonly strategyAst: StrategyAst;
  readonly canonical: StrategyAst;
  readonly strategyHash: string;
}
export interface CheckOutcome {
  /** No issue is an error. */
  readonly valid: boolean;
  /** Of all issues found, also those past the hundredth. */
  readonly summary: { readonly errors: number; readonly warnings: number };
  /** Errors first, at most 100. */
  readonly issues: readonly ValidationIssue[];
  readonly issueCount: number;
  readonly analysis: StrategyAnalysis;
  readonly compiled: Compiled | null;
  /** An entry can never be true: finalizing asks for `ignoreWarnings`. */
  readonly requiresConfirmation: boolean;
}

/** Expressions of a graph written out as a tree, at most: its AST is stored and read back as JSON. */
const MAX_TREE_SIZE = 20_000;

/** All issues of the payloads, however wrong they are; it never throws. */
export function checkStrategy(payloads: Payloads, context: CheckContext = {}): CheckOutcome {
  const log = new IssueLog();
  const { settings = {}, strategyAst, signalGraph } = payloads;
  new Structure(log).check(SETTINGS_SHAPE, settings, '/settings');
  const rightSettings: Settings = log.errorCount === 0 ? (settings as Settings) : {};
  if (strategyAst === undefined && signalGraph === undefined) {
    log.add('PAYLOAD_REQUIRED', '', {
      message: 'neither strategyAst nor signalGraph is given',
      suggestion: 'send at least one of the two',
    });
  }
  const check = (member: 'strategyAst' | 'signalGraph', value: unknown): CheckedPayload | undefined =>
    value === undefined ? undefined : new PayloadCheck(member, value, context, log, rightSettings).run();
  const ast = check('strategyAst', strategyAst);
  const graph = check('signalGraph', signalGraph);
  const isAgreed = agree(ast, graph, log);
  const checked = ast ?? graph;
  const isValid = log.errorCount === 0;
  const chosen = isValid && isAgreed ? checked?.ast : undefined;
  return {
    valid: isValid,
    summary: { errors: log.errorCount, warnings: log.warningCount },
    issues: log.list(),
    issueCount: log.errorCount + log.warningCount,
    analysis: checked?.analysis ?? NOTHING,
    compiled:
      chosen == null
        ? null
        : { strategyAst: chosen, canonical: canonicalise(chosen), strategyHash: strategyHash(chosen, rightSettings) },
    requiresConfirmation: log.has('CONTRADICTION'),
  };
}

/** PAYLOADS_DISAGREE when both are right by themselves and mean different things. */
function agree(ast: CheckedPayload | undefined, graph: CheckedPayload | undefined, log: IssueLog): boolean {
  if (ast?.ast == null || graph?.ast == null) return true;
  const [left, right] = [canonicalise(ast.ast), canonicalise(graph.ast)];
  if (contentOf(left).text === contentOf(right).text) return true;
  const place = firstDifference({ ...left.strategy, defaults: undefined }, { ...right.strategy, defaults: undefined });
  log.add('PAYLOADS_DISAGREE', '/signalGraph', {
    message: `strategyAst and signalGraph mean different strategies: in canonical form they differ at /strategy${place}`,
    suggestion: 'send one of the two',
  });
  return false;
}

const NOTHING: StrategyAnalysis = {
  inferredLookback: null,
  recommendedWarmup: null,
  nodeCount: 0,
  conditionCount: 0,
  indicators: [],
  timeframes: [],
  estimatedCost: 0,
};

interface CheckedPayload {
  /** null when this payload has errors. */
  readonly ast: StrategyAst | null;
  readonly analysis: StrategyAnalysis;
}
/** A payload as an AST, whatever is wrong with it, and where its objects are. */
interface Read {
  readonly ast: StrategyAst;
  readonly places: ReadonlyMap<object, string>;
  readonly faulty: Set<object>;
  /** Expressions that stand nowhere: unused nodes of a graph. */
  readonly nodes: readonly Expression[];
  readonly paramUses: readonly ParamUse[];
}

/** The check of one payload, stage by stage: extent, form, lowering, expressions, sections, conjunctions, compilation. */
class PayloadCheck {
  readonly #member: 'strategyAst' | 'signalGraph';
  readonly #pointer: string;
  readonly #value: unknown;
  readonly #context: CheckContext;
  readonly #log: IssueLog;
  readonly #settings: Settings;
  readonly #errorsBefore: number;

  constructor(
    member: 'strategyAst' | 'signalGraph',
    value: unknown,
    context: CheckContext,
    log: IssueLog,
    settings: Settings,
  ) {
    this.#member = member;
    this.#pointer = `/${member}`;
    this.#value = value;
    this.#context = context;
    this.#log = log;
    this.#settings = settings;
    this.#errorsBefore = log.errorCount;
  }

  run(): CheckedPayload {
    const read = this.#read();
    return read === undefined ? { ast: null, analysis: NOTHING } : this.#judge(read);
  }

  get #isClean(): boolean {
    return this.#log.errorCount === this.#errorsBefore;
  }

  /** Extent and form, and of a graph the AST; undefined when it is too large or too deep to look into. */
  #read(): Read | undefined {
    const log = this.#log;
    const extent = measure(this.#value);
    if (extent.depth > MAX_DEPTH) {
      log.add('PAYLOAD_TOO_DEEP', this.#pointer, {
        message: `this nests more than ${MAX_DEPTH} deep`,
        suggestion: 'flatten the expressions',
      });
    }
    if (extent.containers > MAX_CONTAINERS) {
      log.add('TIER_LIMIT_NODES', this.#pointer, {
        message: `this holds more than ${MAX_CONTAINERS} objects`,
        suggestion: 'simplify the strategy',
      });
    }
    if (extent.depth > MAX_DEPTH || extent.containers > MAX_CONTAINERS) return undefined;
    // Objects used twice have two places; JSON has none, and neither has a copy through it.
    const value: unknown = extent.isShared ? JSON.parse(JSON.stringify(this.#value)) : this.#value;
    const structure = new Structure(log);
    const isAst = this.#member === 'strategyAst';
    structure.check(isAst ? AST_SHAPE : GRAPH_SHAPE, value, this.#pointer);
    if (!isMembers(value)) return undefined;
    const { faulty, paramUses } = structure;
    if (isAst) {
      return {
        ast: value as unknown as StrategyAst,
        places: locate(value, this.#pointer),
        faulty,
        nodes: [],
        paramUses,
      };
    }
    const lowered = new Lowering(value, log, faulty).run();
    if (lowered.depth > MAX_DEPTH) {
      log.add('PAYLOAD_TOO_DEEP', '/signalGraph/nodes', {
        message: `references nest ${lowered.depth} deep`,
        suggestion: 'flatten the graph',
      });
      return undefined;
    }
    if (lowered.treeSize > MAX_TREE_SIZE) {
      log.add('TIER_LIMIT_NODES', '/signalGraph/nodes', {
        message: `written out as a StrategyAst this has more than ${MAX_TREE_SIZE} nodes, because nodes are used many times`,
        suggestion: 'use fewer references to nodes that themselves hold many',
      });
      return undefined;
    }
    return { ...lowered, paramUses };
  }

  #judge(read: Read): CheckedPayload {
    const { ast, places, faulty, nodes } = read;
    const log = this.#log;
    const pointerOf: PointerOf = (owner, ...member) => pointerTo(places.get(owner) ?? this.#pointer, ...member);
    const strategy: Record<string, unknown> = isMembers(ast.strategy) ? ast.strategy : {};
    const sections = sectionsOf(strategy);
    const params = (Array.isArray(strategy.params) ? strategy.params : []).filter(
      (one) => isMembers(one) && !faulty.has(one),
    ) as unknown as Param[];
    const base = this.#baseTimeframe(strategy);
    checkParams(params, log, pointerOf);
    checkParamUses(read.paramUses, new Map(params.map((param) => [param.name, param])), log);
    this.#checkDefaults(strategy, pointerOf);

    const checks = new ExpressionChecks({
      log,
      pointerOf,
      faulty,
      params: new Map(params.map((param) => [param.name, param])),
      baseTimeframe: base,
      knownSymbols: this.#context.knownSymbols,
      unavailableKinds: this.#context.unavailableKinds ?? UNAVAILABLE_KINDS,
    });
    const entries = sections.entries as unknown as Entry[];
    const exits = sections.exits as unknown as Exit[];
    const roots = rootsOf({ entries, exits, risk: sections.risk as Risk | undefined });
    for (const { expression } of roots) checks.check(expression);
    for (const node of nodes) if (typeOfKind(node.kind) !== undefined) checks.check(node);

    const census = countExpressions(
      roots
        .filter(({ role }) => role === 'setup' || role === 'trigger' || role === 'filter')
        .map(({ expression }) => expression),
      roots.filter(({ role }) => role === 'exit').map(({ expression }) => expression),
      [...roots.map(({ expression }) => expression), ...nodes],
      sections.exits.length,
    );
    this.#checkLimits(census);
    const values = resolveParams(params, {}, log);
    checkRules(sections, { log, pointerOf, values });
    const timeframes = timeframesOf(checks.checked, base);
    const runsOn = base ?? timeframes[0] ?? '1h';
    checkRuleWarnings(sections, runsOn, strategy, { log, pointerOf, values });
    if (census.nodes <= (this.#context.limits ?? WIDEST_LIMITS).nodes)
      this.#compare(checks, entries, exits, params, pointerOf);

    const analysis = {
      ...NOTHING,
      nodeCount: census.nodes,
      conditionCount: conditionCountOf(census),
      timeframes,
      ...costOf(checks.checked),
    };
    const compiled = this.#isClean ? this.#compile(ast, runsOn, values, pointerOf) : undefined;
    this.#reportExitAlias(strategy, pointerOf);
    return { ast: compiled === undefined ? null : ast, analysis: { ...analysis, ...compiled } };
  }

  #baseTimeframe(strategy: Readonly<Record<string, unknown>>): Timeframe | undefined {
    const named = isMembers(strategy.defaults) ? strategy.defaults.timeframe : undefined;
    return this.#context.baseTimeframe ?? TIMEFRAMES.find((timeframe) => timeframe === named);
  }

  #checkDefaults({ defaults }: Readonly<Record<string, unknown>>, pointerOf: PointerOf): void {
    if (!isMembers(defaults)) return;
    const { timezone, instrument } = defaults;
    const { knownSymbols } = this.#context;
    if (typeof timezone === 'string') checkTimezone(timezone, pointerOf(defaults, 'timezone'), this.#log);
    const symbol = isMembers(instrument) ? instrument.symbol : undefined;
    if (typeof symbol === 'string' && knownSymbols?.has(symbol) === false) {
      reportSymbol(symbol, pointerOf(defaults, 'instrument', 'symbol'), knownSymbols, this.#log);
    }
  }

  #checkLimits(census: Census): void {
    const root = this.#pointer;
    const written = isMembers(this.#value) && Array.isArray(this.#value.nodes) ? this.#value.nodes.length : 0;
    const isGraph = this.#member === 'signalGraph';
    const nodes = isGraph ? Math.max(written, census.nodes) : census.nodes;
    const places = {
      root,
      entry: `${root}/strategy/entry`,
      exits: `${root}/strategy/exits`,
      nodes: isGraph ? `${root}/nodes` : `${root}/strategy`,
    };
    checkLimits({ ...census, nodes }, this.#context.limits ?? WIDEST_LIMITS, places, this.#log);
  }

  /** Warnings that come from comparing what expressions are: only sound ones are compared. */
  #compare(
    checks: ExpressionChecks,
    entries: readonly Entry[],
    exits: readonly Exit[],
    params: readonly Param[],
    pointerOf: PointerOf,
  ): void {
    const canonicaliser = new Canonicaliser({ keepNames: false, params: null, timezone: 'UTC' });
    const index = new ContentIndex();
    const keyOf = (expression: Expression): number => index.keyOf(canonicaliser.expression(expression));
    checks.checkComparisons(keyOf);
    const conjunctions = new Conjunctions({ log: this.#log, pointerOf, keyOf, isSound: checks.isSound, params });
    for (const entry of entries) conjunctions.checkEntry(entry);
    for (const exit of exits) conjunctions.checkExit(exit);
    for (const expression of checks.checked) {
      if (checks.isSound(expression) && typeOfKind(expression.kind) === 'condition')
        conjunctions.checkLeaf(expression as Condition);
    }
  }

  #compile(
    ast: StrategyAst,
    base: Timeframe,
    values: ReturnType<typeof resolveParams>,
    pointerOf: PointerOf,
  ): { inferredLookback: number; recommendedWarmup: number } | undefined {
    const rules = concreteRules(ast, values, this.#log, pointerOf);
    this.#checkIds(ast, pointerOf);
    if (!this.#isClean) return undefined;
    const strategy = runnableStrategy(rules, ast, this.#settings);
    const inferredLookback = inferLookback(strategy, base);
    const isSetting = this.#settings.warmupPeriod !== undefined;
    if (strategy.warmupBars !== null && strategy.warmupBars < inferredLookback) {
      const path = isSetting ? '/settings/warmupPeriod' : pointerOf(ast.strategy.defaults!, 'warmupBars');
      this.#log.add('WARMUP_TOO_SHORT', path, {
        message: `a warm-up of ${strategy.warmupBars} bars is shorter than the ${inferredLookback} that the strategy looks back`,
        suggestion: `use ${inferredLookback}, or leave it out`,
        patch: [{ op: 'replace', path, value: inferredLookback }],
      });
    }
    return { inferredLookback, recommendedWarmup: Math.max(inferredLookback, inferLookback(strategy, base, true)) };
  }

  /** In an AST one id may stand on equal expressions (a graph's node used twice), not on different ones. */
  #checkIds(ast: StrategyAst, pointerOf: PointerOf): void {
    if (this.#member === 'signalGraph') return;
    const canonicaliser = new Canonicaliser({ keepNames: false, params: null, timezone: 'UTC' });
    const index = new ContentIndex();
    const keys = new Map<string, number>();
    const seen = new Set<Expression>();
    const { entries, exits, risk } = sectionsOf(ast.strategy);
    const stack = rootsOf({ entries: entries as never, exits: exits as never, risk: risk as never })
      .map(({ expression }) => expression)
      .reverse();
    while (stack.length > 0) {
      const node = stack.pop()!;
      if (seen.has(node)) continue;
      seen.add(node);
      if (node.id !== undefined) {
        const key = index.keyOf(canonicaliser.expression(node));
        if ((keys.get(node.id) ?? key) !== key) {
          this.#log.add('NODE_ID_DUPLICATE', pointerOf(node, 'id'), {
            message: `another, different node has the id ${JSON.stringify(node.id)}`,
            suggestion: 'give every node its own id',
          });
        }
        keys.set(node.id, keys.get(node.id) ?? key);
      }
      stack.push(...childrenOf(node).reverse());
    }
  }

  /** Last of all, so that its patch moves what the others have repaired. */
  #reportExitAlias(strategy: Readonly<Record<string, unknown>>, pointerOf: PointerOf): void {
    if (!isMembers(strategy.exit)) return;
    const [from, exits] = [pointerOf(strategy, 'exit'), pointerOf(strategy, 'exits')];
    const hasExits = Array.isArray(strategy.exits);
    this.#log.add('ALIAS_USED', from, {
      message: 'exit is another way to write exits with one element',
      suggestion: 'write "exits": [ … ]',
      patch: [
        ...(hasExits ? [] : [{ op: 'add', path: exits, value: [] } as const]),
        { op: 'move', from, path: `${exits}/-` },
      ],
    });
  }
}

/** Timeframes of nodes and the base, finest first. */
function timeframesOf(expressions: Iterable<Expression>, base: Timeframe | undefined): Timeframe[] {
  const named = new Set<Timeframe>(base === undefined ? [] : [base]);
  for (const expression of expressions) {
    const { timeframe } = expression as { timeframe?: Timeframe };
    if (timeframe !== undefined && TIMEFRAMES.includes(timeframe)) named.add(timeframe);
  }
  return [...named].sort((a, b) => TIMEFRAME_MS[a] - TIMEFRAME_MS[b]);
}
