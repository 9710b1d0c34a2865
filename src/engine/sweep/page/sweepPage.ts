// The report of a sweep: one HTML file that contains its data and scripts, with the verdict on top, for phones and dark
// mode too.
import { isPortfolio } from '../../config.ts';
import { html, htmlPage, NOTHING, section, type Html } from '../../report/kit/html.ts';
import { benchmarkName } from '../../report/buyAndHold.ts';
import { listed } from '../../report/portfolio/symbolList.ts';
import { isFraction, type FlatKey } from '../../definitions/statistics/statistics.ts';
import { heatmapOf, type Heatmap } from '../landscape.ts';
import type { SweepContext } from '../shard.ts';
import { marketsOf } from '../space.ts';
import { objectiveOf } from '../sweepJob.ts';
import type { SweepResult } from '../sweepResult.ts';
import { shownNames } from '../shownNames.ts';
import type { RankingRows } from '../rankingRows.ts';
import { metricOf } from '../sweepRows.ts';
import { overfittingTable, topTable, walkForwardSection } from './sweepTables.ts';

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
  const { objective } = result;
  const names = shownNames(context.space.dimensions.map(({ name }) => name));
  const { config } = context.job.spec;
  const benchmark = benchmarkName(config, isPortfolio(config));
  const data = {
    names,
    held: benchmark,
    key: objective.key,
    sign: objective.direction === 'maximize' ? 1 : -1,
    isFraction: isFraction(objective.key),
    marginals: result.marginals,
    curves: result.curves,
    first: result.heatmap && [result.heatmap.x.name, result.heatmap.y.name],
    heatmaps: heatmapsOf(context, rows),
    cloud: cloudOf(rows, result),
  };
  return htmlPage({
    title: `${title}: sweep`,
    style: assets.style,
    body: html`<main>${bodyOf(result, title, names, { universe: universeText(context), benchmark })}</main>`,
    data,
    scripts: [assets.script],
  });
}

/** @param universe the instruments of a portfolio; null: a sweep of single runs */
function bodyOf(
  result: SweepResult,
  title: string,
  names: Readonly<Record<string, string>>,
  { universe, benchmark }: { readonly universe: string | null; readonly benchmark: string },
): Html {
  const { verdict, overfitting, warnings } = result;
  const isJudged = overfitting.deflatedSharpe !== null;
  const part = (id: string, heading: string, content: Html = NOTHING): Html =>
    section({ id: `${id}-section`, title: heading }, html`<div id="${id}">${content}</div>`);
  return html`<header>
      <h1>${title}</h1>
      <p class="lead" id="headline">${headline(result)}</p>
      ${universe === null ? NOTHING : html`<p class="lead" id="universe">${universe}</p>`}
    </header>
    <section id="verdict" class="${verdict.code}">
      <h2>${isJudged ? (verdict.code === 'luck' ? 'Probably luck' : 'Probably not luck') : 'No verdict'}</h2>
      <p>${verdict.text}</p>
      ${warnings.map(
        ({ code, message }) =>
          html`<div class="note warning">
            <p><strong>${code}: </strong>${message}</p>
          </div>`,
      )}
    </section>
    ${part('top', 'Best variants', topTable(result, shownMetrics(result), names))}
    ${section(
      { id: 'heatmap-section', title: 'Two parameters' },
      html`<p id="pairs"></p>
        <div id="heatmap"></div>
        ${shortenings(result).map((text) => html`<p class="lead">${text}</p>`)}`,
    )}
    ${part('marginals', 'Each parameter')} ${part('cloud', 'All variants: return against drawdown')}
    ${part('fan', `Equity of the best against ${benchmark}`)} ${walkForwardSection(result, names)}
    ${part('overfitting', 'Over-fitting', overfittingTable(result))}`;
}

/** The instruments of the portfolios; null where each variant runs on one. */
function universeText({ job, space }: SweepContext): string | null {
  const { config } = job.spec;
  if (!isPortfolio(config)) return null;
  const lists = marketsOf(config, space).map(({ symbols }) => symbols);
  const sizes = lists.map((symbols) => symbols.length).sort((a, b) => a - b);
  const [fewest, most] = [sizes[0], sizes[sizes.length - 1]];
  const all = new Set(lists.flat());
  const count = most === 1 ? '1 instrument' : `${fewest === most ? most : `${fewest} to ${most}`} instruments`;
  return `Portfolios of ${count}: ${listed([...all])}`;
}

function headline({ method, evaluated, objective, failures }: SweepResult): string {
  const failed = failures.count > 0 ? `, ${failures.count} failed` : '';
  return `${method}, ${evaluated} ${evaluated === 1 ? 'variant' : 'variants'} by ${objective.key}${failed}`;
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

/** The metrics of the table: the objective first, and the usual ones that the rows have. */
function shownMetrics({ top, objective: { key } }: SweepResult): FlatKey[] {
  const metrics = top[0]?.metrics ?? {};
  return [key, ...SHOWN.filter((one) => one !== key)].filter((one) => one in metrics);
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
