// Results of sweeps as files, as `candlepool sweep --json` prints them and the API answers them: what a robustness
// check reads of them.
import { z } from 'zod';
import type { Lineage, LineageSweep } from '../engine/index.ts';
import { CommandError } from './output.ts';
import { readJsonObject } from './strategyFile.ts';

const Metric = z
  .number()
  .nullish()
  .transform((value) => value ?? null);
const SweepFile = z.object({
  verdict: z.object({ code: z.string(), text: z.string() }),
  trials: z.object({ sweep: z.number(), workspace: z.number().nullable() }),
  overfitting: z.object({ trials: z.number(), expectedMaximum: z.number().nullable() }),
  top: z.array(
    z.object({
      rank: z.number(),
      metrics: z.object({ returnPct: Metric, sharpeRatio: Metric, totalPositions: Metric }),
      plateau: z.object({ score: z.number().nullable(), isCliff: z.boolean() }),
    }),
  ),
});

/**
 * The sweeps that a backtest is said to come from, and their trials together.
 * @throws CommandError
 */
export async function readLineage(paths: readonly string[]): Promise<Lineage> {
  const read = await Promise.all(paths.map(readSweep));
  if (read.length === 0) return { trials: null, sweeps: [] };
  return {
    trials: read.reduce((sum, { trials }) => sum + trials, 0),
    sweeps: read.map(({ sweep }) => sweep),
  };
}

async function readSweep(path: string): Promise<{ readonly trials: number; readonly sweep: LineageSweep }> {
  const content = await readJsonObject(path);
  const parsed = SweepFile.safeParse(content.result ?? content);
  if (!parsed.success)
    throw new CommandError(
      `${path} does not hold the result of a sweep. Write one with: candlepool sweep … --json > ${path}`,
      'SWEEP_INVALID',
    );
  const { verdict, trials, overfitting, top } = parsed.data;
  return {
    trials: trials.workspace ?? trials.sweep,
    sweep: {
      name: path,
      isOfBacktest: true,
      verdict,
      overfitting,
      top: top.map(({ rank, metrics, plateau }) => ({ rank, plateau, ...metrics })),
    },
  };
}
