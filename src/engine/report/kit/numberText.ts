// Numbers as a report writes them: one precision per kind of number, real minus signs, and never a negative zero.

const MAX_DECIMALS = 8;
/** The most digits a price is shown with, unless its tick size needs more: 1.08543, 1455.22. */
const PRICE_DIGITS = 6;
const MISSING = '–';

/** Fixed decimals, thousands grouped. */
export function fixed(value: number | null | undefined, decimals: number): string {
  if (isMissing(value)) return MISSING;
  const [whole, fraction] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** A fraction in percent, without the percent sign, which the table's heading shows. */
export const percent = (fraction: number | null | undefined, decimals = 2): string =>
  fixed(fraction === null || fraction === undefined ? null : fraction * 100, decimals);

/** A fraction in percent, with the percent sign. */
export function percentWithSign(fraction: number | null | undefined): string {
  const text = percent(fraction);
  return text === MISSING ? text : `${text}\u00a0%`;
}

/** Four significant digits of a number; other values as they are. */
export function significant(value: number | string | boolean | null | undefined): string {
  if (typeof value !== 'number') return value === null || value === undefined ? MISSING : String(value);
  return isMissing(value) ? MISSING : String(Number(value.toPrecision(4)));
}

const isMissing = (value: number | null | undefined): value is null | undefined =>
  value === null || value === undefined || !Number.isFinite(value);

/** A rate that may be small, with as many decimals as it has, at most 4. */
export const rate = (fraction: number): string => `${trimmed(fraction * 100, 4)}\u00a0%`;

/** At most `decimals` decimals, without trailing zeros. */
export function trimmed(value: number, decimals: number): string {
  const text = fixed(value, decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

export const count = (value: number | null | undefined): string => fixed(value, 0);

export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
export const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

/** How the prices, amounts and times of this run are written. */
export interface Precision {
  readonly price: number;
  readonly money: number;
  readonly quantity: number;
  readonly time: (ms: number) => string;
}

/**
 * The share of prices that must be shown in full. Prices before decimalization were in eighths and sixteenths: a few of
 * them must not lengthen all the others.
 */
const USUAL_SHARE = 0.75;

/** The decimals of the tick size if it is known, else those that most prices need, within PRICE_DIGITS; at least 2. */
export function priceDecimals(tickSize: number | null, prices: Float64Array): number {
  if (tickSize !== null && tickSize > 0) return Math.max(2, decimalsOf(tickSize));
  const step = Math.max(1, Math.floor(prices.length / 1000));
  const sample = prices.filter((price, index) => index % step === 0 && price > 0).sort();
  if (sample.length === 0) return 2;
  const decimals = Float64Array.from(sample, decimalsOf).sort();
  const usual = decimals[Math.ceil((decimals.length - 1) * USUAL_SHARE)];
  const digitsBeforePoint = Math.floor(Math.log10(sample[sample.length >> 1])) + 1;
  return Math.max(2, Math.min(usual, PRICE_DIGITS - digitsBeforePoint, MAX_DECIMALS));
}

function decimalsOf(value: number): number {
  for (let decimals = 0; decimals < MAX_DECIMALS; decimals++) {
    if (Number(value.toFixed(decimals)) === value) return decimals;
  }
  return MAX_DECIMALS;
}

/** Two decimals, or more if the whole account is only a few units. */
export const moneyDecimals = (initialBalance: number): number =>
  initialBalance >= 100 ? 2 : initialBalance >= 1 ? 4 : MAX_DECIMALS;

/** The decimals of the quantity step, within six significant digits of the largest quantity. */
export function quantityDecimals(qtyStep: number, largest: number): number {
  const ofStep = qtyStep > 0 ? decimalsOf(qtyStep) : MAX_DECIMALS;
  const digitsBeforePoint = largest >= 1 ? Math.floor(Math.log10(largest)) + 1 : 0;
  return Math.min(ofStep, Math.max(0, 6 - digitsBeforePoint));
}
