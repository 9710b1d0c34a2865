// Members that several kinds of expressions and sections share: numbers and counts that a param may stand for, names,
// and the place that a value is read from.
import { z } from 'zod';
import { TIMEFRAMES } from '../bars/bars.ts';
import { issueCodes } from './issueCodes.ts';

/**
 * The most bars that a period, offset or wait may count: enough for the largest backtest of any tier, and no lookback
 * overflows.
 */
const MAX_BARS = 1_000_000;

export const ParamRef = z.strictObject({ param: z.string().min(1) });
export type ParamRef = z.infer<typeof ParamRef>;

/** A number, or a parameter that stands for one. */
export const Num = z.union([z.number(), ParamRef]);
export const Int = z.union([z.int(), ParamRef]);
/** A count of bars from 0, and one from 1. */
export const bars0 = z.union([z.int().min(0).max(MAX_BARS), ParamRef]);
export const bars1 = z.union([z.int().min(1).max(MAX_BARS), ParamRef]);

/** Members that every object of the AST may have. */
export const named = {
  id: z.string().max(200).optional(),
  label: z.string().max(500).optional(),
  description: z.string().max(2_000).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
};
/** Their names. */
export const NAMES: ReadonlySet<string> = new Set(Object.keys(named));
export const InstrumentRef = z.strictObject({ symbol: z.string().min(1) });
export const timeframe = z.enum(TIMEFRAMES).register(issueCodes, { code: 'UNKNOWN_TIMEFRAME' });
/** Where a value of the market is read: on another timeframe, some bars ago, of another instrument. */
export const placed = {
  timeframe: timeframe.optional(),
  offset: bars0.default(0),
  instrument: InstrumentRef.optional(),
};

export const tolerance = z.union([z.number().min(0), ParamRef]);

/** The description of `within`, of `cross` and `pattern`. */
export const WITHIN_BARS = 'n: true on any of the last n base bars, this one included. Default 1: on this bar only.';
