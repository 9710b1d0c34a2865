// Judging: what one payload means, once it is read: expressions, sections, limits, contradictions, and what it compiles to.
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '../columns/bars.ts';
import type { Condition, Entry, Exit, Expression, Param, Settings, StrategyAst } from './ast.ts';
import { Canonicaliser, type ParamValues } from './canonical.ts';
import { Conjunctions } from './conjunctions.ts';
import { ContentIndex } from './content.ts';
import { costOf } from './cost.ts';
import {
  checkParamUses,
  checkTimezone,
  ExpressionChecks,
  reportSymbol,
  UNAVAILABLE_KINDS,
} from './expressionChecks.ts';
import type { KeyOf } from './facts.ts';
import type { IssueLog } from './issues.ts';
import { inferLookback } from './lookback.ts';
import { checkParams, resolveParams } from './params.ts';
import { pointerTo } from './pointer.ts';
import { readPayload, type PayloadMember, type ReadPayload } from './read.ts';
import { checkRules, checkRuleWarnings, sectionsOf, type PointerOf } from './rules.ts';
import { concreteRules, runnableStrategy } from './runnable.ts';
import { typeOfKind } from './shapes.ts';
import { checkLimits, countExpressions, WIDEST_LIMITS, type Census, type LanguageLimits } from './tiers.ts';
import { childrenOf, rootsOf, type Root } from './visit.ts';
import { isMembers } from './wording.ts';

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
export const NO_ANALYSIS: StrategyAnalysis = {
  inferredLookback: null,
  recommendedWarmup: null,
  nodeCount: 0,
  conditionCount: 0,
  indicators: [],
  timeframes: [],
  estimatedCost: 0,
};

export interface CheckedPayload {
  /** null when this payload has errors. */
  readonly ast: StrategyAst | null;
  readonly analysis: StrategyAnalysis;
}
interface PayloadContext extends CheckContext {
  readonly settings: Settings;
  readonly log: IssueLog;
}

/** Every issue of one payload goes to the log. */
export function checkPayload(member: PayloadMember, payload: unknown, context: PayloadContext): CheckedPayload {
  const errorsBefore = context.log.errorCount;
  const read = readPayload(member, payload, context.log);
  const checked = read === undefined ? undefined : new Judgement(member, read, context, errorsBefore).run();
  context.log.speakOf(null);
  return checked ?? { ast: null, analysis: NO_ANALYSIS };
}

/** The judgement of one read payload; faulty parts are passed over, so that the sound ones are judged as well. */
class Judgement {
  readonly #member: PayloadMember;
  readonly #read: ReadPayload;
  readonly #context: PayloadContext;
  readonly #errorsBefore: number;
  readonly #strategy: Readonly<Record<string, unknown>>;
  readonly #params: readonly Param[];
  readonly #base: Timeframe | undefined;
  readonly #entries: readonly Entry[];
  readonly #exits: readonly Exit[];
  readonly #roots: readonly Root[];

  constructor(member: PayloadMember, read: ReadPayload, context: PayloadContext, errorsBefore: number) {
    const { ast, faulty } = read;
    this.#member = member;
    this.#read = read;
    this.#context = context;
    this.#errorsBefore = errorsBefore;
    const strategy: Record<string, unknown> = isMembers(ast.strategy) ? ast.strategy : {};
    this.#strategy = strategy;
    const params: unknown[] = Array.isArray(strategy.params) ? strategy.params : [];
    this.#params = params.filter((one) => isMembers(one) && !faulty.has(one)) as Param[];
    const named = isMembers(strategy.defaults) ? strategy.defaults.timeframe : undefined;
    this.#base = context.baseTimeframe ?? TIMEFRAMES.find((timeframe) => timeframe === named);
    const { entries, exits, risk } = sectionsOf(strategy);
    this.#entries = entries as unknown as Entry[];
    this.#exits = exits as unknown as Exit[];
    this.#roots = rootsOf({ entries: this.#entries, exits: this.#exits, risk });
  }

