// The report of a sweep: one HTML file that contains its data and scripts, with the verdict on top, for phones and dark
// mode too.
import { isPortfolio, resolveConfig } from '../../config.ts';
import { html, htmlPage, NOTHING, section, type Html } from '../../report/kit/html.ts';
import { benchmarkName } from '../../report/buyAndHold.ts';
import { count, day } from '../../report/kit/numberText.ts';
import { configFacts, pageHeader, type Fact } from '../../report/kit/runFacts.ts';
import { listed } from '../../report/portfolio/symbolList.ts';
import { isFraction, statisticOf, type FlatKey } from '../../definitions/statistics/statistics.ts';
import { heatmapOf, type Heatmap } from '../landscape.ts';
import type { SweepContext } from '../shard.ts';
import { marketsOf, valueAt, type LevelValue, type Space } from '../space.ts';
import { objectiveOf } from '../sweepJob.ts';
import type { SweepResult } from '../sweepResult.ts';
import { shownNames } from '../shownNames.ts';
import type { RankingRows } from '../rankingRows.ts';
import { metricOf } from '../sweepRows.ts';
import { overfittingTable, topTable, walkForwardSection } from './sweepTables.ts';

/** Most points of the cloud; more would only overlap. */
const MAX_POINTS = 3_000;
/** Settings of all points together: of more, only the best variants can be opened. */
const MAX_SETTINGS = 24_000;
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
  /** In the order in which they run. */
  readonly scripts: readonly string[];
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
  const { row } = statisticOf(objective.key);
  const [best] = result.top;
  const data = {
    names,
    held: benchmark,
    keyName: row.name,
    isFall: row.isFall === true,
    dimensions: context.space.dimensions.map(({ name, target }) => ({ name, target })),
    top: result.top.map(({ variant, params }) => [variant, ...Object.values(params)]),
    best: best?.params ?? null,
    plateau: plateauParams(result),
    walk: result.walkForward && {
      equity: result.walkForward.equity,
      starts: result.walkForward.folds.map(({ test }) => test.start),
    },
    sign: objective.direction === 'maximize' ? 1 : -1,
    isFraction: isFraction(objective.key),
    marginals: result.marginals,
    curves: result.curves,
    first: result.heatmap && [result.heatmap.x.name, result.heatmap.y.name],
    heatmaps: heatmapsOf(context, rows),
    cloud: cloudOf(context, rows, result),
  };
  return htmlPage({
    title: `${title}: sweep`,
    style: assets.style,
    body: html`<main>${bodyOf(context, result, title, names, benchmark)}</main>
      ${VARIANT}`,
    data,
    scripts: assets.scripts,
  });
}

/** The row of the best whose neighbors keep most of its lead; null: it is the best one, or none stands on a plateau. */
function plateauParams({ top }: SweepResult): SweepResult['top'][number]['params'] | null {
  const scored = top.filter(({ plateau: { score, isCliff } }) => score !== null && !isCliff);
  const [broadest] = scored.toSorted((a, b) => b.plateau.score! - a.plateau.score!);
  return broadest === undefined || broadest === top[0] ? null : broadest.params;
}

/** A variant that a click has opened. */
const VARIANT = html`<dialog id="variant" aria-labelledby="variant-title">
  <h2 id="variant-title">Variant</h2>
  <p id="variant-way"></p>
  <p><a id="variant-link" href="#" hidden>All rows as JSON</a></p>
  <pre id="variant-settings" tabindex="0"></pre>
  <p class="tools">
    <button type="button" data-copies="variant-settings">Copy</button>
    <button type="button" id="variant-close">Close</button>
  </p>
</dialog>`;

