// Which steps of a plan read all instruments of a universe, and how.
import { ownValueOperation } from '../definitions/expressions/expressionRegistry.ts';
import type { ComparedInstrument } from '../definitions/expressions/planSteps.ts';
import type { Step } from '../plan/plan.ts';

/** Whether the values of a step depend on all instruments of a universe. */
export const readsInstruments = (step: Step): boolean =>
  step.type === 'value' && ownValueOperation(step.op)?.acrossInstruments !== undefined;

/** Writes the values of such a step on every instrument. @param poll throws when the run is told to stop */
export function compareInstruments(
  step: Step,
  instruments: readonly ComparedInstrument[],
  instantCount: number,
  poll: () => void,
): void {
  ownValueOperation(step.op)!.acrossInstruments!(step, instruments, instantCount, poll);
}
