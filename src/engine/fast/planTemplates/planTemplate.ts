// A plan template: a strategy prepared and compiled once, with slots in the places of its params' numbers. The plan of
// one run is a copy with the numbers in it.
import { checkSections, sectionsOf } from '../../language/check/sectionChecks.ts';
import { IssueLog } from '../../language/issues/issues.ts';
import { isParamRef } from '../../language/grammar/shapes.ts';
import type { ParamValues } from '../../language/canonical/canonicalizer.ts';
import type { SeriesName } from '../../language/canonical/foreignSeries.ts';
import { hasSlots, ParamValueNeeded, SlottedText } from '../../language/canonical/paramSlots.ts';
import { prepareWithSlots, type PrepareContext, type SlottedStrategy } from '../../language/prepare/prepare.ts';
import type { RunnableExpression, Settings, StrategyAst } from '../../language/grammar/ast.ts';
import { shortened, wholeTextOf } from '../../language/grammar/nodeTexts.ts';
import { operationKey, stepKey } from '../../plan/builder.ts';
import { compilePlan } from '../../plan/compile.ts';
import type { NamedNode, Plan, Step } from '../../plan/plan.ts';
import type { PlannedStrategy, PlanOptions } from '../../plan/planTask.ts';
import { KeptByNumber, soleSlotOf, type SoleSlot } from './keptByNumber.ts';
import { SlottedCopies, type BoundCopies } from './slottedCopies.ts';

/** A step whose key depends on values: its own, or those of its operands. */
interface SlottedStep {
  readonly step: Step;
  /** `operationKey`; null: the same for all values. */
  readonly operation: string | SlottedText;
  /** The slot that it and its operands depend on. */
  readonly slot: SoleSlot;
  /** Where it is kept with its key, if it has a single slot. */
  readonly place: number;
  /**
   * Whether values may make it equal to another step. Two operations without slots are only equal when their operands
   * are, which then are found to be equal themselves.
   */
  isCompared: boolean;
}

/** What a kept step counts as, its key included, in members. */
const KEYED_STEP_MEMBERS = 64;

/** The text of a node with slots in it; it is shortened once the numbers are in it. */
function slottedText(node: RunnableExpression): string {
  const text = wholeTextOf(node);
  return hasSlots(text) ? text : shortened(text);
}

/**
 * The plan with slots for params, made again as long as one more param turns out to decide its form.
 * @param values what the params stand for in one run
 * @param needed params whose values decide the form of the plan: more are added as they are found
 * @returns undefined when the strategy has issues with these values
 */
export function planTemplate(
  ast: StrategyAst,
  settings: Settings,
  values: ParamValues,
  needed: Set<string>,
  context: PrepareContext,
  base: SeriesName,
  options: PlanOptions,
): PlanTemplate | undefined {
  for (;;) {
    const before = needed.size;
    const slotted = prepareWithSlots(ast, settings, values, needed, context);
    if (slotted === undefined) {
      if (needed.size === before) return undefined;
      continue;
    }
    const { strategy, pointerOf } = slotted;
    try {
      const plan = compilePlan(strategy, base, { pointerOf, textOf: slottedText, ...options });
      return new PlanTemplate(ast, slotted, plan);
    } catch (error) {
      if (!(error instanceof ParamValueNeeded)) throw error;
      for (const name of error.params) needed.add(name);
    }
  }
}

export class PlanTemplate {
  readonly #ast: StrategyAst;
  readonly #slotted: SlottedStrategy;
  readonly #plan: Plan;
  readonly #kept = new KeptByNumber();
  readonly #copies = new SlottedCopies(this.#kept);
  /** Steps in order; null: the same for all values. */
  readonly #steps: readonly (SlottedStep | null)[];
  readonly #fixedKeys: ReadonlySet<string>;
  readonly #fixedTexts: ReadonlySet<string>;
  /** Whether values decide if stops and targets agree with each other. */
  readonly #checksRisk: boolean;

