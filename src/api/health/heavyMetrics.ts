// Heavy metrics: the thread of heavy requests, read whenever /metrics is asked for.
import { Gauge, type Registry } from 'prom-client';
import type { HeavyRequests, HeavyState } from '../http/heavyQueue.ts';

/** The total is a gauge because prom-client's counters cannot be set; it only grows while the process lives. */
const GAUGES: readonly (readonly [name: string, help: string, value: (state: HeavyState) => number])[] = [
  ['thread_answering', '0 while the thread of heavy requests is silent or being replaced.', (at) => +at.isAnswering],
  [
    'thread_replacements_total',
    'Threads of heavy requests that stopped answering and were replaced.',
    (at) => at.replacements,
  ],
  ['requests_waiting', 'Heavy requests that wait for their turn.', (at) => at.waiting],
];

/** Where requests are answered in place, nothing waits and no thread is silent. */
const IN_PLACE: HeavyState = { isAnswering: true, waiting: 0, active: 0, replacements: 0, lastReplacedAt: null };

/** @param heavyRequests null: requests are answered in place */
export function measureHeavyRequests(registry: Registry, heavyRequests: HeavyRequests | null): void {
  for (const [name, help, value] of GAUGES) {
    const gauge: Gauge = new Gauge({
      name: `candlepool_heavy_${name}`,
      help,
      registers: [registry],
      collect: () => gauge.set(value(heavyRequests?.state() ?? IN_PLACE)),
    });
  }
}
