// Instruments: the metadata of a symbol, from stated fields, from the bars, and from defaults.
import { z } from 'zod';
import type { Instrument } from '../engine/bars/bars.ts';
import { EXCHANGES, findExchange } from '../engine/bars/exchangeCalendar.ts';
import { periodsPerYear } from '../engine/bars/periodsPerYear.ts';
import type { Calendar } from './calendar.ts';
import { refuse } from './import/importError.ts';

/** What `--instrument` and data/series.json may state; everything else is inferred or has a default. */
export const InstrumentFields = z.strictObject({
  base: z.string().min(1).max(100).nullable().optional(),
  quote: z.string().min(1).max(100).nullable().optional(),
  tickSize: z.number().positive().nullable().optional(),
  qtyStep: z.number().min(0).optional(),
  minNotional: z.number().min(0).optional(),
  tradesAllDay: z.boolean().optional(),
  /** The same as `tradesAllDay`, as results state it. */
  periodsPerYear: z.literal([252, 365]).optional(),
  /** The exchange whose trading days and hours it has, by its MIC; null: those that the bars show. */
  calendar: z
    .string()
    .refine((name) => findExchange(name) !== undefined, {
      error: () => `Use ${EXCHANGES.map(({ name }) => name).join(', ')}, or null for the days that the bars show.`,
    })
    .nullable()
    .optional(),
});
export type InstrumentFields = z.infer<typeof InstrumentFields>;

export const SYNTHETIC_PREFIX = 'SYN-';
/** Letters, digits and the punctuation that exchanges use; no path separators or spaces. */
const SYMBOL = /^[A-Za-z0-9^$][A-Za-z0-9._:^=-]{0,99}$/;
/** Quote currencies that a symbol may end in, longest first, so that BTCUSDT is BTC in USDT. */
const QUOTES = ['USDT', 'USDC', 'BUSD', 'FDUSD', 'TUSD', 'USD', 'EUR', 'GBP', 'JPY', 'TRY', 'BTC', 'ETH', 'BNB'];

/** The default quantity step: the eighth decimal, as on crypto exchanges. */
const DEFAULT_QTY_STEP = 1e-8;

/**
 * The metadata of a symbol: stated fields override what the bars show (`calendar`), which overrides the defaults.
 * Symbols that begin with SYN- are marked synthetic.
 * @throws MarketDataError SYMBOL_INVALID, INSTRUMENT_INVALID
 */
export function makeInstrument(symbol: string, given: InstrumentFields = {}, calendar?: Calendar): Instrument {
  checkSymbol(symbol);
  const stated = statedCalendar(given);
  const known = stated ?? calendar;
  const tradesAllDay = known?.tradesAllDay ?? true;
  const counted = known?.daysPerYear;
  const isOther = counted !== undefined && counted !== periodsPerYear({ tradesAllDay });
  const basis = isOther ? 'counted_days' : known?.basis;
  const guess = guessPair(symbol);
  return {
    symbol,
    base: given.base === undefined ? guess.base : given.base,
    quote: given.quote === undefined ? guess.quote : given.quote,
    tickSize: given.tickSize ?? null,
    qtyStep: given.qtyStep ?? DEFAULT_QTY_STEP,
    minNotional: given.minNotional ?? 0,
    tradesAllDay,
    ...(basis && { calendarBasis: basis }),
    ...(isOther && { periodsPerYear: counted }),
    synthetic: symbol.startsWith(SYNTHETIC_PREFIX),
    ...(given.calendar != null && { calendar: findExchange(given.calendar)!.name }),
  };
}

/**
 * The metadata of a symbol that was imported before: stated fields persist until they are stated differently, inferred
 * ones are inferred again.
 * @throws MarketDataError INSTRUMENT_INVALID
 */
export function updateInstrument(known: Instrument, given: InstrumentFields, calendar: Calendar): Instrument {
  const { symbol, base, quote, tickSize, qtyStep, minNotional, tradesAllDay } = known;
  // Old snapshots do not record the basis: true was the default, and false was always stated.
  const calendarBasis = known.calendarBasis ?? (tradesAllDay ? 'assumed' : 'given');
  const kept = { base, quote, tickSize, qtyStep, minNotional, calendar: known.calendar };
  const keptCalendar = calendarBasis === 'given' && statedCalendar(given) === null ? { tradesAllDay } : {};
  // A short file must not undo what a longer one showed.
  const isShown = calendar.basis !== 'assumed' || calendar.daysPerYear !== undefined;
  const shown = isShown ? calendar : { tradesAllDay, basis: calendarBasis };
  const daysPerYear = calendar.daysPerYear ?? known.periodsPerYear;
  return makeInstrument(
    symbol,
    { ...kept, ...keptCalendar, ...given },
    { ...shown, ...(daysPerYear !== undefined && { daysPerYear }) },
  );
}

/** @throws MarketDataError INSTRUMENT_INVALID */
function statedCalendar({ tradesAllDay, periodsPerYear: periods }: InstrumentFields): Calendar | null {
  if (tradesAllDay === undefined && periods === undefined) return null;
  if (tradesAllDay !== undefined && periods !== undefined && tradesAllDay !== (periods === 365))
    refuse(
      'INSTRUMENT_INVALID',
      `tradesAllDay ${tradesAllDay} and periodsPerYear ${periods} contradict each other: a market ` +
        `that trades all day has 365 periods per year, any other 252. Give one of them.`,
    );
  return { tradesAllDay: tradesAllDay ?? periods === 365, basis: 'given' };
}

/**
 * Reads the JSON of `--instrument`.
 * @param calendar that of `--calendar`, where `none` stands for the days that the bars show
 * @throws MarketDataError INSTRUMENT_INVALID
 */
export function parseInstrumentFields(text: string, calendar?: string): InstrumentFields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse(
      'INSTRUMENT_INVALID',
      `The instrument is not valid JSON: ${(error as Error).message}. Write it like {"qtyStep": 1}.`,
    );
  }
  const parsed = InstrumentFields.safeParse(calendar === undefined ? value : withCalendar(value, calendar));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .map((issue) => `${issue.path.join('.') || 'instrument'}: ${issue.message}`)
    .join('; ');
  refuse(
    'INSTRUMENT_INVALID',
    `The instrument is not valid. ${faults}. It may have the members ` +
      `${Object.keys(InstrumentFields.shape).join(', ')}.`,
  );
}

const withCalendar = (value: unknown, calendar: string): unknown =>
  typeof value === 'object' ? { ...value, calendar: calendar === 'none' ? null : calendar } : value;

/** @throws MarketDataError SYMBOL_INVALID */
export function checkSymbol(symbol: string): void {
  if (SYMBOL.test(symbol)) return;
  refuse(
    'SYMBOL_INVALID',
    `"${symbol}" is not a symbol. Use up to 100 letters, digits and . _ : ^ = -, such as BTCUSDT.`,
  );
}

/** Base and quote of symbols such as BTCUSDT, BTC-USD and SYN-BTC; null if the symbol does not show it. */
function guessPair(symbol: string): { base: string | null; quote: string | null } {
  if (symbol.startsWith(SYNTHETIC_PREFIX)) return { base: symbol.slice(SYNTHETIC_PREFIX.length), quote: 'USDT' };
  const quote = QUOTES.find((candidate) => symbol.endsWith(candidate) && symbol.length > candidate.length);
  if (!quote) return { base: null, quote: null };
  return { base: symbol.slice(0, -quote.length).replace(/[-_.:]$/, ''), quote };
}
