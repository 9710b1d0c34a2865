// Targets: from what is known of every instrument at one instant to the weights that an allocation gives them
// (semantics §8.9, §8.10).
import { weightModeOf } from '../../definitions/weights/weightModes.ts';
import type { AllocationRule, LegForm, LegPlaces } from '../../evaluate/tradingRules.ts';

/** What a leg knows of one instrument at the close of this instant. */
export interface LegFacts {
  /** What it is ranked by, NaN: missing; 0 for all where the leg ranks nothing. */
  readonly by: number;
  /** True where the leg does not ask. */
  readonly where: boolean;
  readonly require: boolean;
}
/** What is known of one instrument at an instant. */
export interface Candidate {
  readonly symbol: string;
  /** It has a bar at this instant, and its warm-up has ended. */
  readonly isPresent: boolean;
  /** null: the allocation has no such leg. */
  readonly long: LegFacts | null;
  readonly short: LegFacts | null;
  /** What its weight is computed from, NaN: missing; 1 for all where the mode reads nothing. */
  readonly weightBy: number;
  /** Value / equity of what is held, below 0 for a short; 0: nothing is held. */
  readonly weight: number;
}

/** What is the same for all instruments. */
export type AllocationForm = Pick<AllocationRule, 'fallback'> & {
  readonly long: LegForm | null;
  readonly short: LegForm | null;
  readonly weights: Pick<AllocationRule['weights'], 'mode' | 'values' | 'maxPercent'>;
};

/** A leg after it has chosen: each of its places is selected, failed, absent or empty. Instruments are indexes. */
interface ChosenLeg {
  readonly sign: 1 | -1;
  readonly places: number;
  readonly eligible: number;
  /** In the order of the symbols, in which sums run. */
  readonly selected: readonly number[];
  /** Chosen, but what the leg requires is not true. */
  readonly failed: readonly number[];
  /** Holdings without a bar: they keep their place and their weight. */
  readonly absent: readonly number[];
}

/** Sums over legs of what each chose. */
interface PlaceCounts {
  eligible: number;
  selected: number;
  failedRequire: number;
  emptyPlaces: number;
}

/** Gross, as a fraction of equity, by what it is for. */
interface Shares {
  readonly selected: number;
  /** Of failed and empty places. */
  readonly vacant: number;
}

/**
 * The target weight of every instrument, as a fraction of equity and below 0 for a short. A holding without a bar keeps
 * the weight it has.
 * @param candidates in the order of the list, which breaks ties
 * @param gross Σ |weight| to share out, as a fraction of equity
 * @param counts to add to, if given
 */
export function targetWeights(
  form: AllocationForm,
  candidates: readonly Candidate[],
  gross: number,
  counts: PlaceCounts | null = null,
): Float64Array {
  const targets = new Float64Array(candidates.length);
  const legs = chooseLegs(form, candidates);
  if (counts !== null) for (const leg of legs) countPlaces(counts, leg);
  const shares = legs.map((leg) => shareOut(form, leg, legs, candidates, Math.max(0, gross)));
  const fallback = candidates.findIndex(({ symbol }) => symbol === form.fallback);
  const kept = fallback >= 0 && !candidates[fallback].isPresent ? candidates[fallback].weight : null;
  const vacant = fallback < 0 || kept !== null ? 0 : sum(shares.map((share) => share.vacant));
  // Fixed weights are never rescaled.
  const scale = form.weights.values === null ? scaleWithin(gross, vacant, shares, candidates) : 1;
  legs.forEach((leg, at) => {
    for (const index of leg.absent) targets[index] = candidates[index].weight;
    const weights = weigh(form, leg, candidates, shares[at].selected * scale);
    leg.selected.forEach((index, place) => (targets[index] = leg.sign * weights[place]));
  });
  if (fallback >= 0) targets[fallback] = kept ?? vacant * scale;
  return targets;
}

