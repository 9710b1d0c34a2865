// Our side of the portfolios of bench:peers: the cases of the suite `portfolio`, on bars that it writes for the peers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBacktest, simulateTask } from '../../src/engine/backtest.ts';
import type { Universe } from '../../src/engine/bars/bars.ts';
import type { TradeRow } from '../../src/engine/report/tradeTable.ts';
import type { SimulatedRun } from '../../src/engine/report/simulatedRun.ts';
import type { BacktestTask } from '../../src/engine/task.ts';
import { CASES, taskOfCase, walkUniverse, type Case } from '../portfolio.ts';
import { unseen } from '../walk.ts';
import { answerCommands, type Task } from './answerCommands.ts';
import { PORTFOLIOS, type PortfolioName } from './parts.ts';

const [folder] = process.argv.slice(2);

function write(name: string, columns: readonly Float64Array[]): void {
  const all = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  columns.reduce((at, column) => (all.set(column, at), at + column.length), 0);
  writeFileSync(join(folder, `${name}.f64`), new Uint8Array(all.buffer));
}

/** Peers know no steps of quantities. */
function universeOf(each: Case): Universe {
  const { instruments } = walkUniverse(each);
  return { instruments: instruments.map((one) => ({ ...one, instrument: { ...one.instrument, qtyStep: 0 } })) };
}

/** Costs as the peer has them. */
function taskFor(name: PortfolioName, each: Case): BacktestTask {
  const task = taskOfCase(name, each);
  const { feeRate } = PORTFOLIOS[name];
  const tiers = [{ minCumulativeNotional: 0, makerRate: feeRate, takerRate: feeRate }];
  const execution = { feeModel: { kind: 'tiered_maker_taker' as const, tiers }, slippage: { kind: 'none' as const } };
  return { ...task, config: { ...task.config, execution } };
}

function portfolio(name: PortfolioName, each: Case): Task {
  const universe = universeOf(each);
  const task = taskFor(name, each);
  write(
    `${name}.open`,
    universe.instruments.map(({ base }) => base.open),
  );
  write(
    `${name}.close`,
    universe.instruments.map(({ base }) => base.close),
  );
  return {
    run() {
      // Bars that it has not seen.
      const outcome = runBacktest(task, { instruments: universe.instruments.map(unseen) }, null);
      if (!outcome.ok) throw new Error(JSON.stringify(outcome));
      outcome.memory.giveBack();
    },
    save: () => save(name, each, simulateTask(task, universe, null, false, true)),
  };
}

function save(name: string, { instruments }: Case, outcome: SimulatedRun): void {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  const { input, portfolio: run } = outcome.report;
  const symbols = run!.instruments.map(({ symbol }) => symbol);
  const trades = outcome.trades as readonly (TradeRow & { readonly symbol: string })[];
  const rows = trades.map((trade) => [symbols.indexOf(trade.symbol), trade.entryBar, trade.exitBar, trade.quantity]);
  writeFileSync(join(folder, `${name}.trades.json`), JSON.stringify(rows));
  // Before the run starts, the account is cash.
  write(`${name}.equity`, [new Float64Array(input.start).fill(10_000), run!.simulation.equity]);
  write(`${name}.weights`, [new Float64Array(input.start * instruments), run!.simulation.weights!]);
}

const names = Object.keys(PORTFOLIOS) as PortfolioName[];
const cases = new Map(names.map((name) => [name, CASES[PORTFOLIOS[name].case]]));
const sizes = Object.fromEntries([...cases].map(([name, { instruments, bars }]) => [name, { instruments, bars }]));
writeFileSync(join(folder, 'portfolios.json'), JSON.stringify(sizes));
const bars = Object.fromEntries([...cases].map(([name, each]) => [name, each.instruments * each.bars]));
const tasks = new Map([...cases].map(([name, each]): [string, Task] => [name, portfolio(name, each)]));
await answerCommands({ portfolios: names, bars }, tasks);
