// Uploads: a file of bars becomes series of the workspace, with the inference, report and refusals of data import.
import { setImmediate as immediate } from 'node:timers/promises';
import { z } from 'zod';
import { periodsPerYear, periodsPerYearReason, TIMEFRAMES } from '../../engine/index.ts';
import { MarketDataError } from '../../market/import/importError.ts';
import { importSeries, type ImportedSeries } from '../../market/import/importSeries.ts';
import { IMPORT_OPTIONS, parseImportOptions, withParameters } from '../../market/import/optionTable.ts';
import { readUpload } from '../../market/import/upload.ts';
import { makeInstrument, parseInstrumentFields } from '../../market/instrument.ts';
import { marketDataSeries } from '../../db/workspaceSeries.ts';
import type { Queryable } from '../../db/connect.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { bodyLimitOf, bodyTooLarge } from '../http/bodyLimits.ts';
import { requireWaitingClient } from '../http/heavyRequests.ts';
import { answerOnce } from '../http/idempotency.ts';
import { problem, type ProblemError, type ProblemIssue } from '../http/problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, IdempotencyHeader, Json, problems, text } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';

/** A file may unpack to so many times the limit of its upload: text of prices packs to about a quarter. */
const UNPACKED_RATIO = 8;
/** Beyond this many, an answer only repeats itself. */
const SHOWN_OUTLIERS = 20;
/** What a zip of monthly files of many symbols may make. */
const MAX_SERIES_PER_UPLOAD = 100;

const option = ({ value, text: said, choices }: (typeof IMPORT_OPTIONS)[number]) => {
  const texts = choices === undefined ? z.string().max(1_000) : z.enum(choices);
  const schema = value === null ? z.enum(['true', 'false']) : texts;
  return schema.optional().meta({ description: `${said[0].toUpperCase()}${said.slice(1)}.` });
};

const ImportQuery = z.strictObject({
  symbol: text(1, 100).optional().meta({ description: 'Of the bars; the only one to be read of a file of several.' }),
  filename: z.string().min(1).max(255).optional().meta({
    description: 'The name of the file, such as BTCUSDT-1h.csv, which may show symbol and timeframe.',
  }),
  ...Object.fromEntries(IMPORT_OPTIONS.map((each) => [each.name, option(each)])),
  onExisting: z.enum(['refuse', 'append', 'replace']).default('refuse').meta({
    description: 'What to do with an own series of the same symbol and timeframe.',
  }),
  instrument: z.string().max(2_000).optional().meta({
    description: 'Metadata as JSON, such as {"tickSize":0.01,"periodsPerYear":252}.',
  }),
  calendar: text(1, 20).optional().meta({
    description: 'The exchange whose trading days and hours it has, such as XNYS; none: those that the bars show.',
  }),
});

const ImportedSeriesBody = z
  .object({
    symbol: z.string(),
    timeframe: z.enum(TIMEFRAMES),
    bars: z.int(),
    start: z.int().meta({ description: 'Open of the first bar, ms UTC.' }),
    end: z.int().meta({ description: 'Close of the last bar, ms UTC.' }),
    gaps: z.int(),
    missingBars: z.int(),
    isTimeframeInferred: z.boolean(),
    isCloseOnly: z.boolean(),
    format: z.string(),
    time: Json.meta({ description: 'Which column has the times, their unit and zone, and what they are of a bar.' }),
    extraColumns: z.array(z.string()),
    ignoredColumns: z.array(z.string()),
    periodsPerYear: z.number(),
    periodsPerYearReason: z.string(),
    outlierCount: z.int(),
    outliers: z.array(Json).meta({ description: `The first ${SHOWN_OUTLIERS}; imported as they are.` }),
    notes: z.array(z.string()),
  })
  .meta({ id: 'ImportedSeries' });

const DESCRIPTION = `The body is the file: CSV, JSON, Parquet, Arrow or Feather, plain or packed by gzip, Zstandard or
zip; it is recognized by its first bytes, whatever its Content-Type. The options are those of \`candlepool data
import\`. The series belong to the workspace: no other sees them. Where the workspace has series of a symbol, they
stand in place of the shared ones of that symbol.`;

export function importRoute(app: App, services: Services): void {
  // Parsers of a context of their own: elsewhere a body is JSON.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
      const bytes = body as Buffer;
      if (bytes.length > bodyLimitOf(request)) return done(bodyTooLarge(request));
      request.rawBody = bytes;
      request.isHeavy = request.server.heavyRequests !== null;
      done(null, undefined);
    });
    route(scope, services);
  });
}

