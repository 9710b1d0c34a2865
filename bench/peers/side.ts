// Our side of kernels, patterns and whole backtests in bench:peers, on bars that it writes for the peers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBacktest } from '../../src/engine/backtest.ts';
import { findIndicator } from '../../src/engine/indicators/registry.ts';
import { newColumn } from '../../src/engine/kernels/ownedColumns.ts';
import { computePatterns } from '../../src/engine/patterns/patternDefinition.ts';
import { PATTERNS } from '../../src/engine/patterns/patternRegistry.ts';
import type { TradeRow } from '../../src/engine/report/tradeTable.ts';
import type { BacktestTask } from '../../src/engine/task.ts';
import { argsOf } from '../../test/support/indicators.ts';
import { jaggedBars } from '../../test/engine/patterns/jagged.ts';
import { PEER_PAYLOADS, taskFrom } from '../crossing.ts';
import { MEASURED } from '../indicators.ts';
import { sharedColumns, unseen, walkMarket } from '../walk.ts';
import { answerCommands, type Task } from './answerCommands.ts';

const [folder, bars] = process.argv.slice(2);
const market = walkMarket(Number(bars));
const n = market.base.length;
const { open, high, low, close } = market.base;
// A market's columns, which kernels read in place; a peer reads the same numbers from the files.
const prices = { open, high, low, close };
for (const [name, column] of Object.entries(prices)) write(name, column);

function write(name: string, column: Float64Array): void {
  writeFileSync(join(folder, `${name}.f64`), new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
}

const kernels = new Map<string, Task>();
for (const [id, args] of MEASURED) {
  const indicator = findIndicator(id)!;
  const columns = { ...prices, source: prices.close } as Readonly<Record<string, Float64Array>>;
  const inputs = indicator.inputs.map((name) => columns[name]);
  const resolved = argsOf(indicator, args);
  // As a plan's columns are.
  const outputs = indicator.outputs.map(() => newColumn(n));
  kernels.set(id, {
    run: () => indicator.compute(inputs, resolved, outputs),
    save: () => outputs.forEach((output, index) => write(`${id}.${index}`, output)),
  });
}

// A walk has no gaps and no ties, and therefore few patterns: these bars have all but the rarest.
const jagged = sharedColumns(jaggedBars(n, 1, 0.01));
const candles = { open: jagged[0], high: jagged[1], low: jagged[2], close: jagged[3] };
for (const [name, column] of Object.entries(candles)) write(`candle-${name}`, column);
/** 32-bit integers, as TA-Lib writes them, and where a plan's columns are. */
const { buffer, byteOffset } = newColumn(Math.ceil(n / 2));
const out = new Int32Array(buffer, byteOffset, n);
const patterns = new Map<string, Task>();
for (const pattern of PATTERNS)
  patterns.set(pattern.talib, {
    run: () => pattern.compute(...jagged, {}, out),
    save: () => write(pattern.talib, Float64Array.from(out.fill(0, 0, pattern.lookback({})))),
  });
const together = PATTERNS.map((definition) => ({ definition, args: {}, out }));
patterns.set('all 61 patterns', { run: () => computePatterns(candles, together), save: () => {} });

/** A peer charges slippage on targets too, which are limit orders here. */
const withoutSlippage = (task: BacktestTask): BacktestTask => ({
  ...task,
  config: { ...task.config, execution: { ...task.config.execution!, slippage: { kind: 'none' } } },
});

const whole = new Map<string, Task>();
for (const [name, payload] of Object.entries(PEER_PAYLOADS)) {
  const task = withoutSlippage(taskFrom(name, payload));
  const run = () => runBacktest(task, unseen(market), null);
  whole.set(name, {
    run,
    save() {
      const outcome = run();
      if (!outcome.ok) throw new Error(`${name} cannot be run.`);
      const rowOf = new Map([...market.base.time].map((time, row) => [time, row]));
      const trades = outcome.trades as readonly TradeRow[];
      const rows = trades.map((trade) => [
        rowOf.get(trade.entryTime)!,
        rowOf.get(trade.exitTime)!,
        trade.entryPrice,
        trade.exitPrice,
      ]);
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(rows));
    },
  });
}

const names = { kernels: [...kernels.keys()], patterns: [...patterns.keys()], whole: [...whole.keys()] };
await answerCommands(names, new Map([...kernels, ...patterns, ...whole]));
