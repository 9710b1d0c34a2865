// Expressions to steps: which bars each node runs on (semantics §1.6, §1.7), and what it computes there.
import { resolveArgs } from '../indicators/arguments.ts';
import type { Args, IndicatorDefinition, InputName } from '../indicators/definition.ts';
import { findIndicator } from '../indicators/registry.ts';
import type { Concrete, Condition, IndicatorValue, PatternCondition, Value } from '../language/ast.ts';
import { canonicalField, type SESSIONS } from '../language/words.ts';
import { findPattern } from '../patterns/registry.ts';
import type { PlanBuilder } from './builder.ts';
import type { Frame, Slot } from './plan.ts';

type V = Concrete<Value>;
type B = Concrete<Condition>;

/**
 * Compiles stateless expressions. `ambient` is the frame of nodes that name no timeframe: the base, or that of the enclosing node whose
 * `timeframe` applies to its whole source. Equal objects are compiled once, so a graph lowered to a shared tree stays linear.
 */
export class ExpressionCompiler {
  readonly builder: PlanBuilder;
  readonly #timezone: string;
  readonly #compiled = new Map<string, Map<object, Slot>>();

  constructor(builder: PlanBuilder, timezone: string) {
    this.builder = builder;
    this.#timezone = timezone;
  }

  /** The value on its own frame. */
  value(expression: V, ambient: Frame): Slot {
    return this.#once(expression, ambient, () => this.#value(expression, ambient));
  }

  /** The value as bars of `ambient` see it. */
  valueOn(expression: V, ambient: Frame): Slot {
    return this.builder.align(this.value(expression, ambient), ambient);
  }

  /** Conditions live on the ambient frame. */
  condition(expression: B, ambient: Frame): Slot {
    return this.#once(expression, ambient, () => this.#condition(expression, ambient));
  }

  #once(expression: object, ambient: Frame, compile: () => Slot): Slot {
    const key = `${ambient.symbol}:${ambient.timeframe}`;
    let slots = this.#compiled.get(key);
    if (!slots) this.#compiled.set(key, (slots = new Map()));
    const known = slots.get(expression);
    if (known !== undefined) return known;
    const slot = compile();
    slots.set(expression, slot);
    return slot;
  }

  #value(node: V, ambient: Frame): Slot {
    const { builder } = this;
    switch (node.kind) {
      case 'const':
        return builder.constant(node.value);
      case 'market': {
        const field = canonicalField(node.field);
        return builder.shift(builder.value({ op: 'field', field }, [], placed(node, ambient)), node.offset ?? 0);
      }
      case 'series':
        return builder.shift(
          builder.value({ op: 'series', name: node.name }, [], placed(node, ambient)),
          node.offset ?? 0,
        );
      case 'indicator':
        return builder.shift(this.#indicator(node, ambient), node.offset ?? 0);
      case 'rolling': {
        const source = this.value(node.source, ambient);
        const frame = builder.commonFrame([source]) ?? ambient;
        const operation = {
          op: 'rolling',
          rolling: node.op,
          period: node.period,
          quantile: node.quantile ?? 0.5,
        } as const;
        return builder.shift(builder.value(operation, [source], frame), node.offset ?? 0);
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
        return builder.value({ op: 'value_when', occurrence: node.occurrence ?? 0 }, inputs, ambient);
      }
      case 'capture':
        return builder.value(
          { op: 'capture' },
          [this.valueOn(node.value, ambient), this.condition(node.when, ambient)],
          ambient,
        );
      case 'pivot': {
        const { pivotKind, left, right, occurrence = 0 } = node;
        const frame = placed(node, ambient);
        const price = builder.value({ op: 'field', field: pivotKind }, [], frame);
        return builder.value({ op: 'pivot', pivotKind, left, right, occurrence }, [price], frame);
      }
      case 'time':
        return builder.value({ op: 'time', field: node.field, timezone: this.#timezone }, [], ambient);
      case 'state':
        throw new Error('A state node reached the column compiler: what reads state is kept apart before it.');
    }
  }

  #indicator(node: Concrete<IndicatorValue>, ambient: Frame): Slot {
    const definition = findIndicator(node.indicator);
    if (!definition) throw new Error(`Unknown indicator ${node.indicator} reached the compiler.`);
    const { source: sourceField, ...given } = (node.args ?? {}) as Record<string, number | string | boolean>;
    const { args } = resolveArgs(definition, given);
    const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
    const own = placed(node, ambient);
    const sources =
      node.sources ?? (node.source ? [node.source] : sourceField ? [{ kind: 'market', field: sourceField } as V] : []);
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

  #condition(node: B, ambient: Frame): Slot {
    const { builder } = this;
    switch (node.kind) {
      case 'compare':
        return this.#compare(node.op, node.left, node.right, node.tolerance ?? 0, ambient);
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
      case 'and':
        return builder.condition(
          { op: 'all' },
          node.items.map((item) => this.condition(item, ambient)),
          ambient,
        );
      case 'any':
      case 'or':
        return builder.condition(
          { op: 'any' },
          node.items.map((item) => this.condition(item, ambient)),
          ambient,
        );
      case 'not':
        return builder.condition({ op: 'not' }, [this.condition(node.item, ambient)], ambient);
      case 'time_window':
        return builder.condition(
          { op: 'time_window', window: windowOf(node), timezone: node.timezone ?? this.#timezone },
          [],
          ambient,
        );
      case 'session': {
        const { timezone, ...window } = SESSION_WINDOWS[node.name];
        return builder.condition(
          { op: 'time_window', window: { kind: 'time_window', ...window }, timezone },
          [],
          ambient,
        );
      }
      case 'sequence': {
        const steps = node.steps.map(({ minBars, maxBars }) => ({ minBars: minBars ?? 1, maxBars: maxBars ?? null }));
        return builder.condition(
          { op: 'sequence', steps },
          node.steps.map((step) => this.condition(step.expr, ambient)),
          ambient,
        );
      }
      case 'rolling_window': {
        const { mode, window, value } = node;
        const operation = {
          op: 'rolling_window',
          mode,
          window,
          value: value ?? (mode === 'streak' ? window : 0),
        } as const;
        return builder.condition(operation, [this.condition(node.expr, ambient)], ambient);
      }
      case 'state_machine': {
        const inputs = [node.set, ...(node.reset ? [node.reset] : [])].map((part) => this.condition(part, ambient));
        const { ttlBars = null, conflictPolicy = 'reset' } = node;
        return builder.condition(
          { op: 'state_machine', ttlBars, conflictPolicy, hasReset: node.reset !== undefined },
          inputs,
          ambient,
        );
      }
    }
  }

  #compare(
    compare: 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'neq',
    left: V,
    right: V,
    tolerance: number,
    ambient: Frame,
  ): Slot {
    const inputs = [this.valueOn(left, ambient), this.valueOn(right, ambient)];
    return this.builder.condition({ op: 'compare', compare, tolerance }, inputs, ambient);
  }

  #within(slot: Slot, window: number | undefined, ambient: Frame): Slot {
    return window === undefined || window === 1
      ? slot
      : this.builder.condition({ op: 'within', window }, [slot], ambient);
  }

  #pattern(node: Concrete<PatternCondition>, ambient: Frame): Slot {
    const definition = findPattern(node.name);
    if (!definition) throw new Error(`Unknown pattern ${node.name} reached the compiler.`);
    const { builder } = this;
    const frame = placed(node, ambient);
    const args: Args = Object.fromEntries(
      definition.args.map((arg) => [arg.name, node.args?.[arg.name] ?? arg.default]),
    );
    const inputs = (['open', 'high', 'low', 'close'] as const).map((field) =>
      builder.value({ op: 'field', field }, [], frame),
    );
    const values = builder.shift(builder.value({ op: 'pattern', definition, args }, inputs, frame), node.offset ?? 0);
    return builder.condition(
      { op: 'pattern_side', side: node.side ?? 'any' },
      [builder.align(values, ambient)],
      ambient,
    );
  }
}

