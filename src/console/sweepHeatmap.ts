// The heatmap of a sweep: a metric over two of its parameters, in colors that are equally far apart to the eye.
import { useState } from 'preact/hooks';
import { get } from './api.ts';
import { anyText, counted, STATISTICS, statisticOf, valueText } from './formats.ts';
import { useLoaded, Waiting } from './loading.ts';
import { html, type Children } from './markup.ts';
import { shortName, type SweepRow } from './sweepRow.ts';

interface Axis {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly isBinned: boolean;
}
interface HeatmapAnswer {
  readonly x: Axis;
  readonly y: Axis;
  readonly mean: readonly (readonly (number | null)[])[];
  readonly best: readonly (readonly (number | null)[])[];
  readonly variants: readonly (readonly number[])[];
}
/** A place of the heatmap, which holds some of the rows. */
export interface Cell {
  readonly holds: (row: SweepRow) => boolean;
}
interface HeatmapProps {
  readonly sweepId: string;
  readonly names: readonly string[];
  readonly objective: string;
  readonly onChoose: (cell: Cell) => void;
}

const METRICS = [
  'sharpeRatio',
  'returnPct',
  'cagr',
  'calmarRatio',
  'maxDrawdown',
  'profitFactor',
  'winRate',
  'totalPositions',
];

const KINDS = [
  ['mean', 'mean'],
  ['best', 'best'],
] as const;

export function Heatmap({ sweepId, names, objective, onChoose }: HeatmapProps): Children {
  const [x, setX] = useState(names[0]);
  const [y, setY] = useState(names[1]);
  const [metric, setMetric] = useState(objective);
  const [kind, setKind] = useState<'mean' | 'best'>('mean');
  const { value, fault } = useLoaded(
    (signal) => get<HeatmapAnswer>(`/sweeps/${sweepId}/heatmap`, { x, y, metric }, signal),
    [sweepId, x, y, metric],
  );
  const metrics = STATISTICS.filter(({ key }) => key === objective || METRICS.includes(key)).map(
    ({ key, name }) => [key, name] as const,
  );
  const chooseX = (name: string): void => {
    if (name === y) setY(x);
    setX(name);
  };
  const chooseY = (name: string): void => {
    if (name === x) setX(y);
    setY(name);
  };
  const options = names.map((name) => [name, shortName(name)] as const);
  return html`<section class="card" aria-labelledby="heatmap">
    <h2 id="heatmap">Heatmap</h2>
    <div class="filters">
      <${Choice} label="Across" value=${x} options=${options} onChoose=${chooseX} />
      <${Choice} label="Down" value=${y} options=${options} onChoose=${chooseY} />
      <${Choice} label="Metric" value=${metric} options=${metrics} onChoose=${setMetric} />
      <${Choice} label="Variants in one cell" value=${kind} options=${KINDS} onChoose=${setKind} />
    </div>
    ${
      value === undefined
        ? html`<${Waiting} fault=${fault} what="The heatmap" />`
        : html`<${Cells} answer=${value} values=${value[kind]} metric=${metric} onChoose=${onChoose} />`
    }
  </section>`; // prettier-ignore
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

const Choice = ({ label, value, options, onChoose }: ChoiceProps): Children =>
  html`<label
    >${label}
    <select value=${value} onChange=${(event: Event) => onChoose((event.target as HTMLSelectElement).value)}>
      ${options.map(([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`)}
    </select>
  </label>`;

interface CellsProps {
  readonly answer: HeatmapAnswer;
  readonly values: HeatmapAnswer['mean'];
  readonly metric: string;
  readonly onChoose: (cell: Cell) => void;
}

function Cells({ answer, values, metric, onChoose }: CellsProps): Children {
  const { x, y, variants } = answer;
  const held = values.flat().filter((value) => value !== null);
  const low = held.reduce((a, b) => Math.min(a, b), Infinity);
  const high = held.reduce((a, b) => Math.max(a, b), -Infinity);
  const isLowerBetter = statisticOf(metric)?.better === 'lower';
  const best = isLowerBetter ? low : high;
  const placeOf = (value: number): number => {
    const part = high > low ? (value - low) / (high - low) : 0.5;
    return isLowerBetter ? 1 - part : part;
  };
  const textOf = (value: number): string => valueText(metric, value);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Heatmap">
      <table class="heat">
        <thead>
          <tr>
            <th scope="col" class="text">${shortName(y.name)} ↓ ${shortName(x.name)} →</th>
            ${x.values.map((value) => html`<th scope="col">${valueOnAxis(x, value)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${values.map(
            (row, down) =>
              html`<tr>
                <th scope="row">${valueOnAxis(y, y.values[down])}</th>
                ${row.map((value, across) =>
                  value === null
                    ? html`<td class="none"></td>`
                    : html`<td
                        class=${value === best ? 'best' : ''}
                        style=${paint(placeOf(value))}
                        title=${`${textOf(value)}, ${counted(variants[down][across], 'variant')}`}
                        onClick=${() => onChoose({ holds: (each) => isAt(x, across, each) && isAt(y, down, each) })}
                      >
                        ${textOf(value)}
                      </td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="lead scale">
      ${textOf(isLowerBetter ? high : low)}
      ${SHADES.map((_, index) => html`<span style=${paint(index / (SHADES.length - 1))}></span>`)}
      ${textOf(isLowerBetter ? low : high)}, the best cell is framed; a click shows the variants of a cell below
    </p>`;
}

const valueOnAxis = ({ isBinned }: Axis, value: unknown): string => `${isBinned ? '≥ ' : ''}${anyText(value)}`;

/** Whether a row is at this place of the axis: at its value, or in its bin, of which the value is the lowest. */
function isAt({ name, values, isBinned }: Axis, index: number, row: SweepRow): boolean {
  if (!isBinned) return JSON.stringify(row[name]) === JSON.stringify(values[index]);
  const value = Number(row[name]);
  const next = index + 1 < values.length ? Number(values[index + 1]) : Infinity;
  return value >= Number(values[index]) && value < next;
}

/** The palette viridis: perceptually even, and readable by people who confuse colors. */
const SHADES = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37],
] as const; // prettier-ignore

/** @param place from 0 to 1 */
export function shadeAt(place: number): readonly [number, number, number] {
  const at = Math.max(0, Math.min(1, place)) * (SHADES.length - 1);
  const from = Math.min(SHADES.length - 2, Math.floor(at));
  const part = at - from;
  const [red, green, blue] = SHADES[from].map((value, channel) =>
    Math.round(value + part * (SHADES[from + 1][channel] - value)),
  );
  return [red, green, blue];
}

function paint(place: number): { readonly backgroundColor: string; readonly color: string } {
  const [red, green, blue] = shadeAt(place);
  // White is readable up to this luminance, black beyond it.
  const isDark = 0.299 * red + 0.587 * green + 0.114 * blue < 125;
  return { backgroundColor: `rgb(${red}, ${green}, ${blue})`, color: isDark ? '#ffffff' : '#000000' };
}
