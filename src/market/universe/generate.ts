// Generating a member of the synthetic universe: daily bars from common factors and its own noise. Only + - * / and
// square roots are used, which every processor rounds alike, so that every host makes the same bytes.
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import { DAY_MS } from '../../engine/bars/bars.ts';
import { Random } from '../random.ts';
import { MARKET, MEMBERS } from './members.ts';
import type { Factor, Member } from './members.ts';

/**
 * All streams of random numbers begin with this seed and a name, so that no member changes when another is added. Of
 * the first seeds, this one gives the market, bonds and gold the returns that they had in the long run.
 */
const SEED = 6;
const EPOCH = Date.UTC(2012, 0, 1);
const DAYS = Math.round((Date.UTC(2024, 0, 1) - EPOCH) / DAY_MS);
/** Days on which a member that trades on weekdays has no bar. */
const HOLIDAYS = new Set(['01-01', '07-04', '12-25']);

const TRADING_DAYS = { weekdays: 252, all: 365 } as const;
/** GARCH(1,1) of factors: calm and wild months alternate. */
const GARCH = { shock: 0.08, memory: 0.9 };
/** A factor changes its drift every hundred days on average. */
const REGIME_CHANGE = 1 / 100;
/** Part of a day's return that happens before the open. */
const OVERNIGHT = 0.3;
/** Steps of the path from open to close, whose extremes are high and low. */
const PATH_STEPS = 6;
/** A uniform number of this width around 0 has the variance 1. */
const UNIFORM_WIDTH = Math.sqrt(12);
/** Part of a ratio's distance to its mean that a follower makes good per day. */
const REVERSION = 0.04;
/** No bar loses or gains more. */
const MAX_RETURN = 0.35;
const BASE_VOLUME = 4e7;

/** Days since EPOCH on which a member has a bar. */
function tradedDays({ tradesAllDay, first, last, absent }: Member): number[] {
  const [from, to] = [dayOf(first), dayOf(last)];
  const isAbsent = (day: number): boolean =>
    absent !== undefined && day >= dayOf(absent.from) && day <= dayOf(absent.to);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
    (day) => (tradesAllDay || isBusinessDay(day)) && !isAbsent(day),
  );
}

/** Open of the bar of a day, ms UTC. */
const timeOfDay = (day: number): number => EPOCH + day * DAY_MS;
const dayOf = (date: string): number => (Date.parse(date) - EPOCH) / DAY_MS;

let businessDays: readonly boolean[] | null = null;

function isBusinessDay(day: number): boolean {
  businessDays ??= Array.from({ length: DAYS }, (_, each) => {
    const date = new Date(timeOfDay(each));
    const weekday = date.getUTCDay();
    return weekday !== 0 && weekday !== 6 && !HOLIDAYS.has(date.toISOString().slice(5, 10));
  });
  return businessDays[day];
}

export function generateMember(member: Member): SnapshotColumns {
  const { symbol, tradesAllDay, firstPrice, decimals, marketBeta, group, groupBeta, follows } = member;
  const random = new Random(SEED, symbol);
  const perYear = tradesAllDay ? TRADING_DAYS.all : TRADING_DAYS.weekdays;
  const drift = member.drift / perYear;
  const deviation = member.deviation / Math.sqrt(perYear);
  const market = factorReturns(MARKET, false);
  const sector = factorReturns(group, tradesAllDay);
  const days = tradedDays(member);
  const leader = follows === undefined ? null : closesByDay(follows);
  const scale = 10 ** decimals;
  const round = (price: number): number => Math.max(1, Math.round(price * scale)) / scale;
  const columns = emptyColumns(days.length);
  let previous = firstPrice;
  for (const [row, day] of days.entries()) {
    const own = drift + deviation * normal(random);
    const common = leader === null ? marketBeta * market[day] + groupBeta * sector[day] : followed(leader, day);
    const open = round(previous * (1 + bounded(OVERNIGHT * (common + own))));
    const close = round(previous * (1 + bounded(common + own)));
    const path = Math.sqrt(deviation * deviation + common * common);
    const [low, high] = extremes(random, open, close, path);
    columns.time[row] = timeOfDay(day);
    columns.open[row] = open;
    columns.high[row] = Math.max(open, close, round(high));
    columns.low[row] = Math.min(open, close, round(low));
    columns.close[row] = close;
    columns.volume[row] = Math.round((BASE_VOLUME / firstPrice) * (0.5 + random.unit() + 40 * Math.abs(common + own)));
    previous = close;
  }
  return columns;

  /** The return of the leader, and a part of the way back to the usual ratio. */
  function followed(closes: Float64Array, day: number): number {
    const before = lastBefore(closes, day);
    if (before === 0) return 0;
    const ratio = previous / firstPrice / (before / closes[dayOf(member.first)]);
    return closes[day] / before - 1 - REVERSION * (ratio - 1);
  }
}

