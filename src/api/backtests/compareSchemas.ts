// Compare schemas: what the routes that compare and combine several backtests accept and answer.
import { z } from 'zod';
import {
  COMBINED_KEYS,
  COMPARED_METRICS,
  FLAT_DESCRIPTIONS,
  FLAT_KEYS,
  REBALANCES,
  type FlatKey,
} from '../../engine/index.ts';
import { Uuid } from '../http/routeSchemas.ts';
import { COMBINE_EXAMPLES, COMPARE_EXAMPLES } from './compareExamples.ts';

/** As many columns as a table on a screen has. Ten have 45 pairs. */
const MAX_BACKTESTS = 10;
const MAX_ROWS = 100;
const MAX_POINTS = 2_000;
const MAX_WAIT_SECONDS = 60;
/** Weights that are written with four digits and add up to 1 do so within rounding only. */
const WEIGHT_TOLERANCE = 1e-9;

const wait = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .default(20)
  .meta({ description: 'Seconds to wait for daily equity. When it takes longer, the answer is 202: send it again.' });
const points = (count: number) =>
  z.int().min(0).max(MAX_POINTS).default(count).meta({ description: 'The most points of `equity`; 0: none.' });

function requireDistinct(
  ids: readonly string[],
  context: z.core.$RefinementCtx,
  pathOf: (index: number) => PropertyKey[],
) {
  const seen = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (seen.has(id.toLowerCase()))
      context.addIssue({ code: 'custom', message: 'is given twice; name each backtest once', path: pathOf(index) });
    seen.add(id.toLowerCase());
  }
}

export const CompareBody = z
  .strictObject({
    backtestIds: z
      .array(Uuid)
      .min(2)
      .max(MAX_BACKTESTS)
      .meta({ description: 'Completed backtests, in the order in which they are answered.' }),
    metrics: z
      .array(z.enum(FLAT_KEYS as [FlatKey, ...FlatKey[]]))
      .min(1)
      .max(FLAT_KEYS.length)
      .default([...COMPARED_METRICS])
      .meta({ description: 'Keys of the summary.' }),
    trades: z.boolean().default(true).meta({ description: 'Whether positions are matched.' }),
    tradeRows: z.int().min(0).max(MAX_ROWS).default(10).meta({ description: 'Of each side of each pair, at most.' }),
    correlations: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether returns are correlated, which may take a rerun.' }),
    equityPoints: points(0),
    wait,
  })
  .superRefine(({ backtestIds }, context) => requireDistinct(backtestIds, context, (index) => ['backtestIds', index]))
  .meta({ id: 'CompareBacktests', examples: COMPARE_EXAMPLES });
export type CompareBody = z.infer<typeof CompareBody>;

export const CombineBody = z
  .strictObject({
    backtests: z
      .array(
        z.strictObject({
          backtestId: Uuid,
          weight: z.number().positive().max(1e6).meta({ description: 'The part of the capital: 0.5 is half of it.' }),
        }),
      )
      .min(1)
      .max(MAX_BACKTESTS)
      .meta({ description: 'Completed backtests; their weights add up to 1.' }),
    normalize: z.boolean().default(false).meta({ description: 'Divides each weight by the sum of all.' }),
    rebalance: z
      .enum(REBALANCES)
      .default('none')
      .meta({ description: 'When the parts are brought back to their weights; `none`: only at the start.' }),
    initialBalance: z.number().positive().max(1e15).optional().meta({
      description: 'Of the combined account. Default: the weighted mean of those of the backtests.',
    }),
    riskFreeRatePerYear: z.number().min(-0.5).max(1).optional().meta({
      description: 'A fraction per year. Default: that of the backtests when all have the same, else 0.',
    }),
    equityPoints: points(500),
    wait,
  })
  .superRefine(({ backtests, normalize }, context) => {
    const ids = backtests.map(({ backtestId }) => backtestId);
    requireDistinct(ids, context, (index) => ['backtests', index, 'backtestId']);
    const sum = backtests.reduce((total, { weight }) => total + weight, 0);
    if (normalize || Math.abs(sum - 1) <= WEIGHT_TOLERANCE * backtests.length) return;
    const message =
      `has weights that add up to ${Number(sum.toPrecision(8))}, not 1; change them, or send "normalize": true to ` +
      'divide each by their sum';
    context.addIssue({ code: 'custom', message, path: ['backtests'] });
  })
  .meta({ id: 'CombineBacktests', examples: COMBINE_EXAMPLES });
export type CombineBody = z.infer<typeof CombineBody>;

const ms = (what: string) => z.number().meta({ description: `${what} Ms UTC.` });
const Warnings = z.array(z.object({ code: z.string(), message: z.string() })).meta({
  description: 'What makes the numbers mislead when they are set side by side.',
});
const Matrix = {
  returns: z.array(z.array(z.number().nullable())).meta({
    description: "Pearson's correlation of each pair, -1 to 1; null: no variance, or fewer than three returns.",
  }),
  days: z.array(z.array(z.int())).meta({ description: 'How many returns of each pair were compared.' }),
};
const waitingFor = z.array(Uuid).meta({ description: 'The backtests whose daily equity is still being made.' });

const named = {
  id: Uuid,
  label: z.string().meta({ description: 'Its name, or strategy, version, market and timeframe.' }),
  symbol: z.string().meta({ description: 'Of a portfolio the first symbols of its list.' }),
  timeframe: z.string(),
};
const ComparedBacktest = z
  .object({
    ...named,
    strategyId: Uuid,
    strategyVersionId: Uuid,
    strategyName: z.string(),
    version: z.int(),
    instruments: z.int().optional().meta({ description: 'How many instruments a portfolio trades.' }),
    start: ms('The first evaluated open; null: it had no bar.').nullable(),
    end: ms('The last evaluated close; null: it had no bar.').nullable(),
    initialBalance: z.number(),
    engineVersion: z.string(),
  })
  .meta({ id: 'ComparedBacktest' });

