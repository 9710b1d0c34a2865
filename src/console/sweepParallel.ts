// Parallel coordinates: every variant of a sweep as a line through its parameters and its results.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { anyText, statisticOf, valueText } from './formats.ts';
import { html, type Children } from './markup.ts';
import { shadeAt } from './sweepHeatmap.ts';
import { shortName, type SweepRow } from './sweepRow.ts';

interface ParallelProps {
  readonly rows: readonly SweepRow[];
  readonly names: readonly string[];
  readonly objective: string;
  readonly chosen: number | null;
  readonly onChoose: (variant: number | null) => void;
}
interface Axis {
  readonly key: string;
  readonly title: string;
  /** From 0, at the foot, to 1; null: the row has no value. */
  readonly placeOf: (row: SweepRow) => number | null;
  readonly ends: readonly [low: string, high: string];
}

const HEIGHT = 260;
const TOP = 26;
const FOOT = 24;
const MARGIN = 60;
/** How near to a line a click must be, in pixels. */
const REACH = 12;

export function ParallelCoordinates({ rows, names, objective, chosen, onChoose }: ParallelProps): Children {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const axes = useMemo(() => {
    const results = [...new Set([objective, 'returnPct', 'maxDrawdown', 'totalPositions'])];
    return [...names, ...results]
      .filter((key) => rows.some((row) => row[key] !== undefined))
      .map((key) => axisOf(key, rows));
  }, [rows, names.join(), objective]);
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(Math.floor(contentRect.width)));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const again = (): void => draw(canvas.current!, width, axes, rows, objective, chosen);
    if (width > 0) again();
    dark.addEventListener('change', again);
    return () => dark.removeEventListener('change', again);
  }, [width, axes, rows, chosen]);
  const choose = (event: MouseEvent): void => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    onChoose(nearest(event.clientX - left, event.clientY - top, width, axes, rows));
  };
  return html`<section class="card" aria-labelledby="parallel">
    <h2 id="parallel">Parallel coordinates</h2>
    <p class="lead">
      One line per variant, brighter where ${statisticOf(objective)?.name ?? objective} is better. A click chooses one.
    </p>
    <canvas
      ref=${canvas}
      class="parallel"
      role="img"
      aria-label="Variants as lines; the table below has their numbers"
      onClick=${choose}
    ></canvas>
  </section>`; // prettier-ignore
}

function axisOf(key: string, rows: readonly SweepRow[]): Axis {
  const values = rows.map((row) => row[key]).filter((value) => value !== null && value !== undefined);
  const title = statisticOf(key)?.name ?? shortName(key);
  if (values.every((value) => typeof value === 'number')) {
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const placeOf = (row: SweepRow): number | null => {
      const value = row[key];
      return typeof value !== 'number' ? null : high > low ? (value - low) / (high - low) : 0.5;
    };
    return { key, title, placeOf, ends: [valueText(key, low), valueText(key, high)] };
  }
  const texts = [...new Set(values.map(anyText))];
  const placeOf = (row: SweepRow): number | null => {
    const at = texts.indexOf(anyText(row[key]));
    return at === -1 ? null : texts.length === 1 ? 0.5 : at / (texts.length - 1);
  };
  return { key, title, placeOf, ends: [texts[0], texts.at(-1)!] };
}

const xOf = (axis: number, axes: readonly Axis[], width: number): number =>
  MARGIN + ((width - 2 * MARGIN) * axis) / Math.max(1, axes.length - 1);
const yOf = (place: number): number => TOP + (1 - place) * (HEIGHT - TOP - FOOT);

function draw(
  canvas: HTMLCanvasElement,
  width: number,
  axes: readonly Axis[],
  rows: readonly SweepRow[],
  objective: string,
  chosen: number | null,
): void {
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = HEIGHT * scale;
  const pen = canvas.getContext('2d')!;
  pen.scale(scale, scale);
  const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const goal = axes.find(({ key }) => key === objective);
  const isLowerBetter = statisticOf(objective)?.better === 'lower';
  const goodness = (row: SweepRow): number => {
    const place = goal?.placeOf(row) ?? 0;
    return isLowerBetter ? 1 - place : place;
  };
  // The best lines lie on top.
  const ordered = rows.toSorted((a, b) => goodness(a) - goodness(b));
  pen.globalAlpha = chosen === null ? Math.max(0.06, Math.min(0.7, 60 / rows.length)) : 0.06;
  pen.lineWidth = 1.2;
  for (const row of ordered) line(pen, row, axes, width, `rgb(${shadeAt(goodness(row)).join()})`);
  pen.globalAlpha = 1;
  const picked = rows.find(({ variant }) => variant === chosen);
  pen.lineWidth = 2.5;
  if (picked !== undefined) line(pen, picked, axes, width, color('--accent'));
  pen.font = '11px system-ui, sans-serif';
  pen.textAlign = 'center';
  axes.forEach(({ title, ends: [low, high] }, index) => {
    const x = xOf(index, axes, width);
    pen.fillStyle = color('--line');
    pen.fillRect(x, TOP, 1, HEIGHT - TOP - FOOT);
    const most = Math.max(40, (width - 2 * MARGIN) / Math.max(1, axes.length - 1) - 6);
    pen.fillStyle = color('--ink');
    pen.fillText(title, x, 10, most);
    pen.fillStyle = color('--faint');
    pen.fillText(high, x, 22, most);
    pen.fillText(low, x, HEIGHT - 8, most);
  });
}

function line(pen: CanvasRenderingContext2D, row: SweepRow, axes: readonly Axis[], width: number, color: string): void {
  pen.strokeStyle = color;
  pen.beginPath();
  axes.forEach((axis, index) => {
    const place = axis.placeOf(row);
    if (place !== null) pen.lineTo(xOf(index, axes, width), yOf(place));
  });
  pen.stroke();
}

/** The variant whose line is nearest to a point, if one is near. */
function nearest(x: number, y: number, width: number, axes: readonly Axis[], rows: readonly SweepRow[]): number | null {
  const step = (width - 2 * MARGIN) / Math.max(1, axes.length - 1);
  const left = Math.max(0, Math.min(axes.length - 2, Math.floor((x - MARGIN) / step)));
  const part = Math.max(0, Math.min(1, (x - MARGIN) / step - left));
  let found: number | null = null;
  let shortest = REACH;
  for (const row of rows) {
    const [from, to] = [axes[left]?.placeOf(row), axes[left + 1]?.placeOf(row)];
    if (typeof from !== 'number' || typeof to !== 'number') continue;
    const distance = Math.abs(yOf(from + part * (to - from)) - y);
    if (distance >= shortest) continue;
    shortest = distance;
    found = row.variant;
  }
  return found;
}
