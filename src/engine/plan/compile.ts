// Compiling: a runnable strategy to a Plan. Stateless expressions become columns; what reads state is kept apart for the fill loop.
import { typeOfKind } from '../language/shapes.ts';
import type { Concrete, Condition, Entry, Exit, RunnableStrategy, Value } from '../language/ast.ts';
import { PlanBuilder, sameFrame } from './builder.ts';
import { belowOf, StateReaders, type Node } from './stateReaders.ts';
import { ExpressionCompiler } from './expressions.ts';
import type {
  Frame, NamedNode, Plan, PlannedCondition, PlannedEntry, PlannedExit, PlannedRisk, PlannedValue, RuleNode, RuleRole, Slot, StatefulExpression,
} from './plan.ts'; // prettier-ignore
import { describe } from './text.ts';

type B = Concrete<Condition>;
type V = Concrete<Value>;

export interface CompileOptions {
  /** ATR period of volatility-scaled slippage by atr_pct; null: no such slippage. */
  readonly slippageAtrPeriod: number | null;
  /** Also note every rule and named node (rule statistics, samples); sweeps keep only the roots. */
  readonly keepRules: boolean;
}

/** @throws Error only on a strategy that validation would not have let through. */
export function compilePlan(strategy: RunnableStrategy, base: Frame, options: CompileOptions): Plan {
  return new StrategyCompiler(strategy, base, options).compile();
}

/** A rule's parts in reading order: setup, trigger, filters. */
function entryParts(entry: Concrete<Entry>): { role: RuleRole; pointer: string; condition: B }[] {
  return [
    ...(entry.setup ? [{ role: 'setup' as const, pointer: '/setup', condition: entry.setup }] : []),
    { role: 'trigger' as const, pointer: '/trigger', condition: entry.trigger },
    ...(entry.filters ?? []).map((condition, index) => ({
      role: 'filter' as const,
      pointer: `/filters/${index}`,
      condition,
    })),
  ];
}

class StrategyCompiler {
  readonly #strategy: RunnableStrategy;
  readonly #options: CompileOptions;
  readonly #builder: PlanBuilder;
  readonly #expressions: ExpressionCompiler;
  readonly #stateReaders = new StateReaders();
  readonly #rules: RuleNode[] = [];
  readonly #named = new Map<string, NamedNode>();

  constructor(strategy: RunnableStrategy, base: Frame, options: CompileOptions) {
    this.#strategy = strategy;
    this.#options = options;
    this.#builder = new PlanBuilder(base);
    this.#expressions = new ExpressionCompiler(this.#builder, strategy.timezone);
  }