const BAR_INPUTS: ReadonlySet<InputName> = new Set(['open', 'high', 'low', 'close', 'volume', 'time']);

/** Session hours (semantics §1.9). */
const SESSION_WINDOWS = {
  tokyo: { timezone: 'Asia/Tokyo', between: { from: '09:00', to: '18:00' } },
  london: { timezone: 'Europe/London', between: { from: '08:00', to: '17:00' } },
  new_york: { timezone: 'America/New_York', between: { from: '08:00', to: '17:00' } },
  us_equities: { timezone: 'America/New_York', between: { from: '09:30', to: '16:00' } },
} as const satisfies Record<(typeof SESSIONS)[number], object>;

function placed(
  node: { readonly timeframe?: Frame['timeframe']; readonly instrument?: { readonly symbol: string } },
  ambient: Frame,
): Frame {
  if (node.timeframe === undefined && node.instrument === undefined) return ambient;
  return { symbol: node.instrument?.symbol ?? ambient.symbol, timeframe: node.timeframe ?? ambient.timeframe };
}

function outputIndex(definition: IndicatorDefinition, output: string | undefined): number {
  const index = output === undefined ? 0 : definition.outputs.findIndex(({ name }) => name === output);
  if (index < 0) throw new Error(`${definition.id} has no output ${output}.`);
  return index;
}

/** `sma(length=10)`: args in the order of the registry. */
const callText = (definition: IndicatorDefinition, args: Args): string =>
  `${definition.id}(${definition.args.map(({ name }) => `${name}=${args[name]}`).join(' ')})`;

/** Only what decides: ids and labels do not make a window another one. */
function windowOf(node: B & { kind: 'time_window' }): B & { kind: 'time_window' } {
  const { weekdays, between, dates } = node;
  return { kind: 'time_window', ...(weekdays && { weekdays }), ...(between && { between }), ...(dates && { dates }) };
}