function countPlaces(counts: PlaceCounts, { places, eligible, selected, failed, absent }: ChosenLeg): void {
  counts.eligible += eligible;
  counts.selected += selected.length;
  counts.failedRequire += failed.length;
  counts.emptyPlaces += Math.max(0, places - absent.length - selected.length - failed.length);
}

// Who ----------------------------------------------------------------------------------------------------------------

function chooseLegs(form: AllocationForm, candidates: readonly Candidate[]): ChosenLeg[] {
  const legs: ChosenLeg[] = [];
  if (form.long !== null) legs.push(chooseLeg('long', form, form.long, candidates, new Set()));
  if (form.short !== null) {
    // On overlap long comes first, even where what it requires is not true then.
    const taken = new Set(legs.flatMap(({ selected, failed }) => [...selected, ...failed]));
    legs.push(chooseLeg('short', form, form.short, candidates, taken));
  }
  return legs;
}

/** @param taken what the other leg has chosen */
function chooseLeg(
  side: 'long' | 'short',
  form: AllocationForm,
  { places: wanted, keepWithin }: LegForm,
  candidates: readonly Candidate[],
  taken: ReadonlySet<number>,
): ChosenLeg {
  const sign = side === 'long' ? 1 : -1;
  const isHeld = (index: number): boolean => sign * candidates[index].weight > 0;
  const factsOf = (index: number): LegFacts => candidates[index][side]!;
  const inList = indexesOf(candidates, ({ symbol }) => symbol !== form.fallback);
  const isWeighable = weighableBy(form);
  const eligible = inList.filter((index) => isEligible(candidates[index], factsOf(index), isWeighable));
  const rankable = taken.size === 0 ? eligible : eligible.filter((index) => !taken.has(index));
  const bySymbol = (a: number, b: number): number => (candidates[a].symbol < candidates[b].symbol ? -1 : 1);
  const absent = inList.filter((index) => !candidates[index].isPresent && isHeld(index)).sort(bySymbol);
  const places = placeCount(wanted, eligible.length, rankable.length + absent.length);

  const free = Math.max(0, places - absent.length);
  // The largest first for a long leg, the smallest for a short one.
  const ranked = firstRanked(rankable, (index) => sign * factsOf(index).by, Math.max(free, keepWithin ?? 0));
  const kept = new Set(keepWithin === null ? [] : ranked.slice(0, keepWithin).filter(isHeld).slice(0, free));
  const others = ranked.filter((index) => !kept.has(index)).slice(0, free - kept.size);
  const chosen = [...kept, ...others].sort(bySymbol);
  return {
    sign,
    places,
    eligible: eligible.length,
    selected: chosen.filter((index) => factsOf(index).require),
    failed: chosen.filter((index) => !factsOf(index).require),
    absent,
  };
}

function indexesOf(candidates: readonly Candidate[], test: (candidate: Candidate) => boolean): number[] {
  const indexes: number[] = [];
  candidates.forEach((candidate, index) => {
    if (test(candidate)) indexes.push(index);
  });
  return indexes;
}

/** The first `count` of these indexes by value, the largest first; equal ones stay in the order of the list. */
function firstRanked(indexes: readonly number[], valueOf: (index: number) => number, count: number): number[] {
  if (count === 0) return [];
  const values = new Float64Array(indexes.length);
  for (let at = 0; at < values.length; at++) values[at] = valueOf(indexes[at]);
  const least = count < values.length ? values.slice().sort()[values.length - count] : -Infinity;
  const contenders: number[] = [];
  for (let at = 0; at < values.length; at++) if (values[at] >= least) contenders.push(at);
  contenders.sort((a, b) => compared(values[b], values[a]));
  return contenders.slice(0, count).map((at) => indexes[at]);
}

function isEligible(
  candidate: Candidate,
  { by, where }: LegFacts,
  isWeighable: (candidate: Candidate) => boolean,
): boolean {
  return candidate.isPresent && where && !Number.isNaN(by) && isWeighable(candidate);
}

