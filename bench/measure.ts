// Measurements: what every suite reports, and how it is printed. A task's name ends with the number of bars (or calls,
// or runs) per round.
import type { Bench } from 'tinybench';

export interface Measure {
  readonly task: string;
  readonly unit: Unit;
  /** Units per round. */
  readonly count: number;
  /** Nanoseconds per unit in the best round. */
  readonly ns: number;
  readonly rounds: number;
}
export type Unit = 'bar' | 'call' | 'run';

/** @throws Error when a task failed, because a bench that measures nothing must not look fast. */
export async function measure(bench: Bench, unit: Unit = 'bar'): Promise<Measure[]> {
  await bench.run();
  return bench.tasks.map(({ name, result }) => {
    if (result.state !== 'completed') {
      throw new Error(`${name} did not complete: ${result.state}`, {
        cause: 'error' in result ? result.error : undefined,
      });
    }
    const { min, samplesCount } = result.latency;
    const count = Number(/\/(\d+)$/.exec(name)?.[1] ?? NaN);
    if (!Number.isInteger(count)) throw new Error(`${name} does not say how many ${unit}s a round has.`);
    return { task: name, unit, count, ns: (min * 1e6) / count, rounds: samplesCount };
  });
}

export function printMeasures(measures: readonly Measure[], isJson = process.argv.includes('--json')): void {
  if (isJson) console.log(JSON.stringify(measures));
  else for (const { task, unit, ns } of measures) console.log(`${task.padEnd(56)} ${format(ns)} ns/${unit}`);
}

const format = (ns: number): string => ns.toFixed(ns < 100 ? 2 : 0).padStart(10);
