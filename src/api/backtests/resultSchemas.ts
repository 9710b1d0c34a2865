// Result schemas: what summaryJson holds, member by member, and the columns of trade rows.
import { z } from 'zod';
import { FLAT_DESCRIPTIONS, FLAT_KEYS, statisticOf, SYMBOL_COLUMN, TRADE_COLUMNS } from '../../engine/index.ts';
import { instantOrNull, Json } from '../http/routeSchemas.ts';

const number = (description: string) => z.number().nullable().optional().meta({ description });
const count = (description: string) => z.int().optional().meta({ description });

const flat = Object.fromEntries(
  FLAT_KEYS.map((key) => [
    key,
    statisticOf(key).unit === 'instant'
      ? z.iso.datetime().nullable().optional().meta({ description: FLAT_DESCRIPTIONS[key] })
      : number(FLAT_DESCRIPTIONS[key]),
  ]),
);

const RuleStats = z
  .looseObject({
    nodeId: z.string(),
    path: z.string().meta({ description: 'JSON pointer into the payload as it was sent.' }),
    role: z.string(),
    kind: z.string(),
    text: z.string(),
    evaluated: count('Bars on which it was read.'),
    trueCount: count('Bars on which it was true.'),
    falseCount: count('Bars on which it was false.'),
    unknownCount: count('Bars on which a value was missing.'),
    trueRate: number('trueCount / evaluated, 0 to 1; null when it was never read.'),
    firstTrueAt: instantOrNull('Open time of the first bar on which it was true; null: it never was.'),
    lastTrueAt: instantOrNull('Open time of the last bar on which it was true; null: it never was.'),
    soleBlockerCount: z.int().nullable().optional().meta({
      description: 'Bars on which every other condition of its rule was true and only this one false.',
    }),
  })
  .meta({ id: 'RuleStatistics' });

const InstrumentRow = z
  .looseObject({
    symbol: z.string(),
    bars: count('Bars that were evaluated.'),
    trades: count('Closing fills.'),
    winRate: number('Share of the trades with a profit, 0 to 1.'),
    grossPnl: number('Before all costs, quote currency.'),
    netPnl: number('After all costs, quote currency.'),
    contribution: number('netPnl / initial balance. Over all instruments they add up to returnPct.'),
    averageWeightPct: number('|value| as a fraction of equity, averaged over the instants of the run.'),
    maxWeightPct: number('The largest |value|, as a fraction of equity.'),
    rankedOut: count('Signals that no free slot was left for.'),
  })
  .meta({ id: 'InstrumentResult' });

const StrategyTrace = z
  .looseObject({
    diagnosis: z
      .array(
        z.looseObject({
          code: z.string(),
          severity: z.string().optional(),
          nodeId: z.string().nullable().optional(),
          path: z.string().nullable().optional(),
          message: z.string().optional(),
          suggestion: z.string().optional(),
        }),
      )
      .optional()
      .meta({ description: 'What stands out, the worst first.' }),
    funnel: Json.optional().meta({
      description: 'Counts from bars to signals, orders, entries and exits; `allocation` has those of rebalances.',
    }),
    nearMisses: z
      .array(Json)
      .optional()
      .meta({ description: 'Bars on which one condition alone kept a rule from being true, the nearest first.' }),
    samples: z.array(Json).optional().meta({ description: 'Single bars with the value of every named node.' }),
  })
  .meta({ id: 'StrategyTrace' });

/** Everything is optional: a result keeps the members that its engine knew. */
export const SummaryJson = z
  .looseObject({
    strategyTrace: StrategyTrace.optional(),
    ruleStatsSummary: z
      .looseObject({ rules: z.array(RuleStats).optional() })
      .optional()
      .meta({ description: 'What each condition did on the bars it was read on.' }),
    ...flat,
    byExitReason: Json.optional().meta({ description: 'Exit reason → trades, pnl, winRate.' }),
    bySide: Json.optional().meta({ description: 'long and short → positions, pnl, winRate.' }),
    byMonth: z
      .array(
        z.looseObject({
          month: z.string().meta({ description: 'YYYY-MM, UTC.' }),
          returnPct: z.number().meta({
            description: 'Equity at its end / equity at the end of the month before - 1. A fraction: 0.05 is 5 %.',
          }),
          equity: z.number(),
        }),
      )
      .optional(),
    fees: Json.optional().meta({
      description: 'total, maker, taker, what each tier charged, and byKind with fees per order.',
    }),
    carry: Json.optional().meta({ description: 'borrowPaid and dividendsReceived, where the config has these.' }),
    instruments: z.array(InstrumentRow).optional().meta({
      description: 'Of a portfolio: at most 100 instruments, the largest contribution first.',
    }),
    portfolio: Json.optional().meta({
      description: 'Of a portfolio: exposure, positions, turnover per year, concentration and days in cash.',
    }),
    ambiguity: Json.optional().meta({
      description: 'Bars that touched several levels, how each was decided, and the returns under both readings.',
    }),
    dataQuality: Json.optional().meta({ description: 'Gaps, partial bars and outliers of the bars it ran on.' }),
    evaluationWindow: Json.optional().meta({
      description: 'start and end (ms UTC) of the evaluated bars, and the warm-up before them.',
    }),
    conventions: Json.optional().meta({ description: 'How the statistics were computed.' }),
    equityPreview: z
      .array(z.tuple([z.number(), z.number()]))
      .optional()
      .meta({ description: 'At most 500 points [bar time in ms UTC, equity].' }),
  })
  .meta({
    id: 'SummaryJson',
    description:
      'Read strategyTrace and ruleStatsSummary first. Keys that end in Pct are fractions (0.05 is 5 %), keys that ' +
      'end in At are ISO 8601, other times are open times of bars in ms UTC. Undefined numbers are null.',
  });

/** A row of the trades artifact as JSON. Other artifacts have columns of their own. */
export const TradeRow = z
  .looseObject(
    Object.fromEntries(
      Object.entries({ symbol: SYMBOL_COLUMN, ...TRADE_COLUMNS }).map(([name, { type, description }]) => [
        name,
        (type === 'text' ? z.string() : z.number()).nullable().optional().meta({ description }),
      ]),
    ),
  )
  .meta({ id: 'TradeRow', description: 'One closing fill. A position that closes in parts has several rows.' });
