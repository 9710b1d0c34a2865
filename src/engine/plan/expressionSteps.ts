// From expressions to steps: which bars each node runs on (semantics §1.6, §1.7), and what it computes there.
import { resolveArgs } from '../indicators/arguments.ts';
import type { Args, IndicatorDefinition, InputName } from '../indicators/definition.ts';
import { findIndicator } from '../indicators/registry.ts';
import type { RunnableCondition, RunnableNodes, RunnableValue } from '../language/grammar/ast.ts';
import { findPattern } from '../patterns/patternRegistry.ts';
import { frameText, type PlanBuilder } from './builder.ts';
import type { CompareOp } from '../definitions/words.ts';
import { rollingOperation, rollingWindowOperation, sessionOperation, timeWindowOperation } from './operations.ts';
import type { Frame, Slot } from './plan.ts';

/**
 * Compiles stateless expressions. `ambient` is the frame of nodes without a timeframe: the base, or the frame of the
 * enclosing node whose `timeframe` applies to its whole source. Every object is compiled once, so that a graph with
 * shared nodes takes linear time.
 */
export class ExpressionCompiler {
  readonly builder: PlanBuilder;
  readonly #timezone: string;
  readonly #ownSymbol: string;
  readonly #compiled = new Map<string, Map<object, Slot>>();

  /** @param ownSymbol of the instrument that the run trades */
  constructor(builder: PlanBuilder, timezone: string, ownSymbol: string) {
    this.builder = builder;
    this.#timezone = timezone;
    this.#ownSymbol = ownSymbol;
  }

  /** The value on its own frame. */
  value(expression: RunnableValue, ambient: Frame): Slot {
    return this.#once(expression, ambient, () => this.#value(expression, ambient));
  }

  /** The value as it is known on the bars of `ambient`. */
  valueOn(expression: RunnableValue, ambient: Frame): Slot {
    return this.builder.align(this.value(expression, ambient), ambient);
  }

  /** Conditions always run on the ambient frame. */
  condition(expression: RunnableCondition, ambient: Frame): Slot {
    return this.#once(expression, ambient, () => this.#condition(expression, ambient));
  }

