// What a trace tells of the conditions of a portfolio run: counts of all instruments, the nearest misses of any.
import { conditionBits, soleBlockers } from '../conditionBits.ts';
import { conditionStatistics } from '../conditionStatistics.ts';
import { dataFindings, drillingFindings, type DataFinding } from '../dataFindings.ts';
import { barCounts, entryFunnels, funnelFrom, type Funnel } from '../funnel.ts';
import { MAX_NEAR_MISSES, nearMissesOf, relativeGap, type NearMiss } from '../nearMisses.ts';
import type { InstrumentRun, PortfolioRun, ReportInput } from '../reportInput.ts';
import type { PortfolioResult } from '../../simulate/portfolio/portfolioSimulation.ts';
import type { TracedConditions } from '../tracedConditions.ts';
import { sampledInstruments } from './sampledInstruments.ts';
import { neverTogetherAnywhere, summedFunnel, summedStats } from './summedConditions.ts';
import { listed } from './symbolList.ts';

type TracedRun = Pick<ReportInput, 'strategy' | 'warmup'>;

/** @param exits trades by reason, in the order in which the reasons first occur */
export function tracedInstruments(run: TracedRun, portfolio: PortfolioRun, exits: Funnel['exits']): TracedConditions {
  const traced = portfolio.bySymbol.map((index) => tracedInstrument(portfolio.instruments[index]));
  const [{ bits }] = traced;
  const misses = nearestMisses(traced, portfolio.isNamed);
  const counts = traced.map(({ instrument }) => barCounts(instrument));
  const { simulation } = portfolio;
  const funnel = funnelFrom(
    portfolio.instruments[0].boundRules.entries.map((_, index) =>
      summedFunnel(traced.map(({ entries }) => entries[index])),
    ),
    {
      barsTotal: counts.reduce((sum, { barsTotal }) => sum + barsTotal, 0),
      barsWarmup: counts.reduce((sum, { barsWarmup }) => sum + barsWarmup, 0),
      exits,
      simulation,
    },
  );
  return {
    bits,
    stats: bits.map((_, index) => summedStats(traced.map(({ stats }) => stats[index]))),
    funnel: portfolio.isNamed ? { ...funnel, ...namedCounts(simulation) } : funnel,
    nearMisses: misses.map(({ miss }) => miss),
    samples: sampledInstruments(portfolio, traced, misses),
    searches: {
      missingData: () =>
        findingsOf(traced, portfolio.isNamed, (each) => dataFindings({ ...run, ...each.instrument }, each.bits)),
      drilling: () => findingsOf(traced, portfolio.isNamed, (each) => drillingFindings(each.instrument)),
      neverTogether: (conjuncts) => neverTogetherAnywhere(conjuncts, traced),
    },
  };
}

/** What the funnel has of a run that names its instruments. */
const namedCounts = ({ rankedOut, rebalancing }: PortfolioResult): Pick<Funnel, 'rankedOut' | 'allocation'> =>
  rebalancing === null ? { rankedOut } : { rankedOut, allocation: rebalancing };

type TracedInstrument = ReturnType<typeof tracedInstrument>;

function tracedInstrument(instrument: InstrumentRun) {
  const { evaluated, boundRules, input } = instrument;
  const window = { start: input.start, end: Math.max(input.start, input.end) };
  const bits = conditionBits(evaluated.plan.conditions, evaluated, boundRules.recorded);
  const blockers = soleBlockers(bits, window);
  return {
    instrument,
    bits,
    window,
    stats: conditionStatistics(bits, blockers, evaluated, window),
    entries: entryFunnels(instrument, bits),
    misses: window.end > window.start ? nearMissesOf(instrument, bits, blockers) : [],
  };
}

/** A near miss and whose it is. */
interface PlacedMiss {
  readonly miss: NearMiss;
  readonly instrument: InstrumentRun;
}

/** The nearest of all, ties in the order of symbols. */
function nearestMisses(traced: readonly TracedInstrument[], isNamed: boolean): PlacedMiss[] {
  const gapOf = ({ miss: { left, right } }: PlacedMiss): number => relativeGap(left ?? NaN, right ?? NaN);
  return traced
    .flatMap(({ instrument, misses }) =>
      misses.map((miss) => ({ miss: isNamed ? { symbol: instrument.symbol, ...miss } : miss, instrument })),
    )
    .map((placed) => ({ ...placed, gap: gapOf(placed) }))
    .sort((a, b) => (a.gap === b.gap ? 0 : a.gap - b.gap))
    .slice(0, MAX_NEAR_MISSES);
}

/** The findings about all instruments, one of each code: the first by symbol, with the number of others like it. */
function findingsOf(
  traced: readonly TracedInstrument[],
  isNamed: boolean,
  find: (each: TracedInstrument) => DataFinding[],
): DataFinding[] {
  const [first] = traced;
  const found = traced.flatMap((each) => find(each).map((finding) => ({ finding, each })));
  if (!isNamed) return found.map(({ finding }) => finding);
  const byCode = Map.groupBy(found, ({ finding }) => finding.code);
  return [...byCode.values()].map((alike) => {
    const [{ finding, each }] = alike;
    const others = [...new Set(alike.map(({ each }) => each.instrument.symbol))].filter(
      (symbol) => symbol !== each.instrument.symbol,
    );
    const more = others.length === 0 ? '' : ` The same is true of ${listed(others)}.`;
    const conditions = finding.conditions.map((condition) => first.bits[each.bits.indexOf(condition)]);
    return { ...finding, conditions, message: `${each.instrument.symbol}: ${finding.message}${more}` };
  });
}
