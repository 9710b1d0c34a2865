// The report of a sweep: one HTML file that contains its data and scripts, with the verdict on top, for phones and dark
// mode too.
import { html, htmlPage, section, type Html } from '../../report/page/html.ts';
import type { FlatKey } from '../../report/flatSummary.ts';
import { heatmapOf, type Heatmap } from '../landscape.ts';
import type { SweepContext } from '../shard.ts';
import { objectiveOf } from '../sweepJob.ts';
import type { SweepResult } from '../sweepResult.ts';
import type { RankingRows } from '../rankingRows.ts';
import { metricOf } from '../sweepRows.ts';

/** Most points of the cloud; more would only overlap. */
const MAX_POINTS = 3_000;
/** The parameters whose pairs have a heatmap: the first eight. */
const MAX_PAIRED = 8;
const SHOWN: readonly FlatKey[] = [
  'returnPct',
  'sharpeRatio',
  'maxDrawdown',
  'totalPositions',
  'winRate',
  'profitFactor',
];

/** The texts of the page other than its data. */
export interface SweepPageAssets {
  readonly style: string;
  readonly script: string;
}

export function sweepPage(
  context: SweepContext,
  rows: RankingRows,
  result: SweepResult,
  title: string,
  assets: SweepPageAssets,
): string {
  const data = {
    result: {
      ...result,
      top: result.top.map(({ metrics, ...row }) => ({ ...row, metrics: shownOf(metrics, result.objective.key) })),
    },
    heatmaps: heatmapsOf(context, rows),
    cloud: cloudOf(rows, result),
  };
  return htmlPage({
    title: `${title}: sweep`,
    style: assets.style,
    body: html`<main>${bodyOf(result, title)}</main>`,
    data,
    scripts: [assets.script],
  });
}

function bodyOf({ verdict }: SweepResult, title: string): Html {
  const drawing = (id: string, heading: string): Html =>
    section({ id: `${id}-section`, title: heading }, html`<div id="${id}"></div>`);
  return html`<header>
      <h1>${title}</h1>
      <p class="lead" id="headline"></p>
    </header>
    <section id="verdict" class="${verdict.code}">
      <h2>${verdict.code === 'luck' ? 'Probably luck' : 'Probably not luck'}</h2>
      <p>${verdict.text}</p>
      <div id="warnings"></div>
    </section>
    ${drawing('top', 'Best variants')}
    ${section(
      { id: 'heatmap-section', title: 'Two parameters' },
      html`<p id="pairs"></p>
        <div id="heatmap"></div>`,
    )}
    ${drawing('marginals', 'Each parameter')} ${drawing('cloud', 'All variants: return against drawdown')}
    ${drawing('fan', 'Equity of the best against buy and hold')}
    <div id="walkForward"></div>
    ${drawing('overfitting', 'Over-fitting')}`;
}

function shownOf(metrics: SweepResult['top'][number]['metrics'], objective: FlatKey): object {
  const keys = [objective, ...SHOWN.filter((key) => key !== objective)];
  return Object.fromEntries(keys.filter((key) => key in metrics).map((key) => [key, metrics[key]]));
}

function heatmapsOf({ job, space }: SweepContext, rows: RankingRows): Heatmap[] {
  const { key, sign } = objectiveOf(job.spec);
  const values = metricOf(rows, key);
  const paired = space.dimensions.slice(0, MAX_PAIRED);
  return paired.flatMap((_, y) =>
    paired.slice(0, y).map((__, x) => heatmapOf(space, [x, y], rows.coordinates, values, sign)),
  );
}

/**
 * [drawdown, return, objective] of evenly spaced rows, the best ones among them; null when the request left the
 * drawdown out of its metrics.
 */
function cloudOf(rows: RankingRows, { top, objective }: SweepResult): (number | null)[][] | null {
  if (!rows.metrics.some((metric) => metric.key === 'maxDrawdown')) return null;
  const [drawdown, gain, values] = [
    metricOf(rows, 'maxDrawdown'),
    metricOf(rows, 'returnPct'),
    metricOf(rows, objective.key),
  ];
  const every = Math.max(1, Math.ceil(rows.indexes.length / MAX_POINTS));
  const best = new Set(top.map(({ variant }) => variant));
  const points: (number | null)[][] = [];
  rows.indexes.forEach((variant, row) => {
    if (row % every !== 0 && !best.has(variant)) return;
    points.push([
      drawdown[row],
      gain[row],
      values[row] === values[row] ? values[row] : null,
      best.has(variant) ? 1 : 0,
    ]);
  });
  return points;
}
