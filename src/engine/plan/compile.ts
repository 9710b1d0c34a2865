// Compiling a runnable strategy to a Plan: stateless expressions become columns, those over state stay for the loop.
import { conditionKind, joinOf, runnableValueKind } from '../definitions/expressions/expressionRegistry.ts';
import type { ValueChild } from '../definitions/expressions/places.ts';
import type {
  RunnableAllocation,
  RunnableCondition,
  RunnableEntry,
  RunnableExit,
  RunnableExpression,
  RunnableNodes,
  RunnableStrategy,
  RunnableValue,
} from '../language/grammar/ast.ts';
import { textOf } from '../language/grammar/nodeTexts.ts';
import { isCondition } from '../language/grammar/shapes.ts';
import { childrenOf, childSlots, rootsOf } from '../language/grammar/visit.ts';
import { distanceLevel, stopLevel, triggerLevel, type WrittenLevel } from '../language/grammar/writtenLevels.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import { pointerTo } from '../language/pointer.ts';
import { PlanBuilder, sameFrame } from './builder.ts';
import { allocationParts, entryParts } from './ruleConditions.ts';
import { StateReaders } from './stateReaders.ts';
import { ExpressionCompiler } from './expressionSteps.ts';
import type {
  Frame,
  NamedNode,
  Plan,
  PlannedAllocation,
  PlannedCondition,
  PlannedEntry,
  PlannedExit,
  PlannedLeg,
  PlannedLevel,
  PlannedRisk,
  PlannedValue,
  ConditionNode,
  ConditionRole,
  Slot,
  StatefulExpression,
} from './plan.ts';

export interface CompileOptions {
  /** The place of an expression or rule of the strategy in the payload as sent. */
  readonly pointerOf: (made: object) => string;
  /** The ATR period of volatility-scaled slippage by atr_pct; null when there is no such slippage. */
  readonly slippageAtrPeriod: number | null;
  /** Also record every condition and named node, for rule statistics and samples. A sweep needs neither. */
  readonly recordsConditions: boolean;
  /** How texts are written, where that is not `textOf`. */
  readonly textOf?: (node: RunnableExpression) => string;
}

/**
 * @param base the run's own bars
 * @throws Error only for a strategy that validation would have rejected
 */
export function compilePlan(strategy: RunnableStrategy, base: SeriesName, options: CompileOptions): Plan {
  return new StrategyCompiler(strategy, base, options).compile();
}

class StrategyCompiler {
  readonly #strategy: RunnableStrategy;
  readonly #options: CompileOptions;
  readonly #textOf: (node: RunnableExpression) => string;
  readonly #builder: PlanBuilder;
  readonly #expressions: ExpressionCompiler;
  readonly #stateReaders = new StateReaders();
  readonly #conditions: ConditionNode[] = [];
  readonly #named = new Map<string, NamedNode>();
  readonly #compared = new Map<string, NamedNode>();

  constructor(strategy: RunnableStrategy, base: SeriesName, options: CompileOptions) {
    this.#strategy = strategy;
    this.#options = options;
    this.#textOf = options.textOf ?? textOf;
    this.#builder = new PlanBuilder({ symbol: null, timeframe: base.timeframe });
    this.#expressions = new ExpressionCompiler(this.#builder, strategy.timezone, base.symbol);
  }

