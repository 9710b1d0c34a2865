// Creep: many small losses, each within the limit of a comparison. Every task's cost, as a multiple of the fixed
// kernel's in the same processes, is stored in referenceCosts.json and shown beside today's.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Compared } from './comparison.ts';

interface ReferenceCosts {
  /** Where the costs were measured: other processors have other ratios. */
  readonly machine: string;
  readonly costs: Readonly<Record<string, number>>;
}

const FILE = join(import.meta.dirname, 'referenceCosts.json');
/** Single tasks vary by 5 to 10 % from day to day; the mean of a suite by less than 3 %. */
const NOTABLE = 1.1;

export const readReferenceCosts = (): ReferenceCosts => JSON.parse(readFileSync(FILE, 'utf8')) as ReferenceCosts;

/** Replaces the costs of these tasks and keeps those of others. */
export function storeReferenceCosts(machine: string, all: readonly Compared[]): void {
  const costs = { ...readReferenceCosts().costs };
  for (const { task, cost } of all) costs[task] = Number(cost.toPrecision(3));
  const sorted = Object.fromEntries(Object.entries(costs).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify({ machine, costs: sorted }, null, 2)}\n`);
}

export interface Creep {
  readonly suite: string;
  readonly tasks: number;
  /** Geometric mean of today's costs over the stored ones. */
  readonly ratio: number;
  readonly isNotable: boolean;
}

/** A line per suite that has stored costs. */
export function creepOf(all: readonly Pick<Compared, 'task' | 'cost'>[], { costs }: ReferenceCosts): readonly Creep[] {
  const known = all.filter(({ task }) => costs[task] !== undefined);
  return [...Map.groupBy(known, ({ task }) => task.split('/', 1)[0])].map(([suite, tasks]) => {
    const logs = tasks.map(({ task, cost }) => Math.log(cost / costs[task]));
    const ratio = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
    return { suite, tasks: tasks.length, ratio, isNotable: ratio > NOTABLE };
  });
}