function factsOf({ job, space }: SweepContext, result: SweepResult): Fact[] {
  const config = resolveConfig(job.spec.config);
  const markets = marketsOf(job.spec.config, space);
  const timeframes = [...new Set(markets.map(({ timeframe }) => timeframe))].join(', ');
  const symbols = [...new Set(markets.flatMap((market) => market.symbols))];
  const points = result.curves[0]?.points ?? [];
  const period =
    points.length === 0 ? [] : [['Period', `${day(points[0][0])} to ${day(points[points.length - 1][0])}`] as const];
  return [
    ['Market', `${isPortfolio(config) ? `${count(symbols.length)} instruments` : listed(symbols)} ${timeframes}`],
    ...period,
    ...configFacts(config, null),
  ];
}

function bodyOf(
  context: SweepContext,
  result: SweepResult,
  title: string,
  names: Readonly<Record<string, string>>,
  benchmark: string,
): Html {
  const universe = universeText(context);
  const { verdict, overfitting, warnings } = result;
  const isJudged = overfitting.deflatedSharpe !== null;
  const part = (id: string, heading: string, content: Html = NOTHING): Html =>
    section({ id: `${id}-section`, title: heading }, html`<div id="${id}">${content}</div>`);
  return html`${pageHeader({ kind: 'Sweep report', title, about: null, facts: factsOf(context, result) })}
    <p class="lead" id="headline">${headline(result)}</p>
    ${universe === null ? NOTHING : html`<p class="lead" id="universe">${universe}</p>`}
    <section id="verdict" class="card verdict ${isJudged && verdict.code === 'not_luck' ? 'info' : 'error'}">
      <h2>${isJudged ? (verdict.code === 'luck' ? 'Probably luck' : 'Probably not luck') : 'No verdict'}</h2>
      <p>${verdict.text}</p>
      ${warnings.map(
        ({ code, message }) =>
          html`<div class="note warning">
            <p data-code="${code}">${message}</p>
          </div>`,
      )}
    </section>
    ${walkForwardSection(result, names)} ${part('top', 'Best variants', topTable(result, shownMetrics(result), names))}
    ${section(
      { id: 'heatmap-section', title: 'Two parameters' },
      html`<p id="pairs"></p>
        <div id="heatmap"></div>
        ${shortenings(result).map((text) => html`<p class="lead">${text}</p>`)}`,
    )}
    ${part('marginals', 'Each parameter')} ${part('cloud', 'All variants: return against drawdown')}
    ${part('fan', `Equity of the best against ${benchmark}`)}
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
  const by = statisticOf(objective.key).row.name;
  return `${method}, ${evaluated} ${evaluated === 1 ? 'variant' : 'variants'} by ${by}${failed}`;
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
 * [drawdown, return, objective, whether it is one of the best, variant, its settings] of evenly spaced rows, the best
 * ones among them; null when the request left the drawdown out of its metrics.
 */
function cloudOf(
  { space }: SweepContext,
  rows: RankingRows,
  { top, objective }: SweepResult,
): (LevelValue | null)[][] | null {
  if (!rows.metrics.some((metric) => metric.key === 'maxDrawdown')) return null;
  const [drawdown, gain, values] = [
    metricOf(rows, 'maxDrawdown'),
    metricOf(rows, 'returnPct'),
    metricOf(rows, objective.key),
  ];
  const every = pointSpacing(rows.indexes.length);
  const best = new Set(top.map(({ variant }) => variant));
  const points: (LevelValue | null)[][] = [];
  const hasRoom = (rows.indexes.length / every) * space.dimensions.length <= MAX_SETTINGS;
  rows.indexes.forEach((variant, row) => {
    if (row % every !== 0 && !best.has(variant)) return;
    points.push([
      drawdown[row],
      gain[row],
      values[row] === values[row] ? values[row] : null,
      best.has(variant) ? 1 : 0,
      variant,
      ...(hasRoom || best.has(variant) ? settingsOf(space, rows, row) : []),
    ]);
  });
  return points;
}

const settingsOf = ({ dimensions }: Space, { coordinates }: RankingRows, row: number): LevelValue[] =>
  dimensions.map((dimension, at) => valueAt(dimension, coordinates[at][row]));
