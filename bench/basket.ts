// The basket: ordinary strategies that an accelerator must make faster to earn its place (docs/performance.md). The
// templates, the strategies of bench:peers, and four more for what none of these has.
import { Bench } from 'tinybench';
import { TEMPLATES } from '../src/api/templates/catalog.ts';
import { compiledAst, instrumentsOf, type Template } from '../src/api/templates/template.ts';
import type { Market } from '../src/engine/bars/bars.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { close, cross, PEER_PAYLOADS, runAndGiveBack, strategyOf, taskFrom } from './crossing.ts';
import { hotRounds, isShort, measure, needs, onDemand, rounds } from './measure.ts';
import { SYMBOL, unseen, walkSnapshot } from './walk.ts';

const COUNTS = isShort ? [2_148] : [2_148, 100_000, 1_000_000];
/** The other instrument of the template that has one. */
const OTHER = { symbol: 'MSFT', seed: 29 };

const high = { kind: 'market', field: 'high' };
const longTerm = { kind: 'indicator', indicator: 'sma', args: { length: 100 } };
const firstHour = { kind: 'time_window', between: { from: '08:00', to: '09:00' } };

/** What no template has: a ladder that moves its stop, a limit entry, a state machine, a captured opening range. */
const MORE: Readonly<Record<string, object>> = {
  'ladder with break-even': strategyOf({ trigger: cross('cross_up') }, cross('cross_down'), {
    risk: {
      stopLoss: { mode: 'percent', value: 2 },
      takeProfits: [
        { triggerPercent: 1, closePercent: 50, moveStopToBreakeven: true },
        { triggerPercent: 3, closePercent: 50 },
      ],
    },
  }),
  'limit entry': strategyOf(
    {
      trigger: cross('cross_up'),
      action: {
        side: 'long',
        sizing: { mode: 'percent_equity', value: 95 },
        order: {
          type: 'limit',
          price: { kind: 'math', op: 'mul', args: [close, { kind: 'const', value: 0.995 }] },
          expireBars: 10,
        },
      },
    },
    cross('cross_down'),
  ),
  'state machine': strategyOf(
    {
      setup: {
        kind: 'state_machine',
        set: { kind: 'cross', op: 'cross_up', left: close, right: longTerm },
        reset: { kind: 'cross', op: 'cross_down', left: close, right: longTerm },
      },
      trigger: cross('cross_up', 5, 20),
    },
    cross('cross_down', 5, 20),
  ),
  'capture of an opening range': strategyOf(
    {
      trigger: {
        kind: 'cross',
        op: 'cross_up',
        left: close,
        right: { kind: 'capture', value: high, when: firstHour },
      },
    },
    { kind: 'time_window', between: { from: '17:00', to: '24:00' } },
  ),
};

function templateTask(template: Template): BacktestTask {
  const { strategyAst } = JSON.parse(JSON.stringify({ strategyAst: compiledAst(template) })) as { strategyAst: object };
  return { ...taskFrom(template.key, strategyAst), settings: template.settings };
}

/** Portfolios have a suite of their own. */
const single = TEMPLATES.filter((template) => instrumentsOf(template).length === 1);

/** Every strategy by its name. */
export const BASKET: Readonly<Record<string, () => BacktestTask>> = Object.fromEntries([
  ...single.map((template) => [template.key, () => templateTask(template)] as const),
  ...Object.entries({ ...PEER_PAYLOADS, ...MORE }).map(
    ([name, payload]) => [name, () => taskFrom(name, payload)] as const,
  ),
]);

/** Two instruments of the same hours. */
export const basketMarket = (count: number): Market =>
  createMarket([walkSnapshot(count), walkSnapshot(count, '1h', OTHER)], SYMBOL, '1h');

export function suite(): Bench {
  const bench = new Bench(isShort ? rounds(1) : hotRounds(3));
  for (const count of COUNTS) {
    const market = onDemand(() => basketMarket(count));
    for (const [name, make] of Object.entries(BASKET)) {
      const task = onDemand(make);
      bench.add(`basket/${name}, first run/${count}`, () => runAndGiveBack(task(), unseen(market())), needs(market));
      bench.add(`basket/${name}, columns kept/${count}`, () => runAndGiveBack(task(), market()), needs(market));
    }
  }
  return bench;
}

if (import.meta.main) await measure(suite());
