// Results of sweeps: every row as a file, a heatmap of two parameters, the report, and a row as a full backtest.
import { z } from 'zod';
import type { Queryable } from '../../db/connect.ts';
import { findVersions, strategyOf } from '../../db/strategyVersions.ts';
import { readSweepPage, readSweepShardOf, readSweepShards } from '../../db/sweeps.ts';
import type { Sweep } from '../../db/sweeps.ts';
import {
  configOf,
  decodeRows,
  decompressed,
  encodeSweepRows,
  heatmapOf,
  metricOf,
  metricsOf,
  objectiveOf,
  spaceOf,
  SWEEP_FORMATS,
  symbolsOf,
} from '../../engine/index.ts';
import type { BacktestConfig, FlatKey, SweepJob, SweepRows, SweepSpec } from '../../engine/index.ts';
import { BacktestCheck } from '../backtests/backtestChecks.ts';
import { QueuedBacktest } from '../backtests/backtestSchemas.ts';
import { queueOne } from '../backtests/queueing.ts';
import { requireReady } from '../backtests/backtestChecks.ts';
import { requireSweep } from '../backtests/sweepRows.ts';
import { requireKey } from '../http/auth/authentication.ts';
import type { Caller } from '../http/auth/authentication.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdParams,
  IdempotencyHeader,
  KEY_PROBLEMS,
  NoQuery,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import { pageRangeOf, sendRows } from '../http/csvPages.ts';
import { queryRefused } from '../http/envelopeIssues.ts';
import { acceptedFormat, setFileHeaders, fileAnswer } from '../http/files.ts';
import { answerOnce } from '../http/idempotency.ts';
import { linkTo } from '../http/links.ts';
import { problem } from '../http/problems.ts';
import type { App, Services } from '../services.ts';
import { SWEEPS } from './sweepBodies.ts';
import { SweepHeatmap, SweepHeatmapQuery, SweepResultsQuery } from './sweepSchemas.ts';

const read = requireKey({ scope: 'backtests_read' });
const described = { tags: ['Sweeps'], security: API_KEY_SECURITY };

export function sweepResultRoutes(app: App, services: Services): void {
  resultsRoute(app, services);
  heatmapRoute(app, services);
  reportRoute(app, services);
  rowRoute(app, services);
}

function resultsRoute(app: App, { sql, config }: Services): void {
  app.get(
    `${SWEEPS}/:id/results`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_sweep_results',
        summary: 'Every row of a completed sweep, as Arrow, CSV or JSON',
        params: IdParams,
        querystring: SweepResultsQuery,
        response: { 200: fileAnswer('arrow', 'csv', 'json'), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, query, url, headers }, reply) => {
      const format = query.format ?? acceptedFormat(SWEEP_FORMATS, headers.accept) ?? 'json';
      const page = pageRangeOf(query, format);
      const sweep = await requireCompletedSweep(sql, caller, params.id);
      const job = await jobOf(sql, caller, sweep);
      const space = spaceOf(job);
      const rows = encodeSweepRows(space, decodedShards(sql, sweep.id), format);
      const file = setFileHeaders(reply, `sweep-${sweep.id}`, format).header('vary', 'accept');
      return sendRows(file, linkTo(config, url), rows, page);
    },
  );
}

function heatmapRoute(app: App, { sql }: Services): void {
  app.get(
    `${SWEEPS}/:id/heatmap`,
    {
      onRequest: read,
      // Reads every row, of which there may be a million.
      config: { isHeavy: true },
      schema: {
        ...described,
        operationId: 'get_sweep_heatmap',
        summary: 'Mean and best of a metric over any two parameters of a completed sweep',
        params: IdParams,
        querystring: SweepHeatmapQuery,
        response: { 200: SweepHeatmap, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, query }) => {
      const sweep = await requireCompletedSweep(sql, caller, params.id);
      const job = await jobOf(sql, caller, sweep);
      const space = spaceOf(job);
      const [x, y] = [query.x, query.y].map((name) =>
        space.dimensions.findIndex((dimension) => dimension.name === name),
      );
      if (x === -1 || y === -1 || x === y)
        throw queryRefused(
          x === -1 ? 'x' : 'y',
          `x and y must be two different members of the space: ${space.dimensions.map(({ name }) => name).join(', ')}.`,
        );
      const objective = objectiveOf(job.spec);
      const key = query.metric ?? objective.key;
      const held = metricsOf(job, space);
      if (!held.some((each) => each === key))
        throw queryRefused('metric', `The rows hold no ${key}; they hold ${held.join(', ')}.`);
      const [xs, ys, values] = await columnsOf(decodedShards(sql, sweep.id), (rows) => [
        rows.coordinates[x],
        rows.coordinates[y],
        metricOf(rows, key as FlatKey),
      ]);
      // By the index of their dimension; the others are not read.
      const coordinates: Float64Array[] = [];
      coordinates[x] = xs;
      coordinates[y] = ys;
      return heatmapOf(space, [x, y], coordinates, values, key === objective.key ? objective.sign : 1) as never;
    },
  );
}

/** The shards of a sweep, decoded one after the other. */
async function* decodedShards(sql: Queryable, sweepId: string): AsyncGenerator<SweepRows> {
  for await (const bytes of readSweepShards(sql, sweepId)) yield decodeRows(bytes);
}

/** Some columns of all rows. */
async function columnsOf(
  shards: AsyncIterable<SweepRows>,
  pick: (rows: SweepRows) => readonly Float64Array[],
): Promise<Float64Array[]> {
  const parts: (readonly Float64Array[])[] = [];
  for await (const rows of shards) parts.push(pick(rows).map((column) => column.slice()));
  return parts[0].map((_, at) => {
    const joined = new Float64Array(parts.reduce((length, part) => length + part[at].length, 0));
    let row = 0;
    for (const part of parts) {
      joined.set(part[at], row);
      row += part[at].length;
    }
    return joined;
  });
}

function reportRoute(app: App, { sql }: Services): void {
  app.get(
    `${SWEEPS}/:id/report`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_sweep_report',
        summary: 'The report of a completed sweep: one HTML page that asks nothing of the network',
        params: IdParams,
        querystring: NoQuery,
        response: { 200: fileAnswer('html'), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }, reply) => {
      const sweep = await requireCompletedSweep(sql, caller, params.id);
      const page = await readSweepPage(sql, sweep.id);
      return setFileHeaders(reply, `sweep-${sweep.id}`, 'html').send(decompressed(page!));
    },
  );
}

