// candlepool compare: results that `candlepool backtest --out` wrote, side by side: the settings that differ, metrics,
// positions that only one of two results has, and the correlation of their daily returns.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import {
  canonicalize,
  comparableRun,
  COMPARED_METRICS,
  comparisonWarnings,
  correlationsOf,
  FLAT_KEYS,
  isFraction,
  matchPositions,
  nearestName,
  PositionList,
  readDailyTable,
  settingDifferences,
  type ComparableRun,
  type DailyEquity,
  type FlatKey,
  type StrategyAst,
} from '../engine/index.ts';
import { counted } from '../market/formatting.ts';
import { wholeNumber } from './arguments.ts';
import { CommandError, percent, printJson, printLine, printTable, UsageError, withJson } from './output.ts';

interface Options {
  readonly metrics: readonly FlatKey[];
  readonly rows: number;
  readonly json?: boolean;
}

/** As many columns as fit on a screen. */
const MAX_FOLDERS = 10;

export function register(program: Command): void {
  const command = program
    .command('compare')
    .description('compare 2 to 10 results that backtest --out has written')
    .argument('<folders...>', 'the folders of --out')
    .option('--metrics <list>', 'keys of the summary, such as returnPct,sharpeRatio', metricList, COMPARED_METRICS)
    .option('--rows <count>', 'the most positions to show that only one of two results has', wholeNumber(0, 1_000), 5);
  withJson(command).action(compare);
}

function metricList(text: string): FlatKey[] {
  return text.split(',').map((written) => {
    const name = written.trim();
    const key = FLAT_KEYS.find((each) => each === name);
    if (key !== undefined) return key;
    const near = nearestName(name, FLAT_KEYS);
    const advice = near === undefined ? '' : ` Did you mean ${near.name}?`;
    throw new InvalidArgumentError(`The summary has no "${name}".${advice} docs/semantics.md §5 lists all keys.`);
  });
}

async function compare(folders: readonly string[], { metrics, rows, json }: Options): Promise<void> {
  if (folders.length < 2 || folders.length > MAX_FOLDERS)
    throw new UsageError(`Name 2 to ${MAX_FOLDERS} folders that candlepool backtest --out has written.`);
  const results: Result[] = [];
  for (const folder of folders) results.push(await readResult(folder));
  const strategies = results.map(({ strategy }) => strategy);
  const isComplete = strategies.every((strategy) => strategy !== null);
  const { settings, omitted } = settingDifferences(
    results.map(({ run, strategy, strategyHash }) =>
      isComplete ? { ...strategy, config: run.config } : { strategyHash, config: run.config },
    ),
  );
  const compared = results.map(({ run: { window }, positions }) => ({ positions, window }));
  const pairs = results.flatMap((_, b) =>
    Array.from({ length: b }, (_before, a) => ({ a, b, ...matchPositions(compared[a], compared[b], rows) })),
  );
  const days = results.flatMap(({ daily }) => daily ?? []);
  const comparison: Compared = {
    backtests: results.map(({ folder, run }) => ({
      folder,
      symbols: run.symbols,
      timeframe: run.config.timeframe,
      start: run.window?.start ?? null,
      end: run.window?.end ?? null,
    })),
    settings,
    settingsOmitted: omitted,
    metrics: metrics.map((key) => ({ key, values: results.map(({ summary }) => numberAt(summary, key)) })),
    trades: pairs,
    correlations: days.length === results.length ? correlationsOf(days) : null,
    warnings: [...comparisonWarnings(results.map(({ run }) => run)), ...missingFiles(results)],
  };
  if (json) return printJson(comparison);
  print(comparison);
}

interface Compared {
  readonly backtests: readonly {
    readonly folder: string;
    readonly symbols: readonly string[];
    readonly timeframe: string;
    readonly start: number | null;
    readonly end: number | null;
  }[];
  readonly settings: ReturnType<typeof settingDifferences>['settings'];
  readonly settingsOmitted: number;
  readonly metrics: readonly { readonly key: FlatKey; readonly values: readonly (number | null)[] }[];
  readonly trades: readonly ({ readonly a: number; readonly b: number } & ReturnType<typeof matchPositions>)[];
  /** null: a folder has no daily equity. */
  readonly correlations: ReturnType<typeof correlationsOf> | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

type Json = Readonly<Record<string, unknown>>;

/** A folder of --out. */
interface Result {
  readonly folder: string;
  readonly run: ComparableRun;
  readonly summary: Json;
  readonly strategyHash: string;
  readonly positions: PositionList['positions'];
  /** In canonical form, with its settings; null: written before results had it, as is `daily`. */
  readonly strategy: Json | null;
  readonly daily: DailyEquity | null;
}

async function readResult(folder: string): Promise<Result> {
  const text = await readIfThere(folder, 'summary.json');
  const trades = await readIfThere(folder, 'trades.json');
  if (text === null || trades === null)
    throw new CommandError(
      `${folder} has no ${text === null ? 'summary.json' : 'trades.json'}. Name folders that ` +
        '"candlepool backtest --out FOLDER" has written.',
    );
  const { summaryJson, resolvedConfig, reproducibility } = parsed(folder, 'summary.json', text) as Json;
  if (summaryJson === undefined || resolvedConfig === undefined || reproducibility === undefined)
    throw new CommandError(`${join(folder, 'summary.json')} is not a result of candlepool backtest. Write it again.`);
  // The command has written these files itself.
  const detail = { summary: summaryJson, resolvedConfig, reproducibility } as Parameters<typeof comparableRun>[0];
  const run = comparableRun(detail, () => null);
  const list = new PositionList(run.symbols[0]);
  list.add(parsed(folder, 'trades.json', trades) as readonly object[]);
  const strategy = await readIfThere(folder, 'strategy.json');
  const daily = await readIfThere(folder, 'daily.csv');
  const { start, end } = run.window ?? { start: 0, end: 0 };
  const { initialBalance } = run.config;
  const { periodsPerYear } = run;
  return {
    folder,
    run,
    summary: summaryJson as Json,
    strategyHash: (reproducibility as { readonly strategyHash: string }).strategyHash,
    positions: list.positions,
    strategy: strategy === null ? null : canonicalStrategy(parsed(folder, 'strategy.json', strategy) as Json),
    daily: daily === null ? null : { ...readDailyTable(daily), start, end, initialBalance, periodsPerYear },
  };
}

const readIfThere = (folder: string, name: string): Promise<string | null> =>
  readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

function parsed(folder: string, name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = (error as Error).message;
    throw new CommandError(`${join(folder, name)} is not valid JSON: ${reason}. Write the result again with --out.`);
  }
}

