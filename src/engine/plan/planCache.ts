// The plan cache: the variants of a strategy are prepared and compiled once, as a template with slots for the numbers
// of their params.
import { prepareStrategy, type Prepared, type PrepareContext } from '../language/canonical/prepare.ts';
import { IssueLog } from '../language/check/issues.ts';
import { hasSlots } from '../language/canonical/paramSlots.ts';
import { resolveParams } from '../language/canonical/params.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { ResolvedConfig } from '../config.ts';
import type { BacktestTask } from '../task.ts';
import { compilePlan, type CompileOptions } from './compile.ts';
import { planTemplate, type PlannedStrategy, type PlanTemplate } from './planTemplate.ts';

export type Planned = ({ readonly ok: true } & PlannedStrategy) | Extract<Prepared, { readonly ok: false }>;

type PlannedTask = Pick<BacktestTask, 'strategyAst' | 'signalGraph' | 'settings'>;

/** Forms of one strategy that are kept: for other bars, or other values of params that decide the form. */
const MAX_TEMPLATES = 16;

/** What is known of one strategy. */
interface Family {
  /** False: its texts have characters that stand for slots. */
  readonly canHaveSlots: boolean;
  /** The params whose values decide the form. */
  readonly needed: Set<string>;
  /** By everything that decides the form. */
  readonly templates: Map<string, PlanTemplate>;
}

export class PlanCache {
  /** Keyed by the payload, which is never changed once it is checked. */
  readonly #families = new WeakMap<StrategyAst, Family>();
  #compileCount = 0;

  /** How often a plan was compiled. */
  get compileCount(): number {
    return this.#compileCount;
  }

  /** What `prepareStrategy` and `compilePlan` make of a task. */
  plan(task: PlannedTask, config: ResolvedConfig, recordsConditions: boolean): Planned {
    const options = { slippageAtrPeriod: slippageAtrPeriod(config), recordsConditions };
    const context = { timeframe: config.timeframe, ...(task.signalGraph && { signalGraph: task.signalGraph }) };
    const bound = hasMembers(config.overrides) ? undefined : this.#bound(task, config, context, options);
    if (bound !== undefined) return { ok: true, ...bound };
    const prepared = prepareStrategy(task.strategyAst, task.settings, config, context);
    if (!prepared.ok) return prepared;
    const { strategy, pointerOf } = prepared;
    this.#compileCount++;
    return { ok: true, strategy, plan: compilePlan(strategy, baseOf(config), { pointerOf, ...options }) };
  }

  /** Undefined when the strategy has issues with these values, or they give the plan another form. */
  #bound(
    { strategyAst, settings }: PlannedTask,
    config: ResolvedConfig,
    context: PrepareContext,
    options: Pick<CompileOptions, 'slippageAtrPeriod' | 'recordsConditions'>,
  ): PlannedStrategy | undefined {
    const log = new IssueLog();
    const values = resolveParams(strategyAst.strategy.params ?? [], config.params, log);
    if (log.errorCount > 0) return undefined;
    const { canHaveSlots, needed, templates } = this.#family(strategyAst);
    if (!canHaveSlots) return undefined;
    const base = baseOf(config);
    const keyOf = (): string =>
      JSON.stringify([base, settings, options, [...needed].map((name) => [name, values.get(name)])]);
    let template = templates.get(keyOf());
    if (template === undefined) {
      const before = needed.size;
      template = planTemplate(strategyAst, settings, values, needed, context, base, options);
      if (template === undefined) return undefined;
      this.#compileCount++;
      // The keys of the others lack the values that are needed as well.
      if (needed.size > before) templates.clear();
      if (templates.size === MAX_TEMPLATES) templates.delete(templates.keys().next().value!);
      templates.set(keyOf(), template);
    }
    return template.bind(values);
  }

  #family(ast: StrategyAst): Family {
    let family = this.#families.get(ast);
    if (family === undefined) {
      family = {
        canHaveSlots: !hasSlots(JSON.stringify(ast)),
        needed: new Set(stringParams(ast)),
        templates: new Map(),
      };
      this.#families.set(ast, family);
    }
    return family;
  }
}

/** Their values are names, such as the kind of an average. */
const stringParams = (ast: StrategyAst): string[] =>
  (ast.strategy.params ?? []).flatMap(({ name, type }) => (type === 'choice' ? [name] : []));

const baseOf = ({ signalInstrument, timeframe }: ResolvedConfig) => ({ symbol: signalInstrument.symbol, timeframe });

function slippageAtrPeriod({ execution: { slippage } }: ResolvedConfig): number | null {
  return slippage.kind === 'volatility_scaled' && slippage.reference === 'atr_pct' ? (slippage.atrPeriod ?? 14) : null;
}

/** Without a list of the names: there may be thousands. */
function hasMembers(record: object): boolean {
  for (const _ in record) return true;
  return false;
}