/** The lowest and the highest price of a random path from open to close. */
function extremes(random: Random, open: number, close: number, deviation: number): [number, number] {
  const steps = Array.from({ length: PATH_STEPS }, () => (random.unit() - 0.5) * UNIFORM_WIDTH);
  const mean = steps.reduce((sum, step) => sum + step, 0) / PATH_STEPS;
  let low = Math.min(open, close);
  let high = Math.max(open, close);
  let wandered = 0;
  for (const [at, step] of steps.entries()) {
    // Without its mean, the walk ends where it began: the path ends at the close.
    wandered += step - mean;
    const straight = open + (close - open) * ((at + 1) / PATH_STEPS);
    const price = straight * (1 + bounded((deviation / Math.sqrt(PATH_STEPS)) * wandered));
    low = Math.min(low, price);
    high = Math.max(high, price);
  }
  return [low, high];
}

const bounded = (change: number): number => Math.min(Math.max(change, -MAX_RETURN), MAX_RETURN);

/** Nearly normal with variance 1, and without a logarithm: the sum of twelve uniform numbers. */
function normal(random: Random): number {
  let sum = -6;
  for (let count = 0; count < 12; count++) sum += random.unit();
  return sum;
}

const keptFactors = new Map<string, Float64Array>();

/** The return of a factor on each day since EPOCH; 0 on days without trading. */
function factorReturns({ name, deviation, drifts, chance }: Factor, tradesAllDay: boolean): Float64Array {
  const kept = keptFactors.get(name);
  if (kept) return kept;
  const random = new Random(SEED, name);
  const perYear = tradesAllDay ? TRADING_DAYS.all : TRADING_DAYS.weekdays;
  const usual = (deviation * deviation) / perYear;
  const returns = new Float64Array(DAYS);
  let variance = usual;
  let drift = drifts[0];
  for (let day = 0; day < DAYS; day++) {
    if (!tradesAllDay && !isBusinessDay(day)) continue;
    if (random.unit() < REGIME_CHANGE) drift = drifts[random.unit() < chance ? 0 : 1];
    const shock = Math.sqrt(variance) * normal(random);
    returns[day] = drift / perYear + shock;
    variance = (1 - GARCH.shock - GARCH.memory) * usual + GARCH.shock * shock * shock + GARCH.memory * variance;
  }
  keptFactors.set(name, returns);
  return returns;
}

/** The closes of a member by day since EPOCH; 0 on days without a bar. */
function closesByDay(symbol: string): Float64Array {
  const { time, close } = generateMember(MEMBERS.find((member) => member.symbol === symbol)!);
  const closes = new Float64Array(DAYS);
  for (const [row, at] of time.entries()) closes[(at - EPOCH) / DAY_MS] = close[row];
  return closes;
}

function lastBefore(closes: Float64Array, day: number): number {
  for (let before = day - 1; before >= 0; before--) if (closes[before] > 0) return closes[before];
  return 0;
}

function emptyColumns(length: number): SnapshotColumns {
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(length));
  return { time, open, high, low, close, volume, series: new Map() };
}
