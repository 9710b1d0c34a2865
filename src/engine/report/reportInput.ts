// What a report is made of: the strategy, its evaluated columns, and what the simulation did with them.
import type { Band } from '../simulate/band.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import type { RunnableStrategy } from '../language/grammar/ast.ts';
import type { BoundRules } from '../evaluate/bindRules.ts';
import type { SimulationInput, SimulationResult } from '../simulate/simulation.ts';

export interface ReportInput {
  readonly strategy: RunnableStrategy;
  readonly evaluated: EvaluatedPlan;
  readonly boundRules: BoundRules;
  readonly simulation: SimulationResult;
  readonly input: SimulationInput;
  /** First row of the range (0 without one): trade rows count bars from it. */
  readonly firstRow: number;
  /** One past the last row of the range. */
  readonly endRow: number;
  readonly warmup: { readonly bars: number; readonly source: 'settings' | 'defaults' | 'inferred' };
  readonly band: Band;
}

/** A simulation and what it was given: all that the flat summary is computed from. */
export type ReportedSimulation = Pick<ReportInput, 'simulation' | 'input'>;
