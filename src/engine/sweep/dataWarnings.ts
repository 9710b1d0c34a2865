// Warnings of a sweep about its data: what its best row lacked, or could not drill into.
import type { ComparedRun } from '../comparedRun.ts';
import { dataFindings, drillingFindings, type DataFinding } from '../report/dataFindings.ts';
import { universeWarnings } from '../report/portfolio/portfolioWarnings.ts';
import { listed } from '../report/portfolio/symbolList.ts';
import type { BacktestTask } from '../task.ts';
import type { RankingRows } from './rankingRows.ts';
import { prepareVariant, taskOf, type SweepContext } from './shard.ts';
import { configOf } from './space.ts';

interface DataWarning {
  readonly code: string;
  readonly message: string;
}

/** Variants read the same data, so that those of the best row stand for all. */
export function dataWarnings(context: SweepContext, { top: [best] }: Pick<RankingRows, 'top'>): DataWarning[] {
  if (best === undefined) return [];
  const config = configOf(context.job.spec.config, context.space, best.coordinates);
  const prepared = prepareVariant(context, config);
  if ('code' in prepared) return [];
  const found = prepared.instruments.map((instrument) => ({
    symbol: instrument.symbol,
    findings: [...drillingFindings(instrument), ...dataFindings(instrument, [])],
  }));
  if (found.length === 1) return found[0].findings.map((finding) => ({ code: finding.code, message: textOf(finding) }));
  return [...sharedFindings(found), ...warningsOfUniverse(taskOf(context.job, config), prepared)];
}

const textOf = ({ message, suggestion }: DataFinding): string => `${message} ${suggestion}`;

/** One warning for each kind of finding: the first in words, and the other instruments that have one by name. */
function sharedFindings(
  found: readonly { readonly symbol: string; readonly findings: readonly DataFinding[] }[],
): DataWarning[] {
  const ofEach = found.flatMap(({ symbol, findings }) => findings.map((finding) => ({ symbol, finding })));
  return [...Map.groupBy(ofEach, ({ finding }) => finding.code)].map(([code, [first, ...others]]) => {
    const symbols = [...new Set(others.map(({ symbol }) => symbol))].filter((symbol) => symbol !== first.symbol);
    const more = symbols.length === 0 ? '' : ` So it is with ${listed(symbols)}.`;
    return { code, message: `${first.symbol}: ${textOf(first.finding)}${more}` };
  });
}

/** What a backtest of a portfolio warns of, such as instruments whose data ends early. */
function warningsOfUniverse(task: BacktestTask, run: ComparedRun): DataWarning[] {
  const { input, portfolio } = run.simulate();
  if (portfolio === undefined) return [];
  return universeWarnings(task, { input, endRow: input.end }, portfolio).map(({ code, message, suggestion }) => ({
    code,
    message: suggestion === undefined ? message : `${message} ${suggestion}`,
  }));
}
