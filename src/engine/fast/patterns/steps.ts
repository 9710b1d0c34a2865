// The steps of a pattern program (steps.wat).
import { instantiate } from '../../kernels/simdMemory.ts';
import { STEPS_WASM } from '../wasm.ts';

interface StepKernels {
  /** See `runSteps` of patterns/programSteps.ts. */
  readonly runSteps: (first: number, end: number, valueSize: number, wordSize: number) => void;
}

export const { runSteps: runStepKernels } = instantiate(STEPS_WASM) as StepKernels;
