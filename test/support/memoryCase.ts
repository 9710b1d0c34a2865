// One case of the memory estimate in a process of its own: prints what was estimated, and what the run took at its
// peak.
import { readFileSync, writeFileSync } from 'node:fs';
import { buildArtifact, createMarket, createUniverse, runBacktest, PATTERNS } from '../../src/engine/index.ts';
import type { ArtifactRequest, BacktestTask, RunControl, Snapshot } from '../../src/engine/index.ts';
import { estimateArtifactBytes, estimateRunBytes } from '../../src/engine/pool/memory.ts';
import { randomSnapshot } from './bars.ts';
import { all, any, astOf, compare, cross, entry, exit, indicator, market, sma, type Json } from './builders.ts';
import { configOf } from './runs.ts';

const BARS = 400_000;
/** Fewer bars, for cases that take so much per bar that more would show nothing new. */
const FEWER_BARS = 200_000;
/** Bytes that the run has asked for beyond what it was admitted by. */
let more = 0;
const CONTROL: RunControl = {
  isCancelled: () => false,
  report: () => {},
  mayTake: (bytes) => {
    more = bytes;
    return 'yes';
  },
};
const state = (field: string): Json => ({ kind: 'state', field });
const rare = (item: Json): Json => all(item, compare(market(), 'gt', { kind: 'const', value: 1e9 }));
const oneHour = (): Snapshot[] => [randomSnapshot({ count: BARS })];
const fewer = (): Snapshot[] => [randomSnapshot({ count: FEWER_BARS })];

interface Case {
  readonly sections: Json;
  readonly settings?: Json;
  readonly snapshots?: () => Snapshot[];
  readonly timeframe?: '1h' | '15m';
  /** The instruments of a portfolio; absent: TEST alone. */
  readonly symbols?: readonly string[];
  /** The file that is made of it; absent: it is run and nothing else. */
  readonly artifact?: ArtifactRequest;
}

/** Eight named means, a condition on each, and a trade every few bars. */
const NAMED: Json = {
  entry: entry(
    all(
      ...Array.from({ length: 8 }, (_, index) =>
        compare(market(), 'gt', sma(3 * index + 3, { id: `mean${index}` }), { id: `above${index}` }),
      ),
    ),
  ),
  exits: [exit(cross(market(), 'cross_down', sma(9), { id: 'down' }))],
};
const artifactCase =
  (name: ArtifactRequest['name'], format: ArtifactRequest['format'], count = BARS) =>
  (): Case => ({
    snapshots: () => [randomSnapshot({ count })],
    sections: NAMED,
    artifact: { name, format },
  });

const FORTY = Array.from({ length: 40 }, (_, at) => `S${at}`);

