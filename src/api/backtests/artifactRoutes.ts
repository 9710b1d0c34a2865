// Artifacts and verification: trades come from the stored result; for the rest, a worker runs the pinned inputs again.
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { readTrades } from '../../db/backtests.ts';
import { deleteRerun, readRerunChunks } from '../../db/reruns.ts';
import type { RerunOutcome } from '../../db/reruns.ts';
import {
  ARTIFACT_FORMATS,
  ARTIFACT_NAMES,
  decodeDetail,
  decodeTrades,
  encodeStoredTrades,
  ENGINE_VERSION,
} from '../../engine/index.ts';
import type { ArtifactFormat, ArtifactName } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { sendRows } from '../http/csvPages.ts';
import { setFileHeaders, fileContents } from '../http/files.ts';
import { answerAfter } from '../http/idempotency.ts';
import { linkTo } from '../http/links.ts';
import { problem } from '../http/problems.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { ArtifactQuery, readArtifactRequest, requireArtifactOf } from './artifactRequest.ts';
import { awaitRerun, keptRerun, startRerun, type Rerunning } from './reruns.ts';
import { requireCompleted } from './requireBacktest.ts';
import { Verification } from './backtestSchemas.ts';
import { TradeRow } from './resultSchemas.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdempotencyHeader,
  Json,
  KEY_PROBLEMS,
  NoQuery,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';

/** Set if a recomputed artifact differs from the stored result; its value is the message of the notice. */
const NOTICE_HEADER = 'artifact-notice';

const ArtifactParams = z.object({ id: z.string(), name: z.string() });
/** As JSON, an artifact is one object per row. */
const ArtifactRows = z.array(z.union([TradeRow, Json])).meta({ description: 'One object per row.' });

const ARTIFACT_DESCRIPTION = `Trades are read from the stored result. Equity, orders, signals and the report,
and trades with \`values=true\`, are made by running the pinned inputs again.

When the engine has changed since the backtest ran, a recomputed artifact may differ from the stored result. It is
served all the same, with a notice that says what differs: in the header \`${NOTICE_HEADER}\`; in JSON, which is then
\`{"notice": {…}, "rows": […]}\` in place of the bare list of rows; in the metadata of the Arrow schema; and at the
top of the report. Without that header the file is of the stored result, byte for byte.

A CSV file can be read page by page, with \`limit\` and \`offset\`. Each page begins with the header line; the rows of
all pages, one after the other, are those of the whole file. The header \`Link\` has the address of the next page as
\`rel="next"\`; the last page has none. A page beyond the end is the header line alone.`;

const NOTICE_EXAMPLE = [
  'This file was recomputed with engine 1.1.0; the backtest ran with engine 1.0.0. All 130 trades are the same.',
  'Different in the summary: sharpeRatio.',
].join(' ');
const ArtifactResponse = {
  description: 'The artifact.',
  // A plain JSON schema, because the two OpenAPI plugins would wrap a zod schema twice.
  headers: {
    [NOTICE_HEADER]: {
      type: 'string',
      description: 'Present when the artifact was recomputed and differs from the stored result: says what differs.',
      example: NOTICE_EXAMPLE,
    },
    link: {
      type: 'string',
      description: 'On a page of a CSV file that has another after it: <the address of that page>; rel="next".',
    },
  },
  content: fileContents(ARTIFACT_FORMATS, ArtifactRows),
};

export function artifactRoutes(app: App, services: Services): void {
  const rerunning = { app, sql: services.sql, config: services.config };
  artifactRoute(rerunning);
  verifyRoute(rerunning, services);
}

function artifactRoute(rerunning: Rerunning): void {
  const { app, sql, config } = rerunning;
  app.get(
    `${BACKTESTS}/:id/artifacts/:name`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'get_backtest_artifact',
        summary: `${ARTIFACT_NAMES.join(', ')}: as Arrow, CSV or JSON, the report as HTML`,
        description: ARTIFACT_DESCRIPTION,
        params: ArtifactParams,
        querystring: ArtifactQuery,
        response: { 200: ArtifactResponse, ...problems(...KEY_PROBLEMS, 404, 409) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const backtest = await requireCompleted(sql, caller, pathId(params.id, 'backtest'));
      const { name, format, withValues, page } = readArtifactRequest(params.name, query, request.headers.accept);
      const isNamed = decodeDetail(backtest.detail!).summary.instruments !== undefined;
      requireArtifactOf(name, isNamed);
      if (name === 'trades' && !withValues) {
        const parts = decodeTrades((await readTrades(sql, backtest.id))!);
        const file = encodeStoredTrades(parts, format, isNamed);
        setArtifactHeaders(reply, backtest.id, name, format);
        return sendRows(reply, linkTo(config, request.url), inTurns(file), page);
      }
      const wanted = { kind: 'artifact', name, format, engine: ENGINE_VERSION } as const;
      const id = await keptRerun(sql, caller, backtest.id, wanted);
      const { notice } = requireOutcome(await awaitRerun(rerunning, id, reply));
      if (notice !== null) reply.header(NOTICE_HEADER, notice.message);
      setArtifactHeaders(reply, backtest.id, name, format);
      return sendRows(reply, linkTo(config, request.url), inTurns(readRerunChunks(sql, id)), page);
    },
  );
}

function setArtifactHeaders(reply: FastifyReply, backtestId: string, name: ArtifactName, format: ArtifactFormat): void {
  setFileHeaders(reply, `${name}-${backtestId}`, format).header('vary', 'accept');
}

function verifyRoute(rerunning: Rerunning, services: Services): void {
  const { app, sql } = rerunning;
  app.post(
    `${BACKTESTS}/:id/verify`,
    {
      onRequest: requireKey({ scope: 'backtests_write', role: 'member' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'verify_backtest',
        summary: 'Run a completed backtest again and compare the hashes',
        params: z.object({ id: z.string() }),
        headers: IdempotencyHeader,
        querystring: NoQuery,
        response: { 200: Verification, ...problems(...BODY_PROBLEMS, 404, 409) },
      },
    },
    (request, reply) =>
      answerAfter(services, request, reply, async () => {
        const { caller, params } = request;
        const backtest = await requireCompleted(sql, caller, pathId(params.id, 'backtest'));
        const id = await startRerun(sql, backtest.id, { kind: 'verify' });
        const answer = await awaitRerun(rerunning, id, reply).finally(() => deleteRerun(sql, id));
        const { resultHash, reproducibility, isOfOtherEngine } = requireOutcome(answer);
        const stored = { ...decodeDetail(backtest.detail!).reproducibility };
        return {
          id: backtest.id,
          verified: stored.resultHash === resultHash || isOfOtherEngine === true,
          stored,
          recomputed: { ...reproducibility },
        };
      }),
  );
}

/** @throws UNAVAILABLE when no worker ran it in time; NOT_FOUND, ARTIFACT_NOT_REPRODUCIBLE when the rerun failed */
function requireOutcome(outcome: RerunOutcome | undefined): RerunOutcome & { readonly ok: true } {
  if (outcome === undefined)
    throw problem('UNAVAILABLE', { message: 'No worker ran the backtest again in time. Try again in a moment.' });
  if (outcome.ok) return outcome;
  const { code, message } = outcome.error;
  if (code === 'NOT_AVAILABLE_YET') throw problem('NOT_FOUND', { message });
  throw problem('ARTIFACT_NOT_REPRODUCIBLE', {
    message: `The backtest could not be run again: ${message}`,
    extras: { error: outcome.error },
  });
}

/** The chunks, with a pause after each in which other requests get their turn. */
async function* inTurns(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    await setImmediate();
  }
}