const RowParams = z.object({ id: z.string(), variant: z.string() });

function rowRoute(app: App, services: Services): void {
  app.post(
    `${SWEEPS}/:id/rows/:variant/backtest`,
    {
      onRequest: requireKey({ scope: 'backtests_write', role: 'member' }),
      schema: {
        ...described,
        operationId: 'run_sweep_row',
        summary: 'Queue the full backtest of one row; its summary has the numbers of the row',
        params: RowParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        response: { 201: QueuedBacktest, ...problems(...BODY_PROBLEMS, 404, 409, 422) },
      },
    },
    (request, reply) =>
      answerOnce(services, request, reply, async (tx, requestKey) => {
        const { caller, params } = request;
        const sweep = await requireCompletedSweep(tx, caller, params.id);
        const [version] = await findVersions(tx, caller.workspaceId, [sweep.strategyVersionId]);
        const config = await rowConfig(tx, caller, sweep, params.variant);
        const check = new BacktestCheck(services.catalogs, caller);
        const pinned = pinnedSnapshots(sweep, config);
        const item = await check.accept(requireReady(version, sweep.strategyVersionId), config, { pinned });
        return queueOne(tx, requestKey, caller, item, services.config);
      }),
  );
}

/** The snapshots that the sweep read, even if the series has been imported again since. */
function pinnedSnapshots({ markets }: Sweep, config: BacktestConfig) {
  const symbols = symbolsOf(config).join();
  const isSame = (market: Sweep['markets'][number]): boolean =>
    ('symbols' in market ? market.symbols.join() : market.symbol) === symbols && market.timeframe === config.timeframe;
  return markets.find(isSame)?.snapshots;
}

/** The config of a row of the sweep. @param given the variant in the path @throws NOT_FOUND */
async function rowConfig(sql: Queryable, caller: Caller, sweep: Sweep, given: string) {
  const variant = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
  const bytes = Number.isNaN(variant) ? undefined : await readSweepShardOf(sql, sweep.id, variant);
  const rows = bytes && decodeRows(bytes);
  const row = rows?.indexes.indexOf(variant) ?? -1;
  if (rows === undefined || row === -1)
    throw problem('NOT_FOUND', {
      message: `The sweep has no row of variant "${given}". The column "variant" of its results has those there are.`,
    });
  const job = await jobOf(sql, caller, sweep);
  return configOf(
    job.spec.config,
    spaceOf(job),
    rows.coordinates.map((column) => column[row]),
  );
}

async function jobOf(sql: Queryable, caller: Caller, sweep: Sweep): Promise<SweepJob> {
  const [version] = await findVersions(sql, caller.workspaceId, [sweep.strategyVersionId]);
  // What is stored was checked when it was accepted.
  const spec = sweep.spec as unknown as SweepSpec;
  return { strategy: strategyOf(version), spec, variants: sweep.variants, indexes: sweep.indexes };
}

/** @throws NOT_FOUND, also for a sweep that has no result */
async function requireCompletedSweep(sql: Queryable, caller: Caller, given: string): Promise<Sweep> {
  const sweep = await requireSweep(sql, { caller, id: pathId(given, 'sweep'), backtestId: null });
  if (sweep.status !== 'completed')
    throw problem('NOT_FOUND', { message: `The sweep is ${sweep.status}; only a completed one has results.` });
  return sweep;
}
