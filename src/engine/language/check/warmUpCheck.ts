// The check of a strategy's warm-up: against its lookback, and against the bars there are.
import type { Timeframe } from '../../bars/bars.ts';
import { inferLookback } from '../canonical/lookback.ts';
import type { RunnableStrategy, StrategyAst } from '../grammar/ast.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { PointerOf } from './sectionChecks.ts';

/** How many bars there are of a series; 0 for one that does not exist. */
export type BarCounts = (symbol: string, timeframe: Timeframe) => number;

/** The warm-up of a strategy, in base bars. */
export interface WarmUp {
  readonly inferredLookback: number;
  readonly recommendedWarmup: number;
}

interface WarmUpContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  /** Whether the warm-up is that of the settings; else that of `defaults`. */
  readonly isSetting: boolean;
  /** When absent, a warm-up is not compared with the data. */
  readonly barsOf: BarCounts | undefined;
}

/**
 * Warns of a warm-up below the lookback, and of one that leaves no bars to trade on.
 * @param strategy what `ast` compiles to
 */
export function checkWarmUp(
  ast: StrategyAst,
  strategy: RunnableStrategy,
  base: Timeframe,
  context: WarmUpContext,
): WarmUp {
  const { log, pointerOf, isSetting } = context;
  const inferredLookback = inferLookback(strategy, base);
  if (strategy.warmupBars !== null && strategy.warmupBars < inferredLookback) {
    const path = isSetting ? '/settings/warmupPeriod' : pointerOf(ast.strategy.defaults!, 'warmupBars');
    log.add('WARMUP_TOO_SHORT', path, {
      message: `A warm-up of ${strategy.warmupBars} bars is too short: the lookback is ${inferredLookback} bars.`,
      suggestion: `Use ${inferredLookback}, or leave it out.`,
      patch: [{ op: 'replace', path, value: inferredLookback }],
    });
  }
  const settled = Math.max(inferredLookback, inferLookback(strategy, base, true));
  return { inferredLookback, recommendedWarmup: cappedWarmUp(ast, settled, inferredLookback, base, context) };
}

/** The recommended warm-up: `settled`, or less where the instrument has so few bars that hardly any would be left. */
function cappedWarmUp(
  ast: StrategyAst,
  settled: number,
  inferredLookback: number,
  base: Timeframe,
  { log, pointerOf, barsOf }: WarmUpContext,
): number {
  const { instrument } = ast.strategy.defaults ?? {};
  if (instrument === undefined || barsOf === undefined) return settled;
  const bars = barsOf(instrument.symbol, base);
  const capped = Math.max(inferredLookback, Math.floor(bars / 2));
  if (bars === 0 || (settled <= capped && inferredLookback < bars)) return settled;
  const extent = `${shown(instrument.symbol)} has ${bars} bars of ${base}`;
  const path = pointerOf(instrument, 'symbol');
  if (inferredLookback >= bars) {
    log.add('WARMUP_EXCEEDS_DATA', path, {
      message: `The lookback is ${inferredLookback} bars, and ${extent}: none can signal.`,
      suggestion: 'Use shorter periods, a finer timeframe, or an instrument with a longer history.',
    });
  } else {
    log.add('WARMUP_EXCEEDS_DATA', path, {
      message:
        `Recursive indicators settle after ${settled} bars, and ${extent}: recommendedWarmup is capped at ` +
        `${capped}.`,
      suggestion:
        'Use shorter periods or a finer timeframe, or accept that early values depend on where the data begins.',
    });
  }
  return Math.min(capped, bars);
}
