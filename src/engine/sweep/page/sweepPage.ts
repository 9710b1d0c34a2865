// The report of a sweep: one HTML file that contains its data and scripts, with the verdict on top, for phones and dark
// mode too.
import { html, htmlPage, section, type Html } from '../../report/page/html.ts';
import type { FlatKey } from '../../report/flatSummary.ts';
import { isFraction } from '../../report/summaryDescriptions.ts';
import { heatmapOf, type Heatmap } from '../landscape.ts';
import type { SweepContext } from '../shard.ts';
import { objectiveOf } from '../sweepJob.ts';
import type { SweepResult } from '../sweepResult.ts';
import { shownNames } from '../shownNames.ts';
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

/** The report of a sweep, a page of HTML that needs no other file. */
export function sweepPage(
  context: SweepContext,
  rows: RankingRows,
  result: SweepResult,
  title: string,
  assets: SweepPageAssets,
): string {
  const data = {
    names: shownNames(context.space.dimensions.map(({ name }) => name)),
    fractions: [result.objective.key, ...SHOWN].filter(isFraction),
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

function bodyOf(result: SweepResult, title: string): Html {
  const { verdict, overfitting } = result;
  const isJudged = overfitting.deflatedSharpe !== null;
  const drawing = (id: string, heading: string): Html =>
    section({ id: `${id}-section`, title: heading }, html`<div id="${id}"></div>`);
  return html`<header>
      <h1>${title}</h1>
      <p class="lead" id="headline"></p>
    </header>
    <section id="verdict" class="${verdict.code}">
      <h2>${isJudged ? (verdict.code === 'luck' ? 'Probably luck' : 'Probably not luck') : 'No verdict'}</h2>
      <p>${verdict.text}</p>
      <div id="warnings"></div>
    </section>
    ${drawing('top', 'Best variants')}
    ${section(
      { id: 'heatmap-section', title: 'Two parameters' },
      html`<p id="pairs"></p>
        <div id="heatmap"></div>
        ${shortenings(result).map((text) => html`<p class="note">${text}</p>`)}`,
    )}
    ${drawing('marginals', 'Each parameter')} ${drawing('cloud', 'All variants: return against drawdown')}
    ${drawing('fan', 'Equity of the best against buy and hold')}
    <div id="walkForward"></div>
    ${drawing('overfitting', 'Over-fitting')}`;
}

/** What the drawings leave out, and where it is; else a bin looks like a value and a part like the whole. */
function shortenings({ marginals, evaluated, top }: SweepResult): string[] {
  const texts: string[] = [];
  const listed = (names: readonly string[]): string => new Intl.ListFormat('en-US').format(names);
  const binned = marginals.filter(({ isBinned }) => isBinned);
  if (binned.length > 0) {
    const names = listed(binned.map(({ name }) => name));
    const bins = binned[0].points.length;
    texts.push(
      `${names} ${binned.length === 1 ? 'has' : 'have'} more than ${bins} values and ` +
        `${binned.length === 1 ? 'is' : 'are'} shown in ${bins} bins, each named by its lowest value.`,
    );
  }
  const unpaired = marginals.slice(MAX_PAIRED).map(({ name }) => name);
  if (unpaired.length > 0)
    texts.push(
      `Of ${marginals.length} parameters, the first ${MAX_PAIRED} are offered in pairs, without ` +
        `${listed(unpaired)}. GET /public/v1/sweeps/{id}/heatmap?x=…&y=… gives any pair.`,
    );
  const points = Math.ceil(evaluated / pointSpacing(evaluated));
  if (points < evaluated)
    texts.push(
      `Return against drawdown shows about ${points} of the ${evaluated} variants, evenly spaced, and the best ` +
        `${top.length}.`,
    );
  if (texts.length > 0)
    texts.push(
      'The rows hold every variant: --rows FILE of candlepool sweep, GET /public/v1/sweeps/{id}/results over HTTP.',
    );
  return texts;
}

const pointSpacing = (rows: number): number => Math.max(1, Math.ceil(rows / MAX_POINTS));

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
  const every = pointSpacing(rows.indexes.length);
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
