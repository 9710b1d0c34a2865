// Hostile tenants against a real service, and their neighbor. `npm run test:hostile` runs it for minutes, times the
// neighbor beside all attacks at once and beside each, and prints two tables; the short form counts only, since a time
// says nothing on a busy machine.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ATTACK_NAMES } from './attacks.ts';
import { Neighbor, type Measured } from './neighbor.ts';
import { startService, type Service } from './service.ts';

const isLong = process.env.CANDLEPOOL_HOSTILE !== undefined;
/** The attacks to look into alone, one by one; null: all of them, at once before that. */
const only = process.env.CANDLEPOOL_ATTACKS ? new RegExp(process.env.CANDLEPOOL_ATTACKS) : null;
const SECONDS = isLong ? Number(process.env.CANDLEPOOL_HOSTILE) : 12;
/** Beside a single attack. */
const SECONDS_EACH = 8;
const SEED = Number(process.env.CANDLEPOOL_SEED ?? 20_261_122);
const MIB = 1024 * 1024;
/** Heap and bodies of the API with its second thread; threads and columns of a worker with two threads. */
const MAX_BYTES = { api: 1_500 * MIB, worker: 2_500 * MIB };

interface Limits {
  readonly readMs: number;
  /** The median of small backtests. */
  readonly medianMs: number;
  readonly backtestMs: number;
  readonly sweepMs: number;
  /** Seconds. */
  readonly loopDelay: number;
}
/**
 * The neighbor's limits, at p99 where not said otherwise. All attacks at once keep two cores busy several times over,
 * and the first of their requests reach code that the API has not run before. On two cores, thirty of them kept these
 * limits; thirty-six miss them for backtests (median 1.1 s, at most 8.9 s).
 */
const LIMITS = {
  each: { readMs: 100, medianMs: 1_000, backtestMs: 2_000, sweepMs: 5_000, loopDelay: 0.1 },
  allAtOnce: { readMs: 400, medianMs: 1_000, backtestMs: 5_000, sweepMs: 8_000, loopDelay: 0.4 },
} as const satisfies Record<string, Limits>;

let service: Service;
let neighbor: Neighbor;
beforeAll(async () => {
  service = await startService({ WARM_UP: isLong ? 'on' : 'off' });
  neighbor = await Neighbor.of(service);
}, 300_000);
afterAll(() => service[Symbol.asyncDispose]());

it.runIf(only === null)(
  'hostile tenants get no answer of 500 or more, and stay within memory',
  async () => {
    const pidsBefore = [service.pidOf('api'), service.pidOf('worker')];
    const measured = await neighbor.measureBeside(null, SECONDS, SEED);
    if (isLong) printTable(measured);
    expectNoFaults(measured);
    // No process died.
    expect([service.pidOf('api'), service.pidOf('worker')]).toEqual(pidsBefore);
    if (isLong) expectInTime('all at once', measured, LIMITS.allAtOnce);
  },
  (SECONDS + 600) * 1_000,
);

it.runIf(isLong)(
  'a neighbor is answered in time beside each attack',
  async () => {
    const all: [string, Measured][] = [];
    print(`each ${SECONDS_EACH} s: GET /workspace, small backtest and small sweep p50 / p99 in ms`);
    for (const name of ATTACK_NAMES.filter((name) => only?.test(name) ?? true)) {
      const measured = await neighbor.measureBeside(name, SECONDS_EACH, SEED);
      const { reads, backtests, sweeps } = measured;
      const columns = [reads, backtests, sweeps].map((times) => inMs(times, [0.5, 0.99]).padStart(13));
      print(`${columns.join(' ')}  ${name}: ${statusCounts(measured.tallies[name].statuses)}`);
      all.push([name, measured]);
    }
    for (const [name, measured] of all) {
      expectNoFaults(measured);
      expectInTime(name, measured, LIMITS.each);
    }
  },
  ATTACK_NAMES.length * (SECONDS_EACH + 60) * 1_000,
);

function expectNoFaults({ tallies, reads, backtests, sweeps, most }: Measured): void {
  const faults = Object.entries(tallies).flatMap(([name, tally]) => tally.faults.map((fault) => `${name}: ${fault}`));
  expect(faults, `seed ${SEED}`).toEqual([]);
  expect([...reads, ...backtests, ...sweeps].filter(({ status }) => status !== 200)).toEqual([]);
  expect(most.api).toBeLessThan(MAX_BYTES.api);
  expect(most.worker).toBeLessThan(MAX_BYTES.worker);
  for (const { statuses } of Object.values(tallies))
    expect(Object.keys(statuses).every((status) => Number(status) < 500)).toBe(true);
}

function expectInTime(name: string, { reads, backtests, sweeps, most }: Measured, limits: Limits): void {
  expect(percentile(reads, 0.99), name).toBeLessThan(limits.readMs);
  expect(percentile(backtests, 0.5), name).toBeLessThan(limits.medianMs);
  expect(percentile(backtests, 0.99), name).toBeLessThan(limits.backtestMs);
  expect(percentile(sweeps, 0.99), name).toBeLessThan(limits.sweepMs);
  expect(most.loopDelay, name).toBeLessThan(limits.loopDelay);
}

const percentile = (times: readonly { readonly ms: number }[], share: number): number => {
  const sorted = times.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
};
const inMs = (times: readonly { readonly ms: number }[], shares: readonly number[]): string =>
  shares.map((share) => percentile(times, share).toFixed(0)).join(' / ');
const statusCounts = (statuses: Readonly<Record<number, number>>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${status}×${count}`)
    .join(' ');
const print = (text: string): void => void process.stdout.write(`${text}\n`);

function printTable({ tallies, reads, backtests, sweeps, most }: Measured): void {
  const row = (name: string, value: string): string => `${name.padEnd(48)} ${value}`;
  const all = [0.5, 0.99, 1];
  const lines = [
    `seed ${SEED}, ${SECONDS} s; the attackers share its machine, at the lowest priority (nice 19)`,
    ...Object.entries(tallies).map(([name, { statuses }]) => row(name, statusCounts(statuses))),
    row(`neighbor: ${reads.length} GET /workspace, p50 / p99 / max`, `${inMs(reads, all)} ms`),
    row(`neighbor: ${backtests.length} small backtests, p50 / p99 / max`, `${inMs(backtests, all)} ms`),
    row(`neighbor: ${sweeps.length} small sweeps, p50 / p99 / max`, `${inMs(sweeps, all)} ms`),
    row(
      'API: most memory, event loop delay p99',
      `${(most.api / MIB).toFixed(0)} MiB, ${(most.loopDelay * 1000).toFixed(0)} ms`,
    ),
    row('worker: most memory', `${(most.worker / MIB).toFixed(0)} MiB`),
  ];
  print(lines.join('\n'));
}