  compile(): Plan {
    const { entries, exits } = this.#strategy;
    const base = this.#builder.base;
    const plannedEntries = entries.map((entry, index) => this.#entry(entry, index));
    const plannedExits = exits.map((exit, index) => this.#exit(exit, index));
    const risk = this.#risk();
    const slippageAtr = this.#options.slippageAtrPeriod === null ? null : this.#atr(this.#options.slippageAtrPeriod);
    const frames: Frame[] = [];
    for (const { frame } of this.#builder.steps) {
      if (!sameFrame(frame, base) && !frames.some((known) => sameFrame(known, frame))) frames.push(frame);
    }
    const { steps } = this.#builder;
    const named = [...this.#named.values()];
    return {
      base,
      steps,
      entries: plannedEntries,
      exits: plannedExits,
      risk,
      slippageAtr,
      rules: this.#rules,
      named,
      frames,
    };
  }

  #entry(entry: Concrete<Entry>, index: number): PlannedEntry {
    const parts = entryParts(entry);
    const path = `/strategy/entry/${index}`;
    const condition = this.#rule(parts.map((part) => part.condition));
    if (this.#options.keepRules) {
      for (const part of parts) this.#note(part.condition, `${path}${part.pointer}`, part.role, index, null, true);
    }
    const { order, sizing } = entry.action;
    return {
      id: entry.id ?? path,
      condition,
      price: order && order.type !== 'market' ? this.#price(order.price) : null,
      sizingAtr: sizing.mode === 'volatility_target' ? this.#atr(sizing.atrPeriod ?? 14) : null,
    };
  }

  #exit(exit: Concrete<Exit>, index: number): PlannedExit {
    const path = `/strategy/exits/${index}`;
    const condition = this.#rule([exit.when]);
    if (this.#options.keepRules) this.#note(exit.when, `${path}/when`, 'exit', index, null, true);
    return { id: exit.id ?? path, condition };
  }

  /** The conjunction of `parts`: one column, or a gate of its stateless conjuncts and the rest for the loop. */
  #rule(parts: readonly B[]): PlannedCondition {
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

  #stateful<E extends B | V>(expression: E): StatefulExpression<E> {
    const slots = new Map<object, Slot>();
    const visit = (node: Node): void => {
      if (slots.has(node)) return;
      if (!this.#stateReaders.has(node)) slots.set(node, this.#column(node));
      else for (const child of belowOf(node)) visit(child.node);
    };
    visit(expression);
    return { expression, slots };
  }

  #column(node: Node): Slot {
    const base = this.#builder.base;
    return isCondition(node) ? this.#expressions.condition(node, base) : this.#expressions.valueOn(node, base);
  }

  #price(value: V): PlannedValue {
    if (this.#stateReaders.has(value)) return { kind: 'stateful', expression: this.#stateful(value) };
    const slot = this.#expressions.valueOn(value, this.#builder.base);
    const constant = this.#builder.numberAt(slot);
    return constant === undefined ? { kind: 'column', slot } : { kind: 'constant', value: constant };
  }

  #atr(period: number): Slot {
    return this.#expressions.value(
      { kind: 'indicator', indicator: 'atr', args: { length: period } },
      this.#builder.base,
    );
  }

  #risk(): PlannedRisk {
    const { stopLoss, takeProfits, trailingStop } = this.#strategy.risk;
    return {
      stopAtr: stopLoss?.mode === 'atr' ? this.#atr(stopLoss.period) : null,
      stopPrice: stopLoss?.mode === 'price' ? this.#price(stopLoss.value) : null,
      targets: (takeProfits ?? []).map(({ triggerAtr, triggerPrice }) => ({
        atr: triggerAtr ? this.#atr(triggerAtr.period) : null,
        price: triggerPrice ? this.#price(triggerPrice) : null,
      })),
      trailAtr: trailingStop?.distanceAtr ? this.#atr(trailingStop.distanceAtr.period) : null,
    };
  }

  /** Notes a condition and the conditions in it, and every node the author named. */
  #note(node: B, path: string, role: RuleRole, rule: number, parent: number | null, isConjunct: boolean): void {
    const isStateful = this.#stateReaders.has(node);
    const side = (value: V): Slot | null => (isStateful ? null : this.#expressions.valueOn(value, this.#builder.base));
    const hasSides = node.kind === 'compare' || node.kind === 'cross' || node.kind === 'near';
    const index = this.#rules.length;
    if (index >= MAX_RULE_NODES) return;
    this.#rules.push({
      nodeId: node.id ?? path,
      path,
      role,
      kind: node.kind,
      text: describe(node),
      rule,
      parent,
      isConjunct,
      slot: isStateful ? null : this.#expressions.condition(node, this.#builder.base),
      expression: node,
      left: hasSides ? side(node.left) : null,
      right: hasSides ? side(node.right) : null,
    });
    for (const child of belowOf(node)) {
      const childPath = `${path}${child.pointer}`;
      if (isCondition(child.node)) this.#note(child.node, childPath, role, rule, index, isConjunct && isAll(node));
      else this.#noteValue(child.node, new Set());
    }
    if (node.id !== undefined && !isStateful) this.#name(node.id, node, 'condition');
  }

  #noteValue(node: Node, seen: Set<object>): void {
    if (seen.has(node) || this.#named.size >= MAX_RULE_NODES) return;
    seen.add(node);
    if (node.id !== undefined && !this.#stateReaders.has(node))
      this.#name(node.id, node, isCondition(node) ? 'condition' : 'value');
    for (const child of belowOf(node)) this.#noteValue(child.node, seen);
  }

  #name(nodeId: string, node: Node, type: 'value' | 'condition'): void {
    if (!this.#named.has(nodeId))
      this.#named.set(nodeId, { nodeId, text: describe(node), type, slot: this.#column(node) });
  }
}

/** The pro tier's node limit; a graph that shares nodes can unfold to more, which are then not told apart. */
const MAX_RULE_NODES = 1024;

const isAll = (node: B): node is B & { kind: 'all' | 'and' } => node.kind === 'all' || node.kind === 'and';
const flattenAll = (node: B): B[] => (isAll(node) ? node.items.flatMap(flattenAll) : [node]);

const isCondition = (node: Node): node is B => typeOfKind(node.kind) === 'condition';