  constructor(ast: StrategyAst, slotted: SlottedStrategy, plan: Plan) {
    this.#ast = ast;
    this.#slotted = slotted;
    this.#plan = plan;
    const { entries, exits, risk } = slotted.strategy;
    for (const part of [entries, exits, risk, ...partsOf(plan)]) this.#copies.add(part);
    const steps: (SlottedStep | null)[] = [];
    for (const step of plan.steps) steps.push(this.#slottedStep(step, steps));
    this.#steps = steps;
    const dependent = steps.filter((each) => each !== null);
    const ops = new Set(dependent.flatMap(({ step, operation }) => (typeof operation === 'string' ? [] : [step.op])));
    for (const each of dependent) each.isCompared = ops.has(each.step.op);
    this.#fixedKeys = new Set(plan.steps.flatMap(({ key }, at) => (steps[at] === null ? [key] : [])));
    this.#fixedTexts = new Set(plan.compared.flatMap(({ text }) => (hasSlots(text) ? [] : [text])));
    this.#checksRisk = hasParams(ast.strategy.risk);
  }

  #slottedStep(step: Step, before: readonly (SlottedStep | null)[]): SlottedStep | null {
    const operation = operationKey(step);
    const isCopied = this.#copies.add(step);
    const slots = step.inputs.flatMap((input) => (before[input] === null ? [] : before[input].slot));
    if (isCopied) slots.push(this.#copies.slotOf(step));
    if (slots.length === 0) return null;
    return {
      step,
      operation: isCopied ? new SlottedText(operation) : operation,
      slot: soleSlotOf(slots),
      place: this.#kept.addPlace(KEYED_STEP_MEMBERS),
      isCompared: true,
    };
  }

  /**
   * The plan of one run; what does not depend on its values is shared with all others.
   * @returns undefined when the plan has another form with these values, or is not valid
   */
  bind(values: ParamValues): PlannedStrategy | undefined {
    const { slots, strategy } = this.#slotted;
    const numbers = slots.numbersOf(values);
    if (!slots.fit(numbers) || (this.#checksRisk && !isRiskValid(this.#ast, values))) return undefined;
    const copies = this.#copies.bind(numbers);
    const steps = this.#boundSteps(copies, numbers);
    const compared = copies.of(this.#plan.compared);
    if (steps === undefined || !this.#areTextsDistinct(compared)) return undefined;
    const { entries, exits, risk, conditions, named } = this.#plan;
    return {
      strategy: {
        ...strategy,
        entries: copies.of(strategy.entries),
        exits: copies.of(strategy.exits),
        risk: copies.of(strategy.risk),
      },
      plan: {
        ...this.#plan,
        steps,
        entries: copies.of(entries),
        exits: copies.of(exits),
        risk: copies.of(risk),
        conditions: copies.of(conditions),
        named: copies.of(named),
        compared,
      },
    };
  }

  /** Undefined when two steps are equal with these values: a plan that is compiled for them has only one. */
  #boundSteps(copies: BoundCopies, numbers: readonly number[]): readonly Step[] | undefined {
    const steps: Step[] = [];
    const keys = new Set<string>();
    for (let at = 0; at < this.#steps.length; at++) {
      const slotted = this.#steps[at];
      if (slotted === null) {
        steps.push(this.#plan.steps[at]);
        continue;
      }
      const step = this.#boundStep(slotted, steps, copies, numbers);
      if (slotted.isCompared) {
        if (this.#fixedKeys.has(step.key) || keys.has(step.key)) return undefined;
        keys.add(step.key);
      }
      steps.push(step);
    }
    return steps;
  }

  #boundStep(
    { step, operation, slot, place }: SlottedStep,
    before: readonly Step[],
    copies: BoundCopies,
    numbers: readonly number[],
  ): Step {
    const known = slot === null ? undefined : this.#kept.get(place, numbers[slot]);
    if (known !== undefined) return known as Step;
    const text = typeof operation === 'string' ? operation : operation.with(numbers);
    const bound = { ...copies.of(step), key: stepKey(text, step.inputs, before, step.frame) };
    if (slot !== null) this.#kept.set(place, numbers[slot], bound);
    return bound;
  }

  /** Values are recorded by their texts: of two with the same text, the first. */
  #areTextsDistinct(compared: readonly NamedNode[]): boolean {
    if (compared === this.#plan.compared) return true;
    const texts = new Set<string>();
    for (let at = 0; at < compared.length; at++) {
      if (compared[at] === this.#plan.compared[at]) continue;
      const { text } = compared[at];
      if (this.#fixedTexts.has(text) || texts.has(text)) return false;
      texts.add(text);
    }
    return true;
  }
}

/** The parts of a plan that are not steps and may have slots. */
const partsOf = ({ entries, exits, risk, conditions, named, compared }: Plan): object[] => [
  entries,
  exits,
  risk,
  conditions,
  named,
  compared,
];

function hasParams(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isParamRef(value) || Object.values(value).some(hasParams);
}

function isRiskValid(ast: StrategyAst, values: ParamValues): boolean {
  const log = new IssueLog();
  checkSections(sectionsOf(ast.strategy), { log, pointerOf: () => '', values });
  return log.errorCount === 0;
}
