// The plan cache: the variants of a strategy are prepared and compiled once, as a template with slots for the numbers
// of their params and overrides.
import type { ResolvedConfig } from '../../config.ts';
import type { ParamValues } from '../../language/canonical/canonicalizer.ts';
import { namedSymbols } from '../../language/canonical/foreignSeries.ts';
import { hasSlots } from '../../language/canonical/paramSlots.ts';
import { resolveParams } from '../../language/canonical/params.ts';
import type { StrategyAst } from '../../language/grammar/ast.ts';
import { hasMembers } from '../../language/grammar/payloadObjects.ts';
import { IssueLog } from '../../language/issues/issues.ts';
import {
  overriddenPlaces,
  withOverriddenParams,
  type OverriddenPlace,
  type Payload,
} from '../../language/prepare/overriddenParams.ts';
import type { RunInputs } from '../../language/prepare/prepare.ts';
import {
  baseOf,
  compileTask,
  contextOf,
  type Planned,
  type PlannedTask,
  type PlanOptions,
} from '../../plan/planTask.ts';
import { planTemplate, type PlanTemplate } from './planTemplate.ts';

/** Forms of one strategy that are kept: for other timeframes, or other values of params that decide the form. */
const MAX_TEMPLATES = 16;
/** Places of overrides that are kept, each with such forms. */
const MAX_OVERRIDDEN = 8;

/** The forms of one strategy that were planned, and what decides between them. */
interface StrategyForms {
  /** False when its texts contain the characters that mark slots, and for allocations, which have no template. */
  readonly canHaveSlots: boolean;
  /** The instruments that it names: where the run's own is one of them, plans have another form. */
  readonly symbols: ReadonlySet<string>;
  /** The params whose values decide the form. */
  readonly needed: Set<string>;
  /** Templates by everything that decides the form; undefined: seen once, since a template takes longer than a plan. */
  readonly templates: Map<string, PlanTemplate | undefined>;
  /**
   * By the places of overrides, the payload with params in those places; undefined: seen once; null: such runs are
   * planned with their numbers.
   */
  readonly overridden: Map<string, Payload | null | undefined>;
}

export class PlanCache {
  /** Keyed by the payload, which is never changed once it is checked. */
  readonly #strategies = new WeakMap<StrategyAst, StrategyForms>();
  #compileCount = 0;

  /** How often a plan was compiled. */
  get compileCount(): number {
    return this.#compileCount;
  }

  /** What `compileTask` makes of a task. */
  plan(task: PlannedTask, config: ResolvedConfig, options: PlanOptions): Planned {
    return this.#bindTask(task, config, options) ?? this.#compile(config, task, config, options);
  }

  #compile(inputs: RunInputs, task: PlannedTask, config: ResolvedConfig, options: PlanOptions): Planned {
    const planned = compileTask(inputs, task, config, options);
    if (planned.ok) this.#compileCount++;
    return planned;
  }

  /** Undefined when the strategy has issues with these values, or they give the plan another form. */
  #bindTask(task: PlannedTask, config: ResolvedConfig, options: PlanOptions): Planned | undefined {
    const { params, overrides } = config;
    const log = new IssueLog();
    const values = resolveParams(task.strategyAst.strategy.params ?? [], params, log);
    if (log.errorCount > 0) return undefined;
    if (!hasMembers(overrides)) return this.#bindValues(values, task, config, options);
    const places = overriddenPlaces(overrides);
    const payload = this.#payloadWithParams(task, places);
    if (payload === null) return undefined;
    for (const { param, value } of places) values.set(param, value);
    const parametrized = { ...payload, settings: task.settings };
    const bound = this.#bindValues(values, parametrized, config, options);
    if (bound !== undefined) return bound;
    // The plan has another form, but the strategy is not checked again; issues have the places of the overrides.
    const compiled = this.#compile({ params: Object.fromEntries(values) }, parametrized, config, options);
    return compiled.ok ? compiled : undefined;
  }

  /** The payload with params in the overridden places; null the first time: making it takes longer than a plan. */
  #payloadWithParams(task: PlannedTask, places: readonly OverriddenPlace[]): Payload | null {
    const { overridden } = this.#formsOf(task.strategyAst);
    const key = JSON.stringify(places.map(({ pointer, param }) => [pointer, param]));
    let payload = overridden.get(key);
    const isKnown = overridden.delete(key);
    if (isKnown && payload === undefined) payload = withOverriddenParams(task, places) ?? null;
    if (overridden.size === MAX_OVERRIDDEN) overridden.delete(overridden.keys().next().value!);
    // The last one, since it was read last.
    overridden.set(key, payload);
    return payload ?? null;
  }

  #bindValues(
    values: ParamValues,
    task: PlannedTask,
    config: ResolvedConfig,
    options: PlanOptions,
  ): Planned | undefined {
    const { strategyAst, settings } = task;
    const { canHaveSlots, symbols, needed, templates } = this.#formsOf(strategyAst);
    if (!canHaveSlots) return undefined;
    const base = baseOf(config);
    const named = symbols.has(base.symbol) ? base.symbol : null;
    const keyOf = (): string =>
      JSON.stringify([named, base.timeframe, settings, options, [...needed].map((name) => [name, values.get(name)])]);
    let key = keyOf();
    let template = templates.get(key);
    const isKnown = templates.delete(key);
    if (isKnown && template === undefined) {
      const before = needed.size;
      template = planTemplate(strategyAst, settings, values, needed, contextOf(task, config), base, options);
      if (template === undefined) return undefined;
      this.#compileCount++;
      // The keys of the others lack the values that are needed as well.
      if (needed.size > before) templates.clear();
      key = keyOf();
    }
    if (templates.size === MAX_TEMPLATES) templates.delete(templates.keys().next().value!);
    // The last one, since it was read last.
    templates.set(key, template);
    if (template === undefined) return undefined;
    const bound = template.bind(values);
    return bound && { ok: true, ...bound };
  }

  #formsOf(ast: StrategyAst): StrategyForms {
    let forms = this.#strategies.get(ast);
    if (forms === undefined) {
      forms = {
        canHaveSlots: ast.strategy.allocation === undefined && !hasSlots(JSON.stringify(ast)),
        symbols: namedSymbols(ast),
        needed: new Set(stringParams(ast)),
        templates: new Map(),
        overridden: new Map(),
      };
      this.#strategies.set(ast, forms);
    }
    return forms;
  }
}

/** Their values are names, such as the kind of an average. */
const stringParams = (ast: StrategyAst): string[] =>
  (ast.strategy.params ?? []).flatMap(({ name, type }) => (type === 'choice' ? [name] : []));

const plans = new PlanCache();

/** Plans a task with what this thread has planned before. */
export const planFromTemplate = (task: PlannedTask, config: ResolvedConfig, options: PlanOptions): Planned =>
  plans.plan(task, config, options);