function route(app: App, services: Services): void {
  app.post(
    '/public/v1/market-data',
    {
      onRequest: requireKey({ scope: 'market_data_write', role: 'member' }),
      config: { body: 'uploadBytes', isLong: true, isQueryPartOfBody: true },
      schema: {
        tags: ['Market data'],
        operationId: 'import_bars',
        summary: 'A file of bars, as series of the workspace',
        description: DESCRIPTION,
        security: API_KEY_SECURITY,
        headers: IdempotencyHeader,
        querystring: ImportQuery,
        response: {
          201: z.object({ series: z.array(ImportedSeriesBody) }),
          ...problems(...BODY_PROBLEMS, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { caller, query, rawBody } = request;
      const { symbol, filename, onExisting, instrument, calendar, ...options } = query as Readonly<
        Record<string, string>
      > &
        Pick<z.infer<typeof ImportQuery>, 'onExisting'>;
      const pause = async (): Promise<void> => {
        await immediate();
        requireWaitingClient(request);
      };
      // Read before the transaction, which must not wait for it; a repeated request is answered as the first was.
      const [read] = await Promise.allSettled([
        asProblem(async () => {
          const given = parseInstrumentFields(instrument ?? '{}', calendar);
          if (symbol !== undefined) makeInstrument(symbol, given);
          const maxBytes = Math.min(UNPACKED_RATIO * TIER_LIMITS[caller.tier].uploadBytes, MOST_UNPACKED_BYTES);
          const upload = { bytes: rawBody ?? new Uint8Array(), symbol, filename, maxBytes };
          const series = await readUpload({ ...upload, options: parseImportOptions(options) }, pause);
          for (const each of series) makeInstrument(each.symbol, given);
          requireFew(series.length);
          return { given, series };
        }),
      ]);
      const shared = await services.catalogs.sharedSymbols();
      return answerOnce(services, request, reply, async (tx) => {
        if (read.status === 'rejected') throw read.reason;
        const { given, series } = read.value;
        const catalog = services.catalogs.importing(caller.workspaceId, tx, (bytes) => requireBytes(caller, bytes));
        const imported: ImportedSeries[] = [];
        for (const { symbol: name, bars } of series) {
          await pause();
          imported.push(await asProblem(() => importSeries(catalog, { symbol: name, bars, given, onExisting })));
        }
        await requireSeriesCount(tx, caller);
        const [first] = imported;
        const { symbol: name, timeframe } = first.entry;
        const location = `/public/v1/market-data/${encodeURIComponent(name)}/${timeframe}/bars`;
        return { status: 201, body: { series: bodiesOf(imported, shared) }, location };
      });
    },
  );
}

/** What a thread can hold beside what it makes of it. */
const MOST_UNPACKED_BYTES = 400 * 1024 * 1024;

function bodiesOf(
  imported: readonly ImportedSeries[],
  shared: ReadonlySet<string>,
): z.infer<typeof ImportedSeriesBody>[] {
  return imported.map(({ entry, report }) => {
    const { symbol, timeframe, bars, start, end, gaps, missingBars, instrument } = entry;
    const { isTimeframeInferred, isCloseOnly, format, time, series, ignored, outliers, notes } = report;
    const hiding = `There are shared series of ${symbol}, too: this workspace now reads only its own.`;
    return {
      symbol,
      timeframe,
      bars,
      start,
      end,
      gaps,
      missingBars,
      isTimeframeInferred,
      isCloseOnly,
      format,
      time: { ...time },
      extraColumns: [...series],
      ignoredColumns: [...ignored],
      periodsPerYear: periodsPerYear(instrument),
      periodsPerYearReason: periodsPerYearReason(instrument),
      outlierCount: outliers.length,
      outliers: outliers.slice(0, SHOWN_OUTLIERS).map((outlier) => ({ ...outlier })),
      notes: [...notes.map(withParameters), ...(shared.has(symbol) ? [hiding] : [])],
    };
  });
}

/** Runs an import, and answers its refusals as issues, with options named as parameters. @throws MARKET_DATA_INVALID */
async function asProblem<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof MarketDataError)) throw error;
    const issues = error.refusals.map(({ code, row, message }): ProblemIssue => ({
      code,
      path: row === null ? '' : `/rows/${row}`,
      severity: 'error',
      message: withParameters(message),
    }));
    throw problem('MARKET_DATA_INVALID', {
      message: withParameters(error.message),
      issues,
      extras: { refusals: error.total },
    });
  }
}

const tierLimit = (
  limitName: 'marketDataBytes' | 'marketDataSeries',
  { tier }: Asker,
  usage: number,
  what: string,
): ProblemError =>
  problem('TIER_LIMIT_REACHED', {
    message:
      `With this upload the workspace would have ${usage} ${what}; the ${tier} tier allows ` +
      `${TIER_LIMITS[tier][limitName]}. Delete series you no longer need: DELETE ` +
      '/public/v1/market-data/{symbol}/{timeframe}. What backtests have read counts until they are gone, and what ' +
      'was deleted or replaced counts for another day.',
    extras: { limitName, limit: TIER_LIMITS[tier][limitName], usage },
  });

/** @throws TIER_LIMIT_REACHED */
function requireBytes(asker: Asker, bytes: number): void {
  if (bytes > TIER_LIMITS[asker.tier].marketDataBytes)
    throw tierLimit('marketDataBytes', asker, bytes, 'bytes of market data');
}

/** @throws TIER_LIMIT_REACHED */
async function requireSeriesCount(tx: Queryable, asker: Asker): Promise<void> {
  const [{ count }] = await marketDataSeries(tx, asker.workspaceId);
  if (count > TIER_LIMITS[asker.tier].marketDataSeries)
    throw tierLimit('marketDataSeries', asker, count, 'series of its own');
}

/** @throws MARKET_DATA_INVALID */
function requireFew(count: number): void {
  if (count <= MAX_SERIES_PER_UPLOAD) return;
  throw problem('MARKET_DATA_INVALID', {
    message: `The file holds ${count} series; one upload may have ${MAX_SERIES_PER_UPLOAD}. Send it in parts.`,
  });
}