const canonicalStrategy = ({ strategyAst, settings }: Json): Json => ({
  strategy: canonicalize(strategyAst as StrategyAst).strategy,
  settings,
});

function missingFiles(results: readonly Result[]): { code: string; message: string }[] {
  const without = (name: 'strategy' | 'daily', file: string, lost: string) => {
    const folders = results.filter((result) => result[name] === null).map(({ folder }) => folder);
    if (folders.length === 0) return [];
    const message = `${folders.join(', ')}: no ${file}, so that ${lost}. Run the backtest again with --out.`;
    return [{ code: 'RESULT_INCOMPLETE', message }];
  };
  return [
    ...without('strategy', 'strategy.json', 'strategies are compared by their hash alone'),
    ...without('daily', 'daily.csv', 'returns are not correlated'),
  ];
}

function numberAt(summary: Json, key: FlatKey): number | null {
  const value = summary[key];
  return typeof value === 'number' ? value : null;
}

function print({ backtests, settings, settingsOmitted, metrics, trades, correlations, warnings }: Compared): void {
  const names = backtests.map(({ folder }) => folder);
  const perBacktest = <Row>(cell: (row: Row, at: number) => string) =>
    names.map((title, at) => ({ title, value: (row: Row) => cell(row, at), align: 'right' as const }));
  printTable(
    [
      { title: 'metric', value: ({ key }) => key },
      ...perBacktest<Compared['metrics'][number]>(({ key, values }, at) => metricText(key, values[at])),
    ],
    metrics,
    true,
  );
  printLine();
  if (settings.length === 0) printLine('All settings are equal.');
  else
    printTable(
      [
        { title: 'setting', value: ({ text }) => text },
        ...perBacktest<Compared['settings'][number]>(({ values }, at) => settingText(values[at])),
      ],
      settings,
      true,
    );
  if (settingsOmitted > 0) printLine(`and ${settingsOmitted} more`);
  printLine();
  for (const pair of trades) printPair(names, pair);
  if (correlations !== null) {
    printLine();
    printTable(
      [
        { title: 'correlation', value: ([name]) => name },
        ...perBacktest<readonly [string, readonly (number | null)[]]>(([, row], at) => row[at]?.toFixed(3) ?? '–'),
      ],
      correlations.returns.map((row, at) => [names[at], row] as const),
      true,
    );
  }
  for (const { code, message } of warnings) printLine(`warning ${code}: ${message}`);
}

function printPair(names: readonly string[], { a, b, both, changed, onlyA, onlyB }: Compared['trades'][number]): void {
  const sides = [
    [names[a], onlyA],
    [names[b], onlyB],
  ] as const;
  const parts = sides.map(([name, { count, pnl }]) => `${count} only in ${name} (${pnl.toFixed(2)})`);
  printLine(`${counted(both, 'position')} in both, ${changed} with another exit or profit; ${parts.join(', ')}`);
  const rows = sides.flatMap(([name, { rows: shown }]) => shown.map((row) => ({ name, ...row })));
  if (rows.length === 0) return;
  printTable(
    [
      { title: 'only in', value: ({ name }) => name },
      { title: 'symbol', value: ({ symbol }) => symbol },
      { title: 'side', value: ({ side }) => side },
      { title: 'entry', value: ({ entryTime }) => timeText(entryTime) },
      { title: 'exit', value: ({ exitTime }) => timeText(exitTime) },
      { title: 'pnl', value: ({ pnl }) => pnl.toFixed(2), align: 'right' },
    ],
    rows,
    true,
  );
}

const timeText = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

const settingText = (value: unknown): string =>
  value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

function metricText(key: FlatKey, value: number | null): string {
  if (value === null) return '–';
  if (isFraction(key)) return percent(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