  compile(): Plan {
    const { entries, exits, allocation } = this.#strategy;
    const base = this.#builder.base;
    const plannedEntries = entries.map((entry, index) => this.#entry(entry, index));
    const plannedExits = exits.map((exit, index) => this.#exit(exit, index));
    const plannedAllocation = allocation === null ? null : this.#allocation(allocation);
    const risk = this.#risk();
    const slippageAtr = this.#options.slippageAtrPeriod === null ? null : this.#atr(this.#options.slippageAtrPeriod);
    const frames: Frame[] = [];
    for (const { frame } of this.#builder.steps) {
      if (!sameFrame(frame, base) && !frames.some((known) => sameFrame(known, frame))) frames.push(frame);
    }
    const { steps } = this.#builder;
    const named = [...this.#named.values()];
    const compared = [...this.#compared.values()];
    return {
      base,
      steps,
      entries: plannedEntries,
      exits: plannedExits,
      allocation: plannedAllocation,
      risk,
      slippageAtr,
      conditions: this.#conditions,
      named,
      compared,
      frames,
    };
  }

  #entry(entry: RunnableEntry, index: number): PlannedEntry {
    const parts = entryParts(entry);
    const condition = this.#conjunction(parts.map((part) => part.condition));
    if (this.#options.recordsConditions)
      for (const part of parts) this.#recordCondition(part.condition, part.role, index, null, true);
    const { order, sizing } = entry.action;
    return {
      id: entry.id ?? this.#options.pointerOf(entry),
      condition,
      price: order.type !== 'market' ? this.#number(order.price) : null,
      rank: entry.rank === undefined ? null : this.#number(entry.rank),
      sizingAtr: 'atrPeriod' in sizing ? this.#atr(sizing.atrPeriod) : null,
    };
  }

  #exit(exit: RunnableExit, index: number): PlannedExit {
    const condition = this.#conjunction([exit.when]);
    if (this.#options.recordsConditions) this.#recordCondition(exit.when, 'exit', index, null, true);
    return { id: exit.id ?? this.#options.pointerOf(exit), condition };
  }

  /** Nothing in an allocation reads state, so that all of it is columns. */
  #allocation(allocation: RunnableAllocation): PlannedAllocation {
    const { when, long, short, weights } = allocation;
    const { grossPercent } = weights;
    if (this.#options.recordsConditions) this.#recordAllocation(allocation);
    return {
      id: allocation.id ?? this.#options.pointerOf(allocation),
      when: this.#column(when),
      long: long === undefined ? null : this.#leg(long),
      short: short === undefined ? null : this.#leg(short),
      weightBy: 'by' in weights ? this.#number(weights.by) : null,
      gross: typeof grossPercent === 'number' ? { kind: 'constant', value: grossPercent } : this.#number(grossPercent),
    };
  }

  #leg({ by, where, require }: NonNullable<RunnableAllocation['long' | 'short']>): PlannedLeg {
    return {
      by: by === undefined ? null : this.#number(by),
      where: where === undefined ? null : this.#column(where),
      require: require === undefined ? null : this.#column(require),
    };
  }

  /** The conjunction of `parts`: one column, or a gate of its stateless conjuncts and the rest for the fill loop. */
  #conjunction(parts: readonly RunnableCondition[]): PlannedCondition {
    const base = this.#builder.base;
    const conjuncts = parts.flatMap(flattenAll);
    const stateless = conjuncts
      .filter((part) => !this.#stateReaders.has(part))
      .map((part) => this.#expressions.condition(part, base));
    const stateful = conjuncts.filter((part) => this.#stateReaders.has(part));
    const gate =
      stateless.length > 1
        ? this.#builder.condition({ op: 'all' }, [...new Set(stateless)], base)
        : (stateless[0] ?? null);
    if (stateful.length === 0) return { kind: 'column', slot: gate };
    return { kind: 'stateful', gate, conjuncts: stateful.map((part) => this.#stateful(part)) };
  }

  #stateful<E extends RunnableExpression>(expression: E): StatefulExpression<E> {
    const slots = new Map<object, Slot>();
    const visit = (node: RunnableExpression): void => {
      if (slots.has(node)) return;
      if (!this.#stateReaders.has(node)) slots.set(node, this.#column(node));
      else for (const child of childrenOf(node)) visit(child);
    };
    visit(expression);
    return { expression, slots };
  }

  #column(node: RunnableExpression): Slot {
    const base = this.#builder.base;
    return isCondition(node) ? this.#expressions.condition(node, base) : this.#expressions.valueOn(node, base);
  }

  #number(value: RunnableValue): PlannedValue {
    if (this.#stateReaders.has(value)) return { kind: 'stateful', expression: this.#stateful(value) };
    const slot = this.#expressions.valueOn(value, this.#builder.base);
    const constant = this.#builder.numberAt(slot);
    return constant === undefined ? { kind: 'column', slot } : { kind: 'constant', value: constant };
  }

  #atr(period: number): Slot {
    const atr: RunnableNodes['indicator'] = {
      kind: 'indicator',
      indicator: 'atr',
      args: { length: period },
      output: 'value',
      offset: 0,
    };
    return this.#expressions.value(atr, this.#builder.base);
  }

  #risk(): PlannedRisk {
    const { risk } = this.#strategy;
    const { stopLoss, takeProfits, trailingStop } = risk;
    const path = takeProfits.length === 0 ? '' : this.#options.pointerOf(risk);
    return {
      stop: stopLoss ? this.#level(stopLevel(stopLoss)) : null,
      targets: takeProfits.map((target, index) => ({
        path: pointerTo(path, 'takeProfits', index),
        ...this.#level(triggerLevel(target)),
      })),
      trail: trailingStop ? this.#level(distanceLevel(trailingStop)) : null,
    };
  }

  #level({ period, price }: WrittenLevel): PlannedLevel {
    return { atr: period === null ? null : this.#atr(period), price: price === null ? null : this.#number(price) };
  }

  /** Each condition of an allocation is read alone. */
  #recordAllocation(allocation: RunnableAllocation): void {
    for (const [index, { role, condition }] of allocationParts(allocation).entries())
      this.#recordCondition(condition, role, index, null, true);
    for (const { expression } of rootsOf({ entries: [], exits: [], allocation, risk: this.#strategy.risk }))
      this.#recordNamed(expression, new Set());
    for (const leg of [allocation.long, allocation.short]) if (leg?.by !== undefined) this.#recordCompared(leg.by);
  }

  /** Records a condition, the conditions in it, and every node that the author named. */
  #recordCondition(
    node: RunnableCondition,
    role: ConditionRole,
    ruleIndex: number,
    parent: number | null,
    isConjunct: boolean,
  ): void {
    const isStateful = this.#stateReaders.has(node);
    const side = (value: ValueChild): Slot | null =>
      isStateful ? null : this.#expressions.valueOn(value, this.#builder.base);
    const kind = conditionKind(node);
    const sides = kind.sides?.of(node);
    const index = this.#conditions.length;
    if (index >= MAX_CONDITION_NODES) return;
    const path = this.#options.pointerOf(node);
    this.#conditions.push({
      nodeId: node.id ?? path,
      path,
      role,
      kind: node.kind,
      text: this.#textOf(node),
      ruleIndex,
      parent,
      isConjunct,
      slot: isStateful ? null : this.#expressions.condition(node, this.#builder.base),
      expression: node,
      left: sides === undefined ? null : side(sides.left),
      right: sides === undefined ? null : side(sides.right),
    });
    for (const child of childSlots(node)) {
      const { expression } = child;
      if (isCondition(expression)) this.#recordCondition(expression, role, ruleIndex, index, isConjunct && isAll(node));
      else {
        if (kind.hasOwnBars !== true) this.#recordCompared(expression);
        this.#recordNamed(expression, new Set());
      }
    }
    if (node.id !== undefined && !isStateful) this.#name(node.id, node, 'condition');
  }

  /** What a condition reads, by its text: authors need not name every node to see its values. */
  #recordCompared(node: RunnableExpression): void {
    const isShown = node.id === undefined && !isConstant(node) && !this.#stateReaders.has(node);
    if (!isShown || this.#compared.size >= MAX_COMPARED) return;
    const text = this.#textOf(node);
    if (!this.#compared.has(text))
      this.#compared.set(text, { nodeId: text, text, type: 'value', slot: this.#column(node) });
  }

  #recordNamed(node: RunnableExpression, seen: Set<object>): void {
    if (seen.has(node) || this.#named.size >= MAX_CONDITION_NODES) return;
    seen.add(node);
    if (node.id !== undefined && !this.#stateReaders.has(node))
      this.#name(node.id, node, isCondition(node) ? 'condition' : 'value');
    for (const child of childrenOf(node)) this.#recordNamed(child, seen);
  }

  #name(nodeId: string, node: RunnableExpression, type: 'value' | 'condition'): void {
    if (!this.#named.has(nodeId))
      this.#named.set(nodeId, { nodeId, text: this.#textOf(node), type, slot: this.#column(node) });
  }
}

/** The node limit of the largest tier. A graph that shares nodes can unfold to more, which are then not recorded. */
const MAX_CONDITION_NODES = 1024;
/** More values than a reader looks at on one bar. */
const MAX_COMPARED = 32;

/** Whether a node is a number, which is the same on every bar. */
const isConstant = (node: RunnableExpression): boolean =>
  !isCondition(node) && runnableValueKind(node).constant !== undefined;
const isAll = (node: RunnableCondition): boolean => joinOf(node) === 'all';
const flattenAll = (node: RunnableCondition): RunnableCondition[] =>
  isAll(node) ? (childrenOf(node) as RunnableCondition[]).flatMap(flattenAll) : [node];