/** Entries on few bars, so that a case measures its columns and not its trades. */
export const MEMORY_CASES: Readonly<Record<string, () => Case>> = {
  // So little per bar that fewer bars would measure what the process takes besides.
  'a comparison': () => ({
    snapshots: () => [randomSnapshot({ count: 1_000_000 })],
    sections: { entry: entry(rare(compare(market(), 'gt', 1))) },
  }),
  'sixty averages': () => ({
    sections: {
      entry: entry(rare(any(...Array.from({ length: 60 }, (_, index) => compare(market(), 'gt', sma(index + 2)))))),
    },
  }),
  'bands of several outputs': () => ({
    snapshots: fewer,
    sections: {
      entry: entry(
        rare(
          any(
            ...Array.from({ length: 20 }, (_, index) =>
              compare(market(), 'gt', indicator('bbands', { length: index + 5 }, { output: 'upper' })),
            ),
          ),
        ),
      ),
    },
  }),
  'every pattern': () => ({
    sections: {
      entry: entry(rare(any(...PATTERNS.map(({ id }) => ({ kind: 'pattern', name: id, side: 'any' }))))),
    },
  }),
  'many columns of a coarser timeframe': () => ({
    snapshots: fewer,
    sections: {
      entry: entry(
        rare(
          any(
            ...Array.from({ length: 60 }, (_, index) =>
              compare(sma(index + 2, { timeframe: '1d' }), 'gt', sma(index + 70, { timeframe: '1d' })),
            ),
          ),
        ),
      ),
    },
  }),
  'bars of 15 minutes over bars of one': () => ({
    timeframe: '15m',
    snapshots: () => [randomSnapshot({ count: 3 * FEWER_BARS, timeframe: '1m' })],
    sections: {
      entry: entry(rare(any(...Array.from({ length: 60 }, (_, index) => compare(market(), 'gt', sma(index + 2)))))),
    },
  }),
  'windows over the state of positions': () => ({
    settings: { maxConcurrentPositions: 20, warmupPeriod: 1 },
    sections: {
      entry: entry(compare(market(), 'gt', 0), {
        action: { side: 'long', sizing: { mode: 'fixed_cash', value: 100 } },
      }),
      exits: Array.from({ length: 4 }, (_, index) =>
        exit(
          compare(
            { kind: 'rolling', op: 'max', period: 400_000 + index, source: state('position_unrealized_pnl_pct') },
            'gt',
            { kind: 'const', value: 1e9 },
          ),
        ),
      ),
    },
    snapshots: () => [randomSnapshot({ count: 150_000 })],
  }),
  'a trade every few bars': () => ({
    sections: {
      entry: entry(cross(sma(3), 'cross_up', sma(7)), {
        action: { side: 'long', sizing: { mode: 'fixed_cash', value: 100 } },
      }),
      exits: [exit(cross(sma(3), 'cross_down', sma(7)))],
    },
  }),
  'a trade on every bar': () => ({
    sections: {
      entry: entry(compare(market(), 'gt', 0), {
        action: { side: 'long', sizing: { mode: 'fixed', value: 1e-6 } },
      }),
      exits: [exit(compare(market(), 'gt', 0))],
    },
  }),
  'stops and ladders, several trades every few bars': () => ({
    snapshots: fewer,
    settings: { maxConcurrentPositions: 3, warmupPeriod: 1 },
    sections: {
      entry: entry(compare(market(), 'gt', 0), {
        action: { side: 'long', sizing: { mode: 'fixed', value: 1e-6 } },
      }),
      risk: {
        stopLoss: { mode: 'percent', value: 0.5 },
        takeProfits: [
          { triggerPercent: 0.2, closePercent: 50 },
          { triggerPercent: 0.4, closePercent: 50 },
        ],
      },
    },
  }),
  'a portfolio of forty instruments': () => ({
    symbols: FORTY,
    snapshots: () => FORTY.map((symbol) => randomSnapshot({ count: FEWER_BARS / 20, symbol })),
    sections: {
      entry: entry(rare(any(...Array.from({ length: 20 }, (_, index) => compare(market(), 'gt', sma(index + 2)))))),
    },
  }),
  'signals as JSON': artifactCase('signals', 'json', FEWER_BARS),
  'signals as Arrow': artifactCase('signals', 'arrow'),
  'equity as CSV': artifactCase('equity', 'csv'),
  'orders as JSON': artifactCase('orders', 'json'),
  'trades as Arrow': artifactCase('trades', 'arrow', FEWER_BARS),
  'a report': artifactCase('report', 'html'),
};

const [name] = process.argv.slice(2);
if (name !== undefined && Object.hasOwn(MEMORY_CASES, name)) {
  const { sections, settings = {}, snapshots = oneHour, timeframe = '1h', artifact, symbols } = MEMORY_CASES[name]();
  const stored = snapshots();
  const single = { ...configOf(), timeframe, signalInstrument: { symbol: 'TEST' } };
  const { signalInstrument: _, ...common } = single;
  const config = symbols ? { ...common, instruments: symbols.map((symbol) => ({ symbol })) } : single;
  const task: BacktestTask = { id: 'r', strategyAst: astOf(sections), settings, config, strategyHash: 'h' };
  const ofFile = artifact === undefined ? 0 : estimateArtifactBytes(artifact, task, stored);
  const estimate = estimateRunBytes(task, stored) + ofFile;
  const bars = symbols ? createUniverse(stored, symbols, timeframe) : createMarket(stored, 'TEST', timeframe);
  // The code is loaded and the bars are opened before it is measured.
  const warm = createMarket([randomSnapshot({ count: 500 })], 'TEST', '1h');
  runBacktest({ ...task, config: { ...single, timeframe: '1h' } }, warm, null);
  // What making the bars has left must not be reused unseen.
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  // The peak from here on (proc(5)); making the bars had one of its own.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.memoryUsage.rss();
  let written = 0;
  const write = (piece: Uint8Array) => void (written += piece.length);
  const outcome =
    artifact === undefined ? runBacktest(task, bars, CONTROL) : buildArtifact(task, bars, CONTROL, artifact, write);
  const peak = 1_024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) - before;
  const failure = outcome.ok ? null : outcome.error.message;
  console.log(JSON.stringify({ estimate: estimate + more, more, peak, written, failure }));
}
