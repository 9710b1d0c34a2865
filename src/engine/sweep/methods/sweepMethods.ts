// The registry of sweep methods: requests, messages, shards and draws look up everything about a method here.
import { grid } from './grid.ts';
import { latinHypercube } from './latinHypercube.ts';
import { random } from './random.ts';
import type { SweepMethod } from './sweepMethod.ts';
import { tpe } from './tpe.ts';

/** In the order in which requests and messages list them. */
const METHODS = [grid, random, latinHypercube, tpe] as const;
type SweepMethodName = (typeof METHODS)[number]['name'];
export const SWEEP_METHODS: readonly SweepMethodName[] = METHODS.map(({ name }) => name);

/** The method of a command without `--method`. */
export const DEFAULT_METHOD: SweepMethodName = grid.name;
/** The method that messages suggest for a space of which only a part can be run. */
export const DRAWING_METHOD: SweepMethodName = random.name;

const BY_NAME: ReadonlyMap<SweepMethodName, SweepMethod> = new Map(METHODS.map((method) => [method.name, method]));
export const methodOf = (name: SweepMethodName): SweepMethod => BY_NAME.get(name)!;

/** Whether a sweep runs in rounds, one after the other, each chosen by the results of those before it. */
export const runsInRounds = ({ method }: { readonly method: SweepMethodName }): boolean =>
  methodOf(method).rounds !== null;

/** The names of the methods that visit every point and take no budget. */
export const EXHAUSTIVE_METHODS = SWEEP_METHODS.filter((name) => methodOf(name).refuses.budget !== null);
/** The names of the methods that can draw from a continuous range. */
export const CONTINUOUS_METHODS = SWEEP_METHODS.filter((name) => methodOf(name).refuses.continuous === null);
/** The names of the methods that draw, and whose draws a walk-forward may test. */
export const WALK_FORWARD_METHODS = SWEEP_METHODS.filter(
  (name) => methodOf(name).refuses.walkForward === null && !EXHAUSTIVE_METHODS.includes(name),
);

/** "random, latin_hypercube or tpe". */
export const either = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names[names.length - 1]}`;
