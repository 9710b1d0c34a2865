// Units: the number that a text such as "95%" or "$10,000" stands for, where its place says which unit it takes.
import { LEVEL_MODES } from '../../definitions/levels/levelModes.ts';
import { EXIT_SIZES } from '../../definitions/sizing/exitSizes.ts';
import { findSizingMode, SIZING_MODES } from '../../definitions/sizing/sizingModes.ts';
import { numericText } from '../issues/displayNames.ts';
import type { Members } from '../grammar/payloadObjects.ts';

/** The number that is meant, and how to write it. */
interface NumberMeant {
  readonly value: number;
  readonly advice: string;
}

/** The number that a text such as "95%", "5 bps", "$10,000", "10k" or "10x" certainly stands for in its place. */
export function unitMeant(owner: Members, name: string, value: unknown): NumberMeant | undefined {
  if (typeof value !== 'string' || value.length > MAX_LENGTH) return undefined;
  return percentMeant(owner, name, value) ?? basisPoints(owner, name, value) ?? amountMeant(owner, name, value);
}
/** No number that an author writes is longer. */
const MAX_LENGTH = 40;

/** The number that a percent such as "95%" stands for, where the unit of its place is certain. */
export function percentMeant(owner: Members, name: string, value: unknown): NumberMeant | undefined {
  const [, text] = (typeof value === 'string' && /^\s*(\d{1,9}(?:\.\d{1,9}|,\d{1,2})?)\s*%\s*$/.exec(value)) || [];
  if (text === undefined) return undefined;
  const points = Number(text.replace(',', '.'));
  if (name.endsWith('Percent') || (name === 'value' && PERCENT_MODES.has(owner.mode)))
    return { value: points, advice: `Write ${points}: percents are in points.` };
  return FRACTIONS.has(name) ? fractionOf(points, 100) : undefined;
}

function fractionOf(points: number, whole: number): NumberMeant {
  const fraction = Number((points / whole).toPrecision(12));
  return { value: fraction, advice: `Write ${fraction}: this is a fraction.` };
}

/** Modes of sizes, exits and stops whose `value` is in percent points. */
const PERCENT_MODES: ReadonlySet<unknown> = new Set(
  [...LEVEL_MODES, ...SIZING_MODES, ...EXIT_SIZES].flatMap(({ mode, unit }) => (unit === 'percentPoints' ? mode : [])),
);
const FRACTIONS: ReadonlySet<string> = new Set([
  'quantile', 'makerRate', 'takerRate', 'fundingRate', 'maintenanceMarginRate', 'maxRate',
  'borrowRatePerYear', 'riskFreeRatePerYear',
]); // prettier-ignore

function basisPoints(owner: Members, name: string, value: string): NumberMeant | undefined {
  const [, text] = /^\s*(\d{1,9}(?:\.\d{1,9})?)\s*bps?\s*$/i.exec(value) ?? [];
  if (text === undefined) return undefined;
  if (FRACTIONS.has(name)) return fractionOf(Number(text), 10_000);
  const isInBps = name === 'value' && owner.unit === 'bps';
  return isInBps ? { value: Number(text), advice: `Write ${Number(text)}: the unit is bps.` } : undefined;
}

/** An amount of money with its currency or in thousands, or a leverage with its x. */
function amountMeant(owner: Members, name: string, value: string): NumberMeant | undefined {
  const isAmount = AMOUNTS.has(name) || (name === 'value' && findSizingMode(owner.mode)?.unit === 'money');
  if (isAmount) {
    const text = value.replace(/^\s*[$€£]\s*/, '').replace(/\s*(?:[$€£]|USD[TC]?|EUR|GBP)\s*$/i, '');
    return thousandsMeant(text) ?? numberAlone(text, value);
  }
  if (name !== 'leverage') return undefined;
  return numberAlone(value.replace(/\s*x\s*$/i, '').replace(/^\s*1\s*:\s*/, ''), value);
}

function thousandsMeant(text: string): NumberMeant | undefined {
  const [, thousands] = /^\s*(\d{1,6}(?:\.\d{1,3})?)\s*k\s*$/i.exec(text) ?? [];
  return thousands === undefined ? undefined : bareNumber(Number((Number(thousands) * 1000).toPrecision(12)));
}

/** The number that is left of a text without its unit; undefined where it had none. */
function numberAlone(rest: string, text: string): NumberMeant | undefined {
  const number = rest === text ? undefined : numericText(rest);
  return number === undefined ? undefined : bareNumber(number);
}

const bareNumber = (number: number): NumberMeant => ({ value: number, advice: `Write ${number}: the number alone.` });

const AMOUNTS: ReadonlySet<string> = new Set(['initialBalance', 'minCumulativeNotional']);
