// The checks of one payload: its expressions, sections, limits and contradictions, and what it compiles to.
import { TIMEFRAMES, type Timeframe } from '../../bars/bars.ts';
import type { Allocation, Entry, Exit, Expression, Param, Settings, StrategyAst } from '../grammar/ast.ts';
import { Canonicalizer, type ParamValues } from '../canonical/canonicalizer.ts';
import { checkAllocation, checkAllocationWarnings } from './allocationChecks.ts';
import { Conjunctions } from './conjunctions.ts';
import { ContentIndex } from '../canonical/content.ts';
import { costOf } from './cost.ts';
import { ExpressionChecks } from './expressionChecks.ts';
import { checkParamUses, checkTimezone, reportSymbol } from './nameChecks.ts';
import type { KeyOf } from './inferredRanges.ts';
import type { IssueLog } from '../issues/issues.ts';
import { checkParams, resolveParams } from '../canonical/params.ts';
import { pointerTo } from '../pointer.ts';
import { checkPositionReads } from './positionReads.ts';
import { MAX_ROUNDS } from '../issues/repair.ts';
import { readPayload, repairedAt, type PayloadMember, type ReadPayload } from './readPayload.ts';
import { checkSections, checkSectionWarnings, sectionsOf, type PointerOf } from './sectionChecks.ts';
import { runnableSections, runnableStrategy } from './runnable.ts';
import { isCondition, isExpression } from '../grammar/shapes.ts';
import { checkLimits, countExpressions, WIDEST_LIMITS, type Census, type LanguageLimits } from './tierLimits.ts';
import { childrenOf, rootsOf, type Root } from '../grammar/visit.ts';
import { NO_ANALYSIS, timeframesOf, type StrategyAnalysis } from './strategyAnalysis.ts';
import { checkWarmUp, type BarCounts, type WarmUp } from './warmUpCheck.ts';
import { shown } from '../issues/displayNames.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

export interface CheckContext {
  /** What the caller's tier allows; default: the largest tier. */
  readonly limits?: LanguageLimits;
  /** Symbols with market data; when absent, symbols are not checked. */
  readonly knownSymbols?: ReadonlySet<string>;
  /** How many bars there are of a series; when absent, a warm-up is not compared with the data. */
  readonly barsOf?: BarCounts | undefined;
  /** The timeframe the strategy will run on; default: `defaults.timeframe`. */
  readonly baseTimeframe?: Timeframe;
}

export interface CheckedPayload {
  /** null when this payload has errors. */
  readonly ast: StrategyAst | null;
  readonly analysis: StrategyAnalysis;
  /** The place of an object of `ast` in the payload as sent. */
  readonly placeOf: (object: object) => string;
}
interface PayloadContext extends CheckContext {
  readonly settings: Settings;
  readonly log: IssueLog;
}

/**
 * Adds every issue of one payload to the log.
 * @param member what kind of payload it is
 * @param root the place in the request where it stands
 */
export function checkPayload(
  member: PayloadMember,
  payload: unknown,
  context: PayloadContext,
  root = `/${member}`,
): CheckedPayload {
  const { log } = context;
  const errorsBefore = log.errorCount;
  let checked: CheckedPayload = { ast: null, analysis: NO_ANALYSIS, placeOf: () => root };
  let value = payload;
  log.startPayload();
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const read = readPayload(member, value, log, root);
    if (read === undefined) break;
    checked = new PayloadCheck(root, read, context, errorsBefore).run();
    const { repairs } = log;
    if (repairs.length === 0 || !log.keepsErrors) break;
    value = repairedAt(root, read.value, repairs, log);
  }
  return checked;
}

/**
 * The checks of one payload that has been read. Invalid parts are skipped, so that the valid ones are checked as well.
 */
class PayloadCheck {
  readonly #root: string;
  readonly #read: ReadPayload;
  readonly #context: PayloadContext;
  readonly #errorsBefore: number;
  readonly #strategy: Members;
  readonly #params: readonly Param[];
  /** Params whose declaration has an issue, so that their uses have none. */
  readonly #faultyParams: ReadonlySet<unknown>;
  readonly #base: Timeframe | undefined;
  readonly #entries: readonly Entry[];
  readonly #exits: readonly Exit[];
  readonly #roots: readonly Root[];

