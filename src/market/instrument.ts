// Instruments: the metadata of a symbol, from what is given and the defaults (design §2).
import { z } from 'zod';
import type { Instrument } from '../engine/columns/bars.ts';
import { refuse } from './refusal.ts';

/** What `--instrument` and data/series.json may say; everything else has a default. */
export const InstrumentFields = z.strictObject({
  base: z.string().min(1).max(100).nullable().optional(),
  quote: z.string().min(1).max(100).nullable().optional(),
  tickSize: z.number().positive().nullable().optional(),
  qtyStep: z.number().min(0).optional(),
  minNotional: z.number().min(0).optional(),
  tradesAllDay: z.boolean().optional(),
});
export type InstrumentFields = z.infer<typeof InstrumentFields>;

export const SYNTHETIC_PREFIX = 'SYN-';
/** Letters, digits and what exchanges put between them; no path, no blank. */
const SYMBOL = /^[A-Za-z0-9^$][A-Za-z0-9._:^=-]{0,99}$/;
/** Quote currencies that a symbol may end in, longest first, so that BTCUSDT is BTC in USDT and not BTCU in SDT. */
const QUOTES = ['USDT', 'USDC', 'BUSD', 'FDUSD', 'TUSD', 'USD', 'EUR', 'GBP', 'JPY', 'TRY', 'BTC', 'ETH', 'BNB'];

/** Step of quantities where nothing else is known: the eighth decimal, as exchanges have it. */
const DEFAULT_QTY_STEP = 1e-8;

/**
 * `tradesAllDay` defaults to true (crypto); series that close at night say false themselves. Symbols that begin SYN- are marked synthetic.
 * @throws MarketDataError SYMBOL_INVALID
 */
export function makeInstrument(symbol: string, given: InstrumentFields = {}): Instrument {
  checkSymbol(symbol);
  const guess = guessPair(symbol);
  return {
    symbol,
    base: given.base === undefined ? guess.base : given.base,
    quote: given.quote === undefined ? guess.quote : given.quote,
    tickSize: given.tickSize ?? null,
    qtyStep: given.qtyStep ?? DEFAULT_QTY_STEP,
    minNotional: given.minNotional ?? 0,
    tradesAllDay: given.tradesAllDay ?? true,
    synthetic: symbol.startsWith(SYNTHETIC_PREFIX),
  };
}

/**
 * Reads the JSON of `--instrument`.
 * @throws MarketDataError INSTRUMENT_INVALID
 */
export function parseInstrumentFields(text: string): InstrumentFields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse('INSTRUMENT_INVALID', `The instrument is no JSON: ${(error as Error).message}. Write {"qtyStep": 1}.`);
  }
  const parsed = InstrumentFields.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .map((issue) => `${issue.path.join('.') || 'instrument'}: ${issue.message}`)
    .join('; ');
  refuse('INSTRUMENT_INVALID', `${faults}. Members: ${Object.keys(InstrumentFields.shape).join(', ')}.`);
}

export function checkSymbol(symbol: string): void {
  if (SYMBOL.test(symbol)) return;
  refuse('SYMBOL_INVALID', `"${symbol}" is no symbol: use up to 100 letters, digits and . _ : ^ = -, such as BTCUSDT.`);
}

/** BTCUSDT, BTC-USD, SYN-BTC: what is bought and what it is paid in, null where the symbol does not tell. */
function guessPair(symbol: string): { base: string | null; quote: string | null } {
  if (symbol.startsWith(SYNTHETIC_PREFIX)) return { base: symbol.slice(SYNTHETIC_PREFIX.length), quote: 'USDT' };
  const quote = QUOTES.find((candidate) => symbol.endsWith(candidate) && symbol.length > candidate.length);
  if (!quote) return { base: null, quote: null };
  return { base: symbol.slice(0, -quote.length).replace(/[-_.:]$/, ''), quote };
}
