// The builder of a plan: adds equal steps once (hash-consing), folds constants, and aligns columns to other bars.
import { hash } from 'node:crypto';
import { mathOf } from '../kernels/arithmetic.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import { ParamSlot, ParamValueNeeded } from '../language/canonical/paramSlots.ts';
import type { ConditionOperation, ConditionStep, Frame, Slot, Step, ValueOperation, ValueStep } from './plan.ts';

/** Keys longer than this are replaced by their hash, so that a deep graph has short keys. */
const MAX_KEY_LENGTH = 400;

export const sameFrame = (a: Frame, b: Frame): boolean => a.symbol === b.symbol && a.timeframe === b.timeframe;
/** `SPX:1d`; `:1d` of the run's own instrument. */
export const frameText = (frame: Frame): string => `${frame.symbol ?? ''}:${frame.timeframe}`;
/** The series of a frame. @param symbol of the run's own instrument */
export const seriesOf = (frame: Frame, symbol: string): SeriesName => ({ ...frame, symbol: frame.symbol ?? symbol });

export class PlanBuilder {
  readonly base: Frame;
  readonly steps: Step[] = [];
  readonly #slots = new Map<string, Slot>();

  constructor(base: Frame) {
    this.base = base;
  }

  /** The slot of a value step; a new one only if there is no equal step. */
  value(operation: ValueOperation, inputs: readonly Slot[], frame: Frame): Slot {
    const key = stepKey(operationKey(operation), inputs, this.steps, frame);
    return (
      this.#slots.get(key) ??
      this.#push(key, { ...operation, type: 'value', inputs, frame, key, slot: this.steps.length })
    );
  }

  condition(operation: ConditionOperation, inputs: readonly Slot[], frame: Frame): Slot {
    const key = stepKey(operationKey(operation), inputs, this.steps, frame);
    return (
      this.#slots.get(key) ??
      this.#push(key, { ...operation, type: 'condition', inputs, frame, key, slot: this.steps.length })
    );
  }

  constant(value: number): Slot {
    return this.value({ op: 'const', value }, [], this.base);
  }

  /** The number that a slot has on every row; undefined for a column. */
  numberAt(slot: Slot): number | undefined {
    const step = this.steps[slot];
    return step.type === 'value' && step.op === 'const' ? step.value : undefined;
  }

  /** Arithmetic, folded to a constant where every operand is a number. */
  math(math: (ValueOperation & { op: 'math' })['math'], inputs: readonly Slot[], frame: Frame): Slot {
    const numbers = inputs.map((slot) => this.numberAt(slot));
    if (numbers.every((number) => number !== undefined)) {
      const unbound = numbers.filter((number: unknown) => number instanceof ParamSlot);
      if (unbound.length > 0) throw new ParamValueNeeded(unbound as unknown[] as ParamSlot[]);
      return this.constant(mathOf(math, numbers));
    }
    return this.value({ op: 'math', math }, inputs, frame);
  }

  shift(slot: Slot, by: number): Slot {
    if (by === 0 || this.numberAt(slot) !== undefined) return slot;
    const step = this.steps[slot];
    if (step.type === 'value' && step.op === 'shift') return this.shift(step.inputs[0], by + step.by);
    return this.value({ op: 'shift', by }, [slot], step.frame);
  }

  /** The column as it is known at the close of the bars of `frame`. */
  align(slot: Slot, frame: Frame): Slot {
    const step = this.steps[slot];
    if (sameFrame(step.frame, frame) || this.numberAt(slot) !== undefined) return slot;
    return this.value({ op: 'align', from: step.frame }, [slot], frame);
  }

  alignCondition(slot: Slot, frame: Frame): Slot {
    const step = this.steps[slot];
    return sameFrame(step.frame, frame)
      ? slot
      : this.condition({ op: 'align_condition', from: step.frame }, [slot], frame);
  }

  /**
   * The frame that all of these columns share, ignoring constants; undefined when they differ or there is no column.
   */
  commonFrame(slots: readonly Slot[]): Frame | undefined {
    const frames = slots.filter((slot) => this.numberAt(slot) === undefined).map((slot) => this.steps[slot].frame);
    return frames.length > 0 && frames.every((frame) => sameFrame(frame, frames[0])) ? frames[0] : undefined;
  }

  #push(key: string, step: ValueStep | ConditionStep): Slot {
    this.#slots.set(key, step.slot);
    this.steps.push(step);
    return step.slot;
  }
}

/** The key of a step: its operation, the keys of its operands among `steps`, and its bars. */
export function stepKey(
  operation: string,
  inputs: readonly Slot[],
  steps: readonly { readonly key: string }[],
  frame: Frame,
): string {
  if (operation.startsWith('const ')) return operation;
  const where = frameText(frame);
  let operands = '';
  for (let at = 0; at < inputs.length; at++) operands += (at === 0 ? '' : ',') + steps[inputs[at]].key;
  const key = `${operation}[${operands}]@${where}`;
  return key.length <= MAX_KEY_LENGTH ? key : `#${hash('sha256', key)}@${where}`;
}

/** Members of a step that are not parameters of its operation. */
const STEP_MEMBERS: ReadonlySet<string> = new Set(['op', 'type', 'inputs', 'frame', 'key', 'slot']);

/** The operation of a step and its parameters, without the operands. */
export function operationKey(operation: ValueOperation | ConditionOperation): string {
  switch (operation.op) {
    case 'const':
      return `const ${operation.value}`;
    case 'indicator':
      return `${operation.call}.${operation.definition.outputs[operation.output].name}`;
    case 'pattern':
      return `pattern ${operation.definition.id}${JSON.stringify(operation.args)}`;
    default: {
      const parameters = Object.entries(operation).filter(([name]) => !STEP_MEMBERS.has(name));
      const written = parameters.map(
        ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
      );
      return [operation.op, ...written].join(' ');
    }
  }
}
