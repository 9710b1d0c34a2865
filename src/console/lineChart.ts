// Line charts over time: one or several equity curves in one chart, in the colors of the page, light or dark.
import { useEffect, useRef, useState } from 'preact/hooks';
import type * as Charts from 'lightweight-charts';
import { day } from './formats.ts';
import { html, type Children } from './markup.ts';

export interface Curve {
  readonly name: string;
  /** Times in ms, ascending; a value that is null leaves a gap. */
  readonly points: readonly (readonly [time: number, value: number | null])[];
}
interface LineChartProps {
  readonly label: string;
  readonly curves: readonly Curve[];
  readonly text: (value: number) => string;
}

/** Colors that differ in light and in dark, and to eyes that confuse red and green. */
const COLORS = ['#3d7be0', '#e08a1e', '#17a37a', '#8a5cd6', '#d4506a', '#1f9ed1'];
const HEIGHT = 340;

export function LineChart({ label, curves, text }: LineChartProps): Children {
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<{
    readonly time: number;
    readonly values: readonly (number | undefined)[];
  } | null>(null);
  useEffect(() => {
    let drawn: Drawn | undefined;
    let isClosed = false;
    const open = async (): Promise<void> => {
      const library = await import('lightweight-charts');
      if (!isClosed && box.current !== null) drawn = draw(library, box.current, curves, text, setShown);
    };
    void open();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const recolor = (): void => drawn?.recolor();
    dark.addEventListener('change', recolor);
    return () => {
      isClosed = true;
      dark.removeEventListener('change', recolor);
      drawn?.chart.remove();
    };
  }, [curves]);
  return html`<figure class="chart">
    <ul class="legend" aria-label=${`Curves of ${label}`}>
      ${curves.map(
        ({ name, points }, index) =>
          html`<li>
            <${Swatch} color=${COLORS[index % COLORS.length]} />${name}${' '}
            <b>${valueTextOf(shown?.values[index] ?? points.at(-1)?.[1], text)}</b>
          </li>`,
      )}
      <li class="faint">${shown === null ? '' : day(shown.time)}</li>
    </ul>
    <div ref=${box} role="img" aria-label=${label} style=${{ height: `${HEIGHT}px` }}></div>
  </figure>`;
}

const valueTextOf = (value: number | null | undefined, text: (value: number) => string): string =>
  typeof value === 'number' ? text(value) : '';

const Swatch = ({ color }: { readonly color: string }): Children =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect width="10" height="10" rx="2" fill=${color} />
  </svg>`;

const colorAt = (index: number): string => COLORS[index % COLORS.length];

interface Drawn {
  readonly chart: Charts.IChartApi;
  readonly recolor: () => void;
}

function draw(
  library: typeof Charts,
  box: HTMLElement,
  curves: readonly Curve[],
  text: (value: number) => string,
  show: (at: { time: number; values: (number | undefined)[] } | null) => void,
): Drawn {
  const chart = library.createChart(box, {
    autoSize: true,
    // Its logo brings a style sheet of its own, which the page's policy stops; the foot of the page names the library.
    layout: { attributionLogo: false, fontFamily: 'system-ui, sans-serif', fontSize: 11 },
    rightPriceScale: { borderVisible: false },
    timeScale: { minBarSpacing: 0.001, rightOffset: 0 },
    localization: { priceFormatter: text },
  });
  const lines: Charts.ISeriesApi<'Line'>[] = curves.map(({ points }, index) => {
    const line = chart.addSeries(library.LineSeries, {
      color: colorAt(index), lineWidth: 2, priceLineVisible: false, lastValueVisible: false,
    }); // prettier-ignore
    line.setData(
      points.map(([time, value]) => {
        const at = Math.floor(time / 1000) as Charts.UTCTimestamp;
        return value === null ? { time: at } : { time: at, value };
      }),
    );
    return line;
  });
  chart.timeScale().fitContent();
  chart.subscribeCrosshairMove(({ time, seriesData }) => {
    if (typeof time !== 'number') return show(null);
    const valueAt = (line: Charts.ISeriesApi<'Line'>): number | undefined =>
      (seriesData.get(line) as { readonly value?: number } | undefined)?.value;
    show({ time: time * 1000, values: lines.map(valueAt) });
  });
  const recolor = (): void => {
    const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    chart.applyOptions({
      layout: { background: { color: color('--paper') }, textColor: color('--faint') },
      grid: { vertLines: { visible: false }, horzLines: { color: color('--line') } },
      timeScale: { borderColor: color('--line') },
    });
  };
  recolor();
  return { chart, recolor };
}