const OneSided = z.object({
  count: z.int(),
  outsidePeriod: z.int().meta({ description: 'Of these, positions entered where the other run had no bars.' }),
  pnl: z.number().meta({ description: 'Of all of them, net, quote currency.' }),
  rows: z
    .array(
      z.object({
        symbol: z.string(),
        side: z.string(),
        entryTime: ms('Open of the bar of the entry.'),
        entryPrice: z.number(),
        quantity: z.number(),
        exitTime: ms('Open of the bar of the last exit.'),
        exitPrice: z.number(),
        pnl: z.number(),
        exitReason: z.string(),
      }),
    )
    .meta({ description: 'The first ones, at most `tradeRows`.' }),
});

export const Comparison = z
  .object({
    status: z.enum(['complete', 'pending']),
    backtests: z.array(ComparedBacktest),
    settings: z
      .array(
        z.object({
          path: z.string().meta({ description: 'JSON pointer into {strategy, settings, config} in canonical form.' }),
          text: z.string().meta({ description: 'The same place in words.' }),
          values: z.array(z.unknown()).meta({ description: 'One per backtest; null where it has none.' }),
        }),
      )
      .meta({ description: 'Only what differs.' }),
    settingsOmitted: z.int().meta({ description: 'Differences beyond the first hundred.' }),
    metrics: z.array(
      z.object({
        key: z.string(),
        values: z.array(z.number().nullable()).meta({ description: 'One per backtest, in the order of `backtests`.' }),
      }),
    ),
    trades: z
      .array(
        z.object({
          a: z.int().meta({ description: 'Place in `backtests`, from 0.' }),
          b: z.int().meta({ description: 'Place in `backtests`, from 0.' }),
          both: z.int().meta({ description: 'Positions of the same instrument and side, entered on the same bar.' }),
          changed: z.int().meta({ description: 'Of `both`, those with another exit or profit.' }),
          onlyA: OneSided,
          onlyB: OneSided,
        }),
      )
      .nullable()
      .meta({ description: 'Of each pair. Null: not asked for, or too many.' }),
    correlations: z
      .union([
        z.object({ status: z.literal('complete'), ...Matrix }),
        z.object({ status: z.literal('pending'), waitingFor, message: z.string() }),
        z.object({ status: z.literal('failed'), message: z.string() }),
      ])
      .nullable()
      .meta({ description: 'Of daily returns. Null: not asked for.' }),
    equity: z
      .object({ time: z.array(z.number()), backtests: z.array(z.array(z.number().nullable())) })
      .nullable()
      .meta({ description: 'Days (ms UTC), and equity / initial balance on them; null outside of its period.' }),
    warnings: Warnings,
  })
  .meta({ id: 'BacktestComparison' });
export type Comparison = z.input<typeof Comparison>;

const CombinedSummary = z.object(
  Object.fromEntries(
    COMBINED_KEYS.map((key) => [key, z.number().nullable().meta({ description: FLAT_DESCRIPTIONS[key] })]),
  ),
);

export const CompleteCombination = z
  .object({
    status: z.literal('complete'),
    period: z.object({ start: ms('The latest first open.'), end: ms('The earliest last close.'), days: z.int() }),
    rebalance: z.enum(REBALANCES),
    initialBalance: z.number(),
    summary: CombinedSummary.meta({ description: 'Of the combined account, from daily equity.' }),
    diversificationRatio: z.number().nullable().meta({
      description: 'Weighted mean of the volatilities / volatility of the account. 1: nothing is diversified.',
    }),
    drawdown: z
      .object({
        depth: z.number().meta({ description: 'A fraction of the peak, 0 to 1.' }),
        peak: ms('Day of the peak.'),
        trough: ms('Day of the lowest equity.'),
        recovered: ms('Day of the recovery; null: none yet.').nullable(),
        backtests: z.array(
          z.object({
            returnPct: z.number().nullable().meta({ description: 'From that peak to that trough. A fraction.' }),
            drawdown: z.number().meta({ description: 'At that trough, from its own peak. A fraction.' }),
            maxDrawdown: z.number().meta({ description: 'Its deepest in the whole period. A fraction.' }),
          }),
        ),
      })
      .nullable()
      .meta({ description: 'The deepest of the account, and what each backtest did meanwhile. Null: it never fell.' }),
    backtests: z.array(
      z.object({
        ...named,
        weight: z.number(),
        finalWeight: z.number().nullable().meta({ description: 'Its share of the account at the end.' }),
        contribution: z.number().meta({ description: 'What it earned / initialBalance. They add up to returnPct.' }),
        daysCutBefore: z.int().meta({ description: 'Days of it before the common period, which are left out.' }),
        daysCutAfter: z.int().meta({ description: 'Days of it after the common period, which are left out.' }),
        summary: CombinedSummary.meta({ description: 'Of it alone, in the common period.' }),
      }),
    ),
    correlations: z.object(Matrix).meta({ description: 'Of daily returns in the common period.' }),
    equity: z
      .object({ time: z.array(z.number()), combined: z.array(z.number()), backtests: z.array(z.array(z.number())) })
      .nullable()
      .meta({ description: 'Days (ms UTC), equity of the account, and growth of each backtest since the start (1).' }),
    warnings: Warnings,
  })
  .meta({ id: 'BacktestCombination' });
export type CompleteCombination = z.input<typeof CompleteCombination>;

export const PendingCombination = z
  .object({ status: z.literal('pending'), waitingFor, message: z.string() })
  .meta({ id: 'PendingCombination' });