  #once(expression: object, ambient: Frame, compile: () => Slot): Slot {
    const key = frameText(ambient);
    let slots = this.#compiled.get(key);
    if (!slots) this.#compiled.set(key, (slots = new Map()));
    const known = slots.get(expression);
    if (known !== undefined) return known;
    const slot = compile();
    slots.set(expression, slot);
    return slot;
  }

  /** The frame that a node names, or else the one around it. */
  #placed(
    { timeframe, instrument }: { readonly timeframe?: Frame['timeframe']; readonly instrument?: { symbol: string } },
    ambient: Frame,
  ): Frame {
    if (timeframe === undefined && instrument === undefined) return ambient;
    let { symbol } = ambient;
    if (instrument !== undefined) symbol = instrument.symbol === this.#ownSymbol ? null : instrument.symbol;
    return { symbol, timeframe: timeframe ?? ambient.timeframe };
  }

  #value(node: RunnableValue, ambient: Frame): Slot {
    const { builder } = this;
    switch (node.kind) {
      case 'const':
        return builder.constant(node.value);
      case 'market': {
        const column = builder.value({ op: 'field', field: node.field }, [], this.#placed(node, ambient));
        return builder.shift(column, node.offset);
      }
      case 'series':
        return builder.shift(
          builder.value({ op: 'series', name: node.name }, [], this.#placed(node, ambient)),
          node.offset,
        );
      case 'indicator':
        return builder.shift(this.#indicator(node, ambient), node.offset);
      case 'rolling': {
        const source = this.value(node.source, ambient);
        const frame = builder.commonFrame([source]) ?? ambient;
        return builder.shift(builder.value(rollingOperation(node), [source], frame), node.offset);
      }
      case 'math': {
        const operands = node.args.map((arg) => this.value(arg, ambient));
        const frame = builder.commonFrame(operands) ?? ambient;
        return builder.math(
          node.op,
          operands.map((slot) => builder.align(slot, frame)),
          frame,
        );
      }
      case 'shift':
        return builder.shift(this.valueOn(node.source, ambient), node.offset);
      case 'percent_change': {
        const now = this.valueOn(node.source, ambient);
        const then = builder.shift(now, node.bars);
        const ratio = builder.math('div', [builder.math('sub', [now, then], ambient), then], ambient);
        return builder.math('mul', [builder.constant(100), ratio], ambient);
      }
      case 'if': {
        const inputs = [
          this.condition(node.cond, ambient),
          this.valueOn(node.then, ambient),
          this.valueOn(node.else, ambient),
        ];
        return builder.value({ op: 'if' }, inputs, ambient);
      }
      case 'bars_since':
        return builder.value({ op: 'bars_since' }, [this.condition(node.when, ambient)], ambient);
      case 'value_when': {
        const inputs = [this.valueOn(node.value, ambient), this.condition(node.when, ambient)];
        return builder.value({ op: 'value_when', occurrence: node.occurrence }, inputs, ambient);
      }
      case 'capture':
        return builder.value(
          { op: 'capture' },
          [this.valueOn(node.value, ambient), this.condition(node.when, ambient)],
          ambient,
        );
      case 'pivot': {
        const { pivotKind, left, right, occurrence } = node;
        const frame = this.#placed(node, ambient);
        const price = builder.value({ op: 'field', field: pivotKind }, [], frame);
        return builder.value({ op: 'pivot', pivotKind, left, right, occurrence }, [price], frame);
      }
      case 'time':
        return builder.value({ op: 'time', field: node.field, timezone: this.#timezone }, [], ambient);
      case 'state':
        throw new Error('A state node reached the column compiler, which takes stateless expressions only.');
    }
  }

  #indicator(node: RunnableNodes['indicator'], ambient: Frame): Slot {
    const definition = findIndicator(node.indicator);
    if (!definition) throw new Error(`Unknown indicator ${node.indicator} reached the compiler.`);
    const { args } = resolveArgs(definition, node.args);
    const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
    const own = this.#placed(node, ambient);
    const sources = node.sources ?? (node.source === undefined ? [] : [node.source]);
    const compiled = sources.map((source) => this.value(source, own));
    const readsBars = definition.inputs.some((input) => BAR_INPUTS.has(input)) || compiled.length === 0;
    const frame = isPlaced || readsBars ? own : (this.builder.commonFrame(compiled) ?? own);
    let nextSource = 0;
    const inputs = definition.inputs.map((input) => {
      if (BAR_INPUTS.has(input)) return this.builder.value({ op: 'field', field: input as 'close' }, [], frame);
      const slot = compiled[nextSource++];
      return slot === undefined
        ? this.builder.value({ op: 'field', field: 'close' }, [], frame)
        : this.builder.align(slot, frame);
    });
    const output = outputIndex(definition, node.output);
    return this.builder.value(
      { op: 'indicator', definition, args, output, call: callText(definition, args) },
      inputs,
      frame,
    );
  }

  #condition(node: RunnableCondition, ambient: Frame): Slot {
    const { builder } = this;
    switch (node.kind) {
      case 'compare':
        return this.#compare(node.op, node.left, node.right, node.tolerance, ambient);
      case 'near': {
        const inputs = [this.valueOn(node.left, ambient), this.valueOn(node.right, ambient)];
        return builder.condition({ op: 'compare', compare: 'eq', tolerance: node.tolerance }, inputs, ambient);
      }
      case 'between': {
        const atLeast = this.#compare('gte', node.value, node.lower, 0, ambient);
        return builder.condition(
          { op: 'all' },
          [atLeast, this.#compare('lte', node.value, node.upper, 0, ambient)],
          ambient,
        );
      }
      case 'cross': {
        const inputs = [this.valueOn(node.left, ambient), this.valueOn(node.right, ambient)];
        const direction = node.op === 'cross_up' ? 'up' : node.op === 'cross_down' ? 'down' : 'any';
        return this.#within(builder.condition({ op: 'cross', direction }, inputs, ambient), node.within, ambient);
      }
      case 'rising':
      case 'falling': {
        const source = this.value(node.source, ambient);
        const frame = builder.commonFrame([source]) ?? ambient;
        const slot = builder.condition({ op: 'moving', direction: node.kind, bars: node.bars }, [source], frame);
        return builder.alignCondition(slot, ambient);
      }
      case 'pattern':
        return this.#within(this.#pattern(node, ambient), node.within, ambient);
      case 'all':
        return builder.condition(
          { op: 'all' },
          node.items.map((item) => this.condition(item, ambient)),
          ambient,
        );
      case 'any':
        return builder.condition(
          { op: 'any' },
          node.items.map((item) => this.condition(item, ambient)),
          ambient,
        );
      case 'not':
        return builder.condition({ op: 'not' }, [this.condition(node.item, ambient)], ambient);
      case 'time_window':
        return builder.condition(timeWindowOperation(node), [], ambient);
      case 'session':
        return builder.condition(sessionOperation(node), [], ambient);
      case 'sequence': {
        const steps = node.steps.map(({ minBars, maxBars }) => ({ minBars, maxBars: maxBars ?? null }));
        return builder.condition(
          { op: 'sequence', steps },
          node.steps.map((step) => this.condition(step.expr, ambient)),
          ambient,
        );
      }
      case 'rolling_window': {
        const operation = rollingWindowOperation(node);
        return builder.condition(operation, [this.condition(node.expr, ambient)], ambient);
      }
      case 'state_machine': {
        const inputs = [node.set, ...(node.reset ? [node.reset] : [])].map((part) => this.condition(part, ambient));
        const { ttlBars = null, conflictPolicy } = node;
        return builder.condition(
          { op: 'state_machine', ttlBars, conflictPolicy, hasReset: node.reset !== undefined },
          inputs,
          ambient,
        );
      }
    }
  }

  #compare(compare: CompareOp, left: RunnableValue, right: RunnableValue, tolerance: number, ambient: Frame): Slot {
    const inputs = [this.valueOn(left, ambient), this.valueOn(right, ambient)];
    return this.builder.condition({ op: 'compare', compare, tolerance }, inputs, ambient);
  }

  #within(slot: Slot, window: number, ambient: Frame): Slot {
    return window === 1 ? slot : this.builder.condition({ op: 'within', window }, [slot], ambient);
  }

  #pattern(node: RunnableNodes['pattern'], ambient: Frame): Slot {
    const definition = findPattern(node.name);
    if (!definition) throw new Error(`Unknown pattern ${node.name} reached the compiler.`);
    const { builder } = this;
    const frame = this.#placed(node, ambient);
    const args: Args = Object.fromEntries(definition.args.map((arg) => [arg.name, node.args[arg.name]]));
    const inputs = (['open', 'high', 'low', 'close'] as const).map((field) =>
      builder.value({ op: 'field', field }, [], frame),
    );
    const values = builder.shift(builder.value({ op: 'pattern', definition, args }, inputs, frame), node.offset);
    return builder.condition({ op: 'pattern_side', side: node.side }, [builder.align(values, ambient)], ambient);
  }
}

const BAR_INPUTS: ReadonlySet<InputName> = new Set(['open', 'high', 'low', 'close', 'volume', 'time']);

function outputIndex(definition: IndicatorDefinition, output: string): number {
  const index = definition.outputs.findIndex(({ name }) => name === output);
  if (index < 0) throw new Error(`${definition.id} has no output ${output}.`);
  return index;
}

/** `sma(length=10)`: args in the order of the registry. */
const callText = (definition: IndicatorDefinition, args: Args): string =>
  `${definition.id}(${definition.args.map(({ name }) => `${name}=${args[name]}`).join(' ')})`;
