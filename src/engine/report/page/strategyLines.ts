// The strategy on the chart: its values as lines, over the price or in panes of their own, and its conditions as bits.
import { nextBit } from '../../kernels/bits.ts';
import type { EvaluatedPlan } from '../../evaluate/evaluatePlan.ts';
import type { Slot } from '../../plan/plan.ts';
import { conditionBits } from '../conditionBits.ts';
import type { InstrumentRun } from '../reportInput.ts';

/** More lines over the price would hide it, and more panes would leave none of them room. */
const MOST_OVERLAYS = 5;
const MOST_PANES = 3;
/** Lines that share a pane: an indicator and its signal line, or the bounds of a channel. */
const MOST_PER_PANE = 3;
const MOST_THRESHOLDS = 4;
const MOST_CONDITIONS = 8;
/** A value is drawn over the price if nearly all of it lies between half and twice the close. */
const PRICE_RATIO = 2;
const PRICE_SHARE = 0.9;

/** The rows of the bars in a point of the chart, `last` included; null: the instrument has no bar there. */
export type RowsOfPoint = { readonly first: number; readonly last: number } | null;

interface LayoutLine {
  readonly name: string;
  readonly slot: Slot;
  /** 0: over the price; others count from 1. */
  readonly pane: number;
}
/** What is drawn where: the same for every instrument of a run. */
export interface LineLayout {
  readonly lines: readonly LayoutLine[];
  /** Of each pane below the price, the numbers that conditions compare its lines with. */
  readonly thresholds: readonly (readonly number[])[];
  /** Values for which there was no room. */
  readonly left: readonly string[];
}

export interface ChartLine {
  readonly name: string;
  readonly pane: number;
  readonly values: readonly (number | null)[];
}
/** A condition: a hexadecimal digit holds four points, the first of them in its lowest bit. */
export interface ChartCondition {
  readonly name: string;
  readonly bits: string;
}

type DrawnRun = Pick<InstrumentRun, 'evaluated' | 'boundRules' | 'input'>;

/** @param mostLines as many as the page has room for */
export function lineLayout(run: DrawnRun, points: readonly RowsOfPoint[], mostLines: number): LineLayout {
  const { evaluated, input } = run;
  const { plan } = evaluated;
  const lines: LayoutLine[] = [];
  const left: string[] = [];
  const panes: LayoutLine[][] = [];
  const seen = new Set<Slot>();
  for (const { nodeId, type, slot } of [...plan.named, ...plan.compared]) {
    if (type !== 'value' || seen.has(slot) || !isDrawable(evaluated, slot)) continue;
    seen.add(slot);
    const values = lineValues(evaluated, slot, points);
    const closes = points.map((point) => (point === null ? null : shortened(input.bars.close[point.last])));
    // The close is already drawn, and a node without values has nothing to draw.
    if (values.every((value, at) => value === null || value === closes[at])) continue;
    const near = values.filter((value, at) => isNearPrice(value, closes[at])).length;
    const isOnPrice = near >= values.length * PRICE_SHARE;
    const pane = isOnPrice ? 0 : paneOf(evaluated, slot, panes);
    const isCrowded = isOnPrice && lines.filter((line) => line.pane === 0).length >= MOST_OVERLAYS;
    if (lines.length >= mostLines || isCrowded || pane > MOST_PANES) {
      left.push(nodeId);
      continue;
    }
    const line = { name: nodeId, slot, pane };
    lines.push(line);
    if (pane > 0) (panes[pane - 1] ??= []).push(line);
  }
  return { lines, thresholds: panes.map((of) => thresholdsOf(evaluated, of)), left };
}

/** A constant is not worth a line, and a price of the bar is in its candle. */
const isDrawable = (evaluated: EvaluatedPlan, slot: Slot): boolean =>
  evaluated.numberAt(slot) === undefined && evaluated.plan.steps[slot].op !== 'field';

const isNearPrice = (value: number | null, close: number | null): boolean =>
  value === null || close === null || (value > close / PRICE_RATIO && value < close * PRICE_RATIO);

/** The pane with a line that a condition compares this one with; else the next one. */
function paneOf({ plan }: EvaluatedPlan, slot: Slot, panes: readonly (readonly LayoutLine[])[]): number {
  const isCompared = (other: Slot): boolean =>
    plan.conditions.some(({ left, right }) => (left === slot && right === other) || (left === other && right === slot));
  const found = panes.findIndex((lines) => lines.length < MOST_PER_PANE && lines.some((line) => isCompared(line.slot)));
  return found < 0 ? panes.length + 1 : found + 1;
}

function thresholdsOf(evaluated: EvaluatedPlan, lines: readonly LayoutLine[]): number[] {
  const slots = new Set(lines.map(({ slot }) => slot));
  const numbers = evaluated.plan.conditions.flatMap(({ left, right }) => {
    if (left === null || right === null) return [];
    const other = slots.has(left) ? right : slots.has(right) ? left : null;
    const number = other === null ? undefined : evaluated.numberAt(other);
    return number === undefined ? [] : [number];
  });
  return [...new Set(numbers)].slice(0, MOST_THRESHOLDS);
}

/** The lines of one instrument; a point has the value at its last bar. */
export const chartLines = ({ evaluated }: DrawnRun, points: readonly RowsOfPoint[], layout: LineLayout): ChartLine[] =>
  layout.lines.map(({ name, slot, pane }) => ({ name, pane, values: lineValues(evaluated, slot, points) }));

function lineValues(evaluated: EvaluatedPlan, slot: Slot, points: readonly RowsOfPoint[]): (number | null)[] {
  const { values } = evaluated.value(slot);
  return points.map((point) => {
    const value = point === null ? NaN : values[point.last];
    return Number.isFinite(value) ? shortened(value) : null;
  });
}

/** Seven digits are more than a line shows, and take half the bytes of a full double. */
const shortened = (value: number): number => Number(value.toPrecision(7));

/** The conditions of the rules, without those that only join others: those that were true on any bar of a point. */
export function chartConditions(
  { evaluated, boundRules }: DrawnRun,
  points: readonly RowsOfPoint[],
): readonly ChartCondition[] {
  const { conditions } = evaluated.plan;
  const joins = new Set(conditions.map(({ parent }) => parent));
  const leaves = conditions.filter((_, index) => !joins.has(index));
  const distinct = leaves.filter(({ text }, index) => leaves.findIndex((other) => other.text === text) === index);
  return conditionBits(distinct.slice(0, MOST_CONDITIONS), evaluated, boundRules.recorded).map(({ node, isTrue }) => ({
    name: node.text,
    bits: pointBits(isTrue, points),
  }));
}

/** Whether any bit of each point is set, four points per hexadecimal digit. */
export function pointBits(words: Uint32Array, points: readonly RowsOfPoint[]): string {
  let text = '';
  for (let at = 0; at < points.length; at += 4) {
    let digit = 0;
    for (let bit = 0; bit < 4 && at + bit < points.length; bit++) {
      const point = points[at + bit];
      if (point !== null && nextBit(words, point.first, point.last + 1) <= point.last) digit |= 1 << bit;
    }
    text += digit.toString(16);
  }
  return text;
}