/** A mode of fixed values says by them who can be held; another one needs a positive number. */
function weighableBy({ weights: { mode, values } }: AllocationForm): (candidate: Candidate) => boolean {
  const { part } = weightModeOf(mode);
  return ({ symbol, weightBy }) => {
    const read = values === null ? weightBy : (values[symbol] ?? NaN);
    return read > 0 && Number.isFinite(read) && Number.isFinite(part(read));
  };
}

/** @param available as many instruments as the leg can hold, those without a bar included */
function placeCount(wanted: LegPlaces, eligible: number, available: number): number {
  switch (wanted.kind) {
    case 'count':
      return wanted.count;
    case 'share':
      return Math.max(1, Math.floor((wanted.percent * eligible) / 100));
    case 'eligible':
      return available;
  }
}

// How much -----------------------------------------------------------------------------------------------------------

/**
 * Every place has the same part of the gross, so that a place that is not selected stays cash. What holdings without a
 * bar keep is deducted from the gross of their leg, and shared by the other places.
 */
function shareOut(
  { weights: { values } }: AllocationForm,
  leg: ChosenLeg,
  legs: readonly ChosenLeg[],
  candidates: readonly Candidate[],
  gross: number,
): Shares {
  // Fixed weights are never rescaled: a failed place leaves its own value, and an empty one has none.
  if (values !== null) {
    const failed = leg.failed.map((index) => values[candidates[index].symbol]);
    return { selected: gross, vacant: (sum(failed) * gross) / 100 };
  }
  const free = leg.places - leg.absent.length;
  if (free <= 0) return { selected: 0, vacant: 0 };
  const ofLeg = (gross * leg.places) / sum(legs.map(({ places }) => places));
  const kept = sum(leg.absent.map((index) => Math.abs(candidates[index].weight)));
  const perPlace = Math.max(0, ofLeg - kept) / free;
  return { selected: perPlace * leg.selected.length, vacant: perPlace * (free - leg.selected.length) };
}

/**
 * What has no bar may hold more than the gross of its leg, or be the fallback: the others share what the gross leaves.
 * @param vacant what the fallback takes
 */
function scaleWithin(
  gross: number,
  vacant: number,
  shares: readonly Shares[],
  candidates: readonly Candidate[],
): number {
  const wanted = vacant + sum(shares.map(({ selected }) => selected));
  const absent = candidates.filter(({ isPresent, weight }) => !isPresent && weight !== 0);
  absent.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  const kept = sum(absent.map(({ weight }) => Math.abs(weight)));
  return wanted > 0 ? Math.min(1, Math.max(0, gross - kept) / wanted) : 1;
}

/** The weights of what a leg has selected, without their sign. */
function weigh(
  { weights: { mode, values, maxPercent } }: AllocationForm,
  { selected }: ChosenLeg,
  candidates: readonly Candidate[],
  share: number,
): number[] {
  const { part } = weightModeOf(mode);
  const most = maxPercent === null ? Infinity : maxPercent / 100;
  if (values !== null)
    return selected.map((index) => Math.min(most, (part(values[candidates[index].symbol]) * share) / 100));
  return sharedWithin(
    most,
    share,
    selected.map((index) => part(candidates[index].weightBy)),
  );
}

/** Shares in proportion to the parts, none above `most`: the excess goes to the others as long as they can take it. */
function sharedWithin(most: number, share: number, parts: readonly number[]): number[] {
  const isCapped = parts.map(() => false);
  for (;;) {
    const open = sum(parts.filter((_, at) => !isCapped[at]));
    const left = Math.max(0, share - sum(isCapped.map((each) => (each ? most : 0))));
    const weights = parts.map((part, at) => (isCapped[at] ? most : (left * part) / open));
    const above = weights.map((weight, at) => !isCapped[at] && weight > most);
    if (!above.includes(true)) return weights;
    above.forEach((isAbove, at) => (isCapped[at] ||= isAbove));
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const compared = (a: number, b: number): number => (a > b ? 1 : a < b ? -1 : 0);