  run(): CheckedPayload {
    const { log, limits = WIDEST_LIMITS } = this.#context;
    const values = this.#checkParams();
    this.#checkDefaults();
    const checks = this.#checkExpressions();
    const census = this.#census();
    this.#checkLimits(census, limits);
    const timeframes = timeframesOf(checks.checked, this.#base);
    const runsOn = this.#base ?? timeframes[0] ?? '1h';
    const sections = sectionsOf(this.#strategy);
    const rules = { log, pointerOf: this.#pointerOf, values };
    checkRules(sections, rules);
    checkRuleWarnings(sections, runsOn, this.#strategy, rules);
    // What is far over the limit is refused anyway, and comparing all of it would take its time.
    if (census.nodes <= limits.nodes) {
      this.#compare(checks);
      this.#checkIds(checks);
    }
    const compiled = this.#isClean ? this.#compile(runsOn, values) : undefined;
    this.#reportExitAlias();
    const analysis = {
      ...NO_ANALYSIS,
      nodeCount: census.nodes,
      conditionCount: census.entryConditions + census.exitConditions,
      timeframes,
      ...costOf(checks.checked),
      ...compiled,
    };
    return { ast: compiled === undefined ? null : this.#read.ast, analysis };
  }

  readonly #pointerOf: PointerOf = (owner, ...member) =>
    pointerTo(this.#read.places.get(owner) ?? `/${this.#member}`, ...member);

  get #isClean(): boolean {
    return this.#context.log.errorCount === this.#errorsBefore;
  }

  #checkParams(): ParamValues {
    const { log } = this.#context;
    checkParams(this.#params, log, this.#pointerOf);
    checkParamUses(this.#read.paramUses, this.#paramsByName(), log);
    return resolveParams(this.#params, {}, log);
  }

  #paramsByName(): ReadonlyMap<string, Param> {
    return new Map(this.#params.map((param) => [param.name, param]));
  }

  #checkDefaults(): void {
    const { defaults } = this.#strategy;
    if (!isMembers(defaults)) return;
    const { timezone, instrument } = defaults;
    const { knownSymbols, log } = this.#context;
    if (typeof timezone === 'string') checkTimezone(timezone, this.#pointerOf(defaults, 'timezone'), log);
    const symbol = isMembers(instrument) ? instrument.symbol : undefined;
    if (typeof symbol === 'string' && knownSymbols?.has(symbol) === false) {
      reportSymbol(symbol, this.#pointerOf(defaults, 'instrument', 'symbol'), knownSymbols, log);
    }
  }

  #checkExpressions(): ExpressionChecks {
    const { log, knownSymbols, unavailableKinds = UNAVAILABLE_KINDS } = this.#context;
    const checks = new ExpressionChecks({
      log,
      pointerOf: this.#pointerOf,
      faulty: this.#read.faulty,
      params: this.#paramsByName(),
      baseTimeframe: this.#base,
      knownSymbols,
      unavailableKinds,
    });
    for (const { expression } of this.#roots) checks.check(expression);
    for (const node of this.#read.nodes ?? []) if (typeOfKind(node.kind) !== undefined) checks.check(node);
    return checks;
  }

  /** A graph's nodes are counted as its author listed them: numbers in place of a reference are none. */
  #census(): Census {
    const of = (...roles: Root['role'][]): Expression[] =>
      this.#roots.filter(({ role }) => roles.includes(role)).map(({ expression }) => expression);
    const all = [...this.#roots.map(({ expression }) => expression), ...(this.#read.nodes ?? [])];
    const census = countExpressions(of('setup', 'trigger', 'filter'), of('exit'), all, this.#exits.length);
    return { ...census, nodes: this.#read.nodes?.length ?? census.nodes };
  }

  #checkLimits(census: Census, limits: LanguageLimits): void {
    const root = `/${this.#member}`;
    const nodes = this.#read.nodes === null ? `${root}/strategy` : `${root}/nodes`;
    const places = { root, nodes, entry: `${root}/strategy/entry`, exits: `${root}/strategy/exits` };
    checkLimits(census, limits, places, this.#context.log);
  }

  /** Warnings that come from comparing what expressions are: only sound ones are compared. */
  #compare(checks: ExpressionChecks): void {
    const keyOf = contentKeys();
    checks.checkComparisons(keyOf);
    const conjunctions = new Conjunctions({
      log: this.#context.log,
      pointerOf: this.#pointerOf,
      keyOf,
      isSound: checks.isSound,
      params: this.#params,
    });
    for (const entry of this.#entries) conjunctions.checkEntry(entry);
    for (const exit of this.#exits) conjunctions.checkExit(exit);
    for (const expression of checks.checked) {
      const isCondition = typeOfKind(expression.kind) === 'condition';
      if (isCondition && checks.isSound(expression)) conjunctions.checkLeaf(expression as Condition);
    }
  }

  #compile(base: Timeframe, values: ParamValues): { inferredLookback: number; recommendedWarmup: number } | undefined {
    const { log, settings } = this.#context;
    const { ast } = this.#read;
    const rules = concreteRules(ast, values, log, this.#pointerOf);
    if (!this.#isClean) return undefined;
    const strategy = runnableStrategy(rules, ast, settings);
    const inferredLookback = inferLookback(strategy, base);
    if (strategy.warmupBars !== null && strategy.warmupBars < inferredLookback) {
      const isSetting = settings.warmupPeriod !== undefined;
      const path = isSetting ? '/settings/warmupPeriod' : this.#pointerOf(ast.strategy.defaults!, 'warmupBars');
      log.add('WARMUP_TOO_SHORT', path, {
        message: `a warm-up of ${strategy.warmupBars} bars is shorter than the ${inferredLookback} that the strategy looks back`,
        suggestion: `use ${inferredLookback}, or leave it out`,
        patch: [{ op: 'replace', path, value: inferredLookback }],
      });
    }
    return { inferredLookback, recommendedWarmup: Math.max(inferredLookback, inferLookback(strategy, base, true)) };
  }

  /** In an AST one id may stand on equal expressions (a graph's node used twice), not on different ones. */
  #checkIds(checks: ExpressionChecks): void {
    if (this.#member === 'signalGraph') return;
    const keyOf = contentKeys();
    const keys = new Map<string, number>();
    const seen = new Set<Expression>();
    const stack = this.#roots.map(({ expression }) => expression).reverse();
    while (stack.length > 0) {
      const node = stack.pop()!;
      if (seen.has(node)) continue;
      seen.add(node);
      stack.push(...childrenOf(node).reverse());
      if (node.id === undefined || !checks.isSound(node)) continue;
      const key = keyOf(node);
      const first = keys.get(node.id);
      if (first === undefined) keys.set(node.id, key);
      else if (first !== key) {
        this.#context.log.add('NODE_ID_DUPLICATE', this.#pointerOf(node, 'id'), {
          message: `another, different node has the id ${JSON.stringify(node.id)}`,
          suggestion: 'give every node its own id',
        });
      }
    }
  }

  /** Last of all, so that its patch moves what the others have repaired. */
  #reportExitAlias(): void {
    const strategy = this.#strategy;
    if (!isMembers(strategy.exit)) return;
    const [from, exits] = [this.#pointerOf(strategy, 'exit'), this.#pointerOf(strategy, 'exits')];
    const list = Array.isArray(strategy.exits) ? [] : [{ op: 'add', path: exits, value: [] } as const];
    this.#context.log.add('ALIAS_USED', from, {
      message: 'exit is another way to write exits with one element',
      suggestion: 'write "exits": [ … ]',
      patch: [...list, { op: 'move', from, path: `${exits}/-` }],
    });
  }
}

/** Equal numbers for expressions that mean the same, as written with their params. */
function contentKeys(): KeyOf {
  const canonicaliser = new Canonicaliser({ keepNames: false, params: null, timezone: 'UTC' });
  const index = new ContentIndex();
  return (expression) => index.keyOf(canonicaliser.expression(expression));
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
