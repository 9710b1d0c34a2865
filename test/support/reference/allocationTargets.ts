// The target weights of an allocation, as its rules tell them: who is eligible, who is selected, how much each gets.
import type { LegPlaces } from '../../../src/engine/evaluate/tradingRules.ts';

/** What an instrument is at the instant of a rebalance. */
export interface Standing {
  readonly symbol: string;
  /** It has a bar at this instant, and its warm-up has ended. */
  readonly isPresent: boolean;
  /** By leg; null: there is no such leg. `by` is NaN where missing, and 0 for all where nothing is ranked. */
  readonly long: LegStanding | null;
  readonly short: LegStanding | null;
  /** What its weight is computed from, NaN: missing. */
  readonly weightBy: number;
  /** Value / equity of the holding, negative for a short; 0: none. */
  readonly weight: number;
}
interface LegStanding {
  readonly by: number;
  readonly where: boolean;
  readonly require: boolean;
}
export interface TargetRules {
  readonly long: { readonly places: LegPlaces; readonly keepWithin: number | null } | null;
  readonly short: { readonly places: LegPlaces; readonly keepWithin: number | null } | null;
  readonly mode: 'equal' | 'inverse' | 'proportional' | 'fixed';
  /** Percent points of the gross. */
  readonly values: Readonly<Record<string, number>> | null;
  readonly maxPercent: number | null;
  readonly fallback: string | null;
}

type Side = 'long' | 'short';

export interface Leg {
  readonly side: Side;
  readonly places: number;
  /** Places that its holdings without a bar leave. */
  readonly free: number;
  /** How many are eligible, those that the other leg has taken included. */
  readonly eligible: number;
  readonly absent: readonly Standing[];
  /** In the order in which they were selected. */
  readonly selected: readonly Standing[];
}

/**
 * A weight per instrument, as a fraction of equity; a holding without a bar keeps its own.
 * @param chosen is told what each leg has chosen
 */
export function referenceTargets(
  rules: TargetRules,
  standings: readonly Standing[],
  gross: number,
  chosen: (leg: Leg) => void = () => {},
): number[] {
  const target = new Map<Standing, number>(standings.map((each) => [each, each.isPresent ? 0 : each.weight]));
  const long = legOf(rules, 'long', standings, new Set());
  const short = legOf(rules, 'short', standings, new Set(long?.selected));
  const legs = [long, short].filter((leg) => leg !== null);
  for (const leg of legs) chosen(leg);
  const places = legs.reduce((sum, leg) => sum + leg.places, 0);
  const fallback = standings.find(({ symbol }) => symbol === rules.fallback);
  const plans = legs.map((leg) => {
    const share = Math.max(0, (gross * leg.places) / places - heldBy(leg.absent));
    const passing = leg.selected.filter((each) => each[leg.side]!.require);
    const invested = leg.free === 0 ? 0 : (share * passing.length) / leg.free;
    const forFallback = fallback?.isPresent === true && leg.free > 0 ? fallbackPart(rules, leg, share, gross) : 0;
    return { leg, passing, invested, forFallback };
  });
  // Holdings without a bar may take more than the share of their leg, or be of none: the gross bounds all together.
  const planned = plans.reduce((sum, { invested, forFallback }) => sum + invested + forFallback, 0);
  const held = heldBy(standings.filter(({ isPresent }) => !isPresent));
  const factor = held + planned > gross && planned > 0 ? Math.max(0, gross - held) / planned : 1;
  for (const { leg, passing, invested, forFallback } of plans) {
    const weights = weightsOf(rules, passing, invested * factor, gross);
    for (const [at, each] of passing.entries()) target.set(each, (leg.side === 'long' ? 1 : -1) * weights[at]);
    if (fallback?.isPresent === true)
      target.set(fallback, target.get(fallback)! + forFallback * (rules.mode === 'fixed' ? 1 : factor));
  }
  return standings.map((each) => target.get(each)!);
}

const heldBy = (standings: readonly Standing[]): number =>
  standings.reduce((sum, { weight }) => sum + Math.abs(weight), 0);

/** What failed and empty places leave to the fallback. */
function fallbackPart(
  { mode, values }: TargetRules,
  { side, free, selected }: Leg,
  share: number,
  gross: number,
): number {
  const failed = selected.filter((each) => !each[side]!.require);
  if (mode === 'fixed') return failed.reduce((sum, { symbol }) => sum + (values![symbol] * gross) / 100, 0);
  return (share * (free - selected.length + failed.length)) / free;
}

function legOf(
  rules: TargetRules,
  side: Side,
  standings: readonly Standing[],
  taken: ReadonlySet<Standing>,
): Leg | null {
  const form = rules[side];
  if (form === null) return null;
  const sign = side === 'long' ? 1 : -1;
  // A percent counts what the other leg has taken too.
  const counted = standings.filter((each) => isEligible(rules, each, side));
  const eligible = counted.filter((each) => !taken.has(each));
  // Largest first for a long leg, smallest first for a short one; sorting keeps the order of the list at equal ones.
  const ranked = eligible.toSorted((a, b) => sign * (b[side]!.by - a[side]!.by));
  const absent = standings.filter(
    ({ symbol, isPresent, weight }) => !isPresent && Math.sign(weight) === sign && symbol !== rules.fallback,
  );
  const count = form.places.kind === 'share' ? counted.length : eligible.length;
  const places = placesOf(form.places, count, absent.length);
  const free = Math.max(0, places - absent.length);
  const staying = ranked.slice(0, form.keepWithin ?? places).filter(({ weight }) => Math.sign(weight) === sign);
  const kept = form.keepWithin === null ? [] : staying.slice(0, free);
  const others = ranked.filter((each) => !kept.includes(each));
  return { side, places, free, eligible: counted.length, absent, selected: [...kept, ...others].slice(0, free) };
}

function placesOf(places: LegPlaces, eligible: number, absent: number): number {
  if (places.kind === 'count') return places.count;
  return places.kind === 'eligible' ? eligible + absent : Math.max(1, Math.floor((places.percent * eligible) / 100));
}

function isEligible({ mode, values, fallback }: TargetRules, standing: Standing, side: Side): boolean {
  const { symbol, isPresent, weightBy } = standing;
  const { by, where } = standing[side]!;
  if (!isPresent || symbol === fallback || Number.isNaN(by) || !where) return false;
  if (mode === 'fixed') return values![symbol] !== undefined;
  return mode === 'equal' || weightBy > 0;
}

function weightsOf(rules: TargetRules, passing: readonly Standing[], invested: number, gross: number): number[] {
  const cap = rules.maxPercent === null ? Infinity : rules.maxPercent / 100;
  if (rules.mode === 'fixed') return passing.map(({ symbol }) => Math.min(cap, (rules.values![symbol] * gross) / 100));
  const parts = passing.map(({ weightBy }) =>
    rules.mode === 'equal' ? 1 : rules.mode === 'inverse' ? 1 / weightBy : weightBy,
  );
  const capped = new Set<number>();
  for (;;) {
    const free = parts.reduce((sum, part, at) => (capped.has(at) ? sum : sum + part), 0);
    const rest = capped.size === 0 ? invested : Math.max(0, invested - capped.size * cap);
    const weights = parts.map((part, at) => (capped.has(at) ? cap : (rest * part) / free));
    const above = weights.findIndex((weight, at) => !capped.has(at) && weight > cap);
    if (above < 0) return weights;
    for (const [at, weight] of weights.entries()) if (weight > cap) capped.add(at);
  }
}