  constructor(root: string, read: ReadPayload, context: PayloadContext, errorsBefore: number) {
    const { ast, invalid } = read;
    this.#root = root;
    this.#read = read;
    this.#context = context;
    this.#errorsBefore = errorsBefore;
    const strategy: Record<string, unknown> = isMembers(ast.strategy) ? ast.strategy : {};
    this.#strategy = strategy;
    const params: unknown[] = Array.isArray(strategy.params) ? strategy.params : [];
    this.#params = params.filter((one) => isMembers(one) && !invalid.has(one)) as Param[];
    this.#faultyParams = new Set(params.map((one) => (isMembers(one) && invalid.has(one) ? one.name : undefined)));
    const named = isMembers(strategy.defaults) ? strategy.defaults.timeframe : undefined;
    this.#base = context.baseTimeframe ?? TIMEFRAMES.find((timeframe) => timeframe === named);
    const { entries, exits, risk } = sectionsOf(strategy);
    this.#entries = entries as unknown as Entry[];
    this.#exits = exits as unknown as Exit[];
    const allocation = isMembers(strategy.allocation) ? (strategy.allocation as unknown as Allocation) : undefined;
    this.#roots = rootsOf({ entries: this.#entries, exits: this.#exits, allocation, risk });
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
    checkSections(sections, rules);
    checkSectionWarnings(sections, runsOn, this.#strategy, rules);
    checkAllocation(this.#strategy, rules);
    checkAllocationWarnings(this.#strategy, rules);
    // A payload over the limit is rejected anyway, and comparing all of its nodes would take long.
    if (census.nodes <= limits.nodes) {
      this.#compareExpressions(checks);
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
    return { ast: compiled === undefined ? null : this.#read.ast, analysis, placeOf: this.#pointerOf };
  }

  readonly #pointerOf: PointerOf = (owner, ...member) => {
    const place = this.#read.places.get(owner) ?? this.#root;
    // A graph writes {"const": 30} for the node {"kind": "const", "value": 30}.
    const isInline = this.#read.inline.has(owner) && member.length > 0;
    return isInline ? pointerTo(place, member[0] === 'value' ? 'const' : 'param') : pointerTo(place, ...member);
  };

  get #isClean(): boolean {
    return this.#context.log.errorCount === this.#errorsBefore;
  }

  #checkParams(): ParamValues {
    const { log } = this.#context;
    checkParams(this.#params, log, this.#pointerOf);
    checkParamUses(this.#read.paramUses, this.#paramsByName(), this.#faultyParams, log);
    return resolveParams(this.#params, {}, log);
  }

  #paramsByName(): ReadonlyMap<string, Param> {
    return new Map(this.#params.map((param) => [param.name, param]));
  }

  #checkDefaults(): void {
    const { defaults } = this.#strategy;
    if (!isMembers(defaults)) return;
    const { timezone } = defaults;
    const { knownSymbols, log } = this.#context;
    if (typeof timezone === 'string') checkTimezone(timezone, this.#pointerOf(defaults, 'timezone'), log);
    const symbol = this.#tradedSymbol;
    if (symbol !== undefined && knownSymbols?.has(symbol) === false) {
      reportSymbol(symbol, this.#pointerOf(defaults, 'instrument', 'symbol'), knownSymbols, log);
    }
  }

  /** The instrument that `defaults` names, whatever else is wrong with it. */
  get #tradedSymbol(): string | undefined {
    const { defaults } = this.#strategy;
    const instrument = isMembers(defaults) ? defaults.instrument : undefined;
    const symbol = isMembers(instrument) ? instrument.symbol : undefined;
    return typeof symbol === 'string' ? symbol : undefined;
  }

  #checkExpressions(): ExpressionChecks {
    const { log, knownSymbols } = this.#context;
    const checks = new ExpressionChecks({
      log,
      pointerOf: this.#pointerOf,
      invalid: this.#read.invalid,
      params: this.#paramsByName(),
      faultyParams: this.#faultyParams,
      baseTimeframe: this.#base,
      knownSymbols,
      tradedSymbol: this.#tradedSymbol,
    });
    for (const { expression } of this.#roots) checks.check(expression);
    for (const node of this.#read.nodes ?? []) if (isExpression(node)) checks.check(node);
    return checks;
  }

  /** A graph's nodes are counted as its author listed them; a number in place of a reference is not a node. */
  #census(): Census {
    const of = (...roles: Root['role'][]): Expression[] =>
      this.#roots.filter(({ role }) => roles.includes(role)).map(({ expression }) => expression);
    const all = [...this.#roots.map(({ expression }) => expression), ...(this.#read.nodes ?? [])];
    const census = countExpressions(
      of('setup', 'trigger', 'filter', 'allocation'),
      of('exit'),
      all,
      this.#exits.length,
    );
    return { ...census, nodes: this.#read.nodes?.length ?? census.nodes };
  }

  #checkLimits(census: Census, limits: LanguageLimits): void {
    const root = this.#root;
    const nodes = this.#read.nodes === null ? `${root}/strategy` : `${root}/nodes`;
    const entry = this.#strategy.allocation === undefined ? `${root}/strategy/entry` : `${root}/strategy/allocation`;
    const places = { root, nodes, entry, exits: `${root}/strategy/exits` };
    checkLimits(census, limits, places, this.#context.log);
  }

  /** Warnings that come from comparing expressions with each other; invalid ones are left out. */
  #compareExpressions(checks: ExpressionChecks): void {
    const keyOf = newContentKeys();
    checks.checkComparisons(keyOf);
    const conjunctions = new Conjunctions({
      log: this.#context.log,
      pointerOf: this.#pointerOf,
      keyOf,
      isValid: checks.isValid,
      params: this.#params,
    });
    for (const entry of this.#entries) conjunctions.checkEntry(entry);
    for (const exit of this.#exits) conjunctions.checkExit(exit);
    for (const expression of checks.checked) {
      if (isCondition(expression) && checks.isValid(expression)) conjunctions.checkCondition(expression);
    }
  }

  /** The lookback and warm-up of the strategy that the payload compiles to; undefined where that has errors. */
  #compile(base: Timeframe, values: ParamValues): WarmUp | undefined {
    const { log, settings, barsOf } = this.#context;
    const { ast } = this.#read;
    const rules = runnableSections(ast, values, log, this.#pointerOf);
    if (!this.#isClean) return undefined;
    const strategy = runnableStrategy(rules, ast, settings);
    const { maxConcurrentPositions } = strategy;
    checkPositionReads(this.#roots, { log, pointerOf: this.#pointerOf, maxConcurrentPositions });
    return checkWarmUp(ast, strategy, base, {
      log,
      pointerOf: this.#pointerOf,
      isSetting: settings.warmupPeriod !== undefined,
      barsOf,
    });
  }

  /** In an AST, equal expressions may have the same id (a graph's node used twice), different ones may not. */
  #checkIds(checks: ExpressionChecks): void {
    if (this.#read.nodes !== null) return;
    const keyOf = newContentKeys();
    const keys = new Map<string, number>();
    const seen = new Set<Expression>();
    const stack = this.#roots.map(({ expression }) => expression).reverse();
    while (stack.length > 0) {
      const node = stack.pop()!;
      if (seen.has(node)) continue;
      seen.add(node);
      stack.push(...childrenOf(node).reverse());
      if (node.id === undefined || !checks.isValid(node)) continue;
      const key = keyOf(node);
      const first = keys.get(node.id);
      if (first === undefined) keys.set(node.id, key);
      else if (first !== key) {
        this.#context.log.add('NODE_ID_DUPLICATE', this.#pointerOf(node, 'id'), {
          message: `A different node has the id ${shown(node.id)} as well.`,
          suggestion: 'Give every node its own id.',
        });
      }
    }
  }

  /** Reported last, so that its patch moves what the other patches have repaired. */
  #reportExitAlias(): void {
    const strategy = this.#strategy;
    if (!isMembers(strategy.exit)) return;
    const [from, exits] = [this.#pointerOf(strategy, 'exit'), this.#pointerOf(strategy, 'exits')];
    const list = Array.isArray(strategy.exits) ? [] : [{ op: 'add', path: exits, value: [] } as const];
    this.#context.log.add('ALIAS_USED', from, {
      message: '`exit` is an alias of `exits` with one element.',
      suggestion: 'Write "exits": [ … ].',
      patch: [...list, { op: 'move', from, path: `${exits}/-` }],
    });
  }
}

/** Gives expressions that mean the same an equal number, params left in place. */
function newContentKeys(): KeyOf {
  const canonicalizer = new Canonicalizer({ keepNames: false, params: null, timezone: 'UTC' });
  const index = new ContentIndex();
  // The children of expressions are expressions.
  return (child) => index.keyOf(canonicalizer.expression(child as Expression));
}
