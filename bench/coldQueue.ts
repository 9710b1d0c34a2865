// Services that get their load as soon as they start: how many backtests each 1,000 runs per second, beside the rate of
// the same service once it has rested. Compiling and processes that stand by must not make a valley in between.
import { setTimeout as sleep } from 'node:timers/promises';
import { makeVersion, runAll } from './backtests.ts';
import { caller, startServer, type Server } from './server.ts';
import { rest } from './serverCosts.ts';

const STARTS = 5;
/** Some ten seconds of load: a valley after the start took eight. */
const RUNS = 25_000;
const WARM_RUNS = 5_000;
const BLOCK = 1_000;
/** Blocks that a service may take to compile. */
const FREE_BLOCKS = 2;
const GOAL = 0.85;
/** Otherwise most of the first seconds would be spent on accepting all of the backtests. */
const STEADY = { isSteady: true } as const;

interface ColdMeasure {
  /** Runs per second of each 1,000 runs from the start on. */
  readonly perSecond: readonly number[];
  /** Of 5,000 runs after a rest. */
  readonly warmPerSecond: number;
}

export async function measureCold(root: string, say: (line: string) => void): Promise<readonly ColdMeasure[]> {
  const measured: ColdMeasure[] = [];
  for (let start = 1; start <= STARTS; start++) {
    const each = await measureStart(root);
    measured.push(each);
    say(`start ${start}: ${rates(each.perSecond)} per second; warm ${each.warmPerSecond.toFixed(0)}`);
  }
  return measured;
}

async function measureStart(root: string): Promise<ColdMeasure> {
  await using server = await startServer(root);
  const call = caller(server);
  const versionId = await makeVersion(call);
  await runAll(call, versionId, 0, RUNS, STEADY);
  const perSecond = ratesOf(await endsSince(server, 0));
  await rest(server);
  const since = Date.now();
  await runAll(call, versionId, RUNS, WARM_RUNS, STEADY);
  const ends = await endsSince(server, since);
  return { perSecond, warmPerSecond: (ends.length / (ends.at(-1)! - since)) * 1_000 };
}

/** When each backtest ended, in ascending order. */
async function endsSince({ sql }: Server, since: number): Promise<readonly number[]> {
  await sleep(100);
  const rows = await sql<{ ended: number }[]>`
    select extract(epoch from finished_at)::float8 * 1000 as ended from backtest_results
    where finished_at > ${new Date(since)} order by finished_at`;
  return rows.map(({ ended }) => ended);
}

/** The last block is left out: the threads have nothing left to do in it one after the other. */
function ratesOf(ends: readonly number[]): readonly number[] {
  const blocks = Math.floor(ends.length / BLOCK) - 1;
  return Array.from({ length: blocks }, (_, block) => {
    const first = block * BLOCK;
    return (BLOCK / (ends[first + BLOCK] - ends[first])) * 1_000;
  });
}

/**
 * Prints the median of the starts, block by block: a single block takes a third of a second, and one start alone varies
 * by a fifth.
 * @returns whether every block after the first two reaches the goal
 */
export function printCold(measured: readonly ColdMeasure[], say: (line: string) => void): boolean {
  const warm = medianOf(measured.map(({ warmPerSecond }) => warmPerSecond));
  const blocks = Math.min(...measured.map(({ perSecond }) => perSecond.length));
  const medians = Array.from({ length: blocks }, (_, block) => medianOf(measured.map((each) => each.perSecond[block])));
  const later = medians.slice(FREE_BLOCKS);
  const least = Math.min(...later);
  const share = least / warm;
  say(`median:  ${rates(medians)} per second; warm ${warm.toFixed(0)}`);
  const at = (FREE_BLOCKS + later.indexOf(least)) * BLOCK;
  say(
    `least after ${FREE_BLOCKS * BLOCK} runs: ${least.toFixed(0)} per second (runs ${at + 1} to ${at + BLOCK}), ` +
      `${(share * 100).toFixed(0)} % of the warm rate; goal ${GOAL * 100} %`,
  );
  return share >= GOAL;
}

const rates = (perSecond: readonly number[]): string => perSecond.map((rate) => rate.toFixed(0)).join(' ');
const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
