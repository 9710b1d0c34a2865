// The block bootstrap: the backtest on histories made of blocks of its own bars.
import type { Market, Universe } from '../../bars/bars.ts';
import { bound, enough, MAX_LOSSES } from '../bound.ts';
import { bootstrapMarket, bootstrapUniverse, defaultBlockBars } from '../bootstrapMarket.ts';
import { percent, warning } from '../finding.ts';
import type { Analysis, Check, PartOutcome } from './analysis.ts';
import { medianRow, runOf, runRow, sampledRuns, type SampledRuns } from './partOutcomes.ts';

interface BlockBootstrap extends SampledRuns {
  readonly blockBars: number;
}

/** The first part is the run without finer bars; every other part is a drawn history. */
export const blockBootstrapAnalysis = {
  name: 'blockBootstrap',
  about: 'bars resampled in blocks',
  partsOf: ({ spec }) => 1 + spec.samples,
  runsPerPart: 1,
  runPart: (check, part) => (part === 0 ? onBaseBars(check) : onDrawnBars(check, part - 1)),
  resultOf: ({ spec, bars, outcomes: [original, ...drawn] }) => ({
    blockBars: spec.blockBars ?? defaultBlockBars(bars),
    ...sampledRuns(drawn, runOf(original)),
  }),
  boundsOf: (result) => [
    bound('bootstrapLossProbability', 'blockBootstrap', enough(result, result?.lossProbability), '<=', MAX_LOSSES),
  ],
  findingsOf(result, _, failed) {
    const broken = failed.get('bootstrapLossProbability');
    if (broken === undefined) return {};
    const message =
      `On ${result.runs} histories made of blocks of the same bars, it loses money in ` +
      `${percent(result.lossProbability)} (at most ${percent(broken.limit)} is allowed); the median return is ` +
      `${percent(result.returnPct.p50)} instead of ${percent(result.original?.returnPct ?? null)}.`;
    return { weaknesses: [warning('BARS_LUCKY', message)] };
  },
  reportOf: (result) => ({
    samples: [
      ...(result.original === null ? [] : [runRow('bars as they were, without finer bars', result.original)]),
      medianRow('bars drawn again', result),
    ],
  }),
} as const satisfies Analysis<BlockBootstrap>;

/** The backtest without finer bars: drawn histories have none either. */
function onBaseBars(check: Check): PartOutcome {
  const { task, market } = check.context;
  return check.runTask(task, withoutFine(market));
}

function withoutFine(market: Market | Universe): Market | Universe {
  if (!('instruments' in market)) return market.fine === undefined ? market : { ...market, fine: undefined };
  if (market.instruments.every(({ fine }) => fine === undefined)) return market;
  return { instruments: market.instruments.map((each) => ({ ...each, fine: undefined })) };
}

function onDrawnBars(check: Check, sample: number): PartOutcome {
  const { task, spec, market } = check.context;
  const run = check.prepared();
  if ('code' in run) return { kind: 'failed', error: run };
  const { end } = run.rows;
  if (end < 2) return { kind: 'skipped' };
  const blockBars = spec.blockBars ?? defaultBlockBars(end);
  const draw = { end, blockBars, seed: spec.seed, sample };
  return check.runTask(task, 'instruments' in market ? bootstrapUniverse(market, draw) : bootstrapMarket(market, draw));
}
