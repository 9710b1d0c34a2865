// Artifacts and verification: a worker runs the pinned inputs again, and what comes out must be what was stored.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findBacktest } from '../../db/backtests.ts';
import type { Backtest } from '../../db/backtests.ts';
import type { Sql } from '../../db/connect.ts';
import type { News } from '../../db/news.ts';
import { deleteRerun, readRerunChunk, readRerunOutcome } from '../../db/reruns.ts';
import type { RerunOutcome, RerunRequest } from '../../db/reruns.ts';
import { ARTIFACT_FORMATS, ARTIFACT_NAMES, FORMATS_OF } from '../../engine/index.ts';
import type { ArtifactFormat, ArtifactName } from '../../engine/index.ts';
import { enqueueRerun } from '../../jobs/enqueue.ts';
import { requireKey } from '../auth/authentication.ts';
import type { Caller } from '../auth/authentication.ts';
import { BACKTESTS } from '../backtestBodies.ts';
import { clientGone, waitFor } from '../backtestWaiting.ts';
import { answerAfter } from '../idempotency.ts';
import { problem } from '../problems.ts';
import { Verification } from '../schemas/backtests.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, IdempotencyHeader, KEY_PROBLEMS, NoQuery, notFound, pathId, problems } from '../schemas/common.ts'; // prettier-ignore
import type { App, Services } from '../services.ts';

/** A rerun takes about as long as the run did; clients cut requests at about a minute. */
const RERUN_MS = 55_000;

export const MEDIA_TYPES: Readonly<Record<ArtifactFormat, string>> = {
  arrow: 'application/vnd.apache.arrow.file',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
};
/** The report is one file with its scripts inside, and must reach nothing outside. */
const REPORT_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

const ArtifactParams = z.object({ id: z.string(), name: z.string() });
const ArtifactQuery = z.strictObject({
  format: z.enum(ARTIFACT_FORMATS).optional().meta({ description: 'Wins over the Accept header.' }),
});

interface Rerunning {
  readonly app: App;
  readonly sql: Sql;
  readonly news: News;
}

export function artifactRoutes(app: App, services: Services, news: News): void {
  const rerunning = { app, sql: services.sql, news };
  artifactRoute(rerunning);
  verifyRoute(rerunning, services);
}

function artifactRoute(rerunning: Rerunning): void {
  const { app, sql } = rerunning;
  app.get(
    `${BACKTESTS}/:id/artifacts/:name`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'get_backtest_artifact',
        summary: `${ARTIFACT_NAMES.join(', ')}: made on demand, as Arrow, CSV, JSON or HTML`,
        params: ArtifactParams,
        querystring: ArtifactQuery,
        response: {
          200: {
            description: 'The artifact.',
            content: Object.fromEntries(
              Object.values(MEDIA_TYPES).map((type) => [type.split(';')[0], { schema: z.string() }]),
            ),
          },
          ...problems(...KEY_PROBLEMS, 404, 409),
        },
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      const backtest = await requireCompleted(sql, caller, pathId(params.id, 'backtest'));
      const name = ARTIFACT_NAMES.find((each) => each === params.name);
      if (name === undefined)
        throw problem('NOT_FOUND', {
          message: `No artifact "${params.name}"; there are ${ARTIFACT_NAMES.join(', ')}.`,
        });
      const format = formatOf(request, name, request.query.format);
      const id = await startRerun(rerunning, backtest.id, { kind: 'artifact', name, format });
      try {
        const outcome = requireOutcome(await awaitRerun(rerunning, id, reply));
        requireSame(backtest, outcome.resultHash);
      } catch (error) {
        await deleteRerun(sql, id);
        throw error;
      }
      const file = `${name}-${backtest.id}.${format}`;
      reply
        .header('content-type', MEDIA_TYPES[format])
        .header('content-disposition', `${format === 'html' ? 'inline' : 'attachment'}; filename="${file}"`)
        .header('cache-control', 'private, no-cache')
        .header('vary', 'accept');
      if (format === 'html') reply.header('content-security-policy', REPORT_POLICY);
      return reply.send(Readable.from(chunks(sql, id)) as never);
    },
  );
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
        const id = await startRerun(rerunning, backtest.id, { kind: 'verify' });
        const answer = await awaitRerun(rerunning, id, reply).finally(() => deleteRerun(sql, id));
        const { resultHash, reproducibility } = requireOutcome(answer);
        const stored = { ...backtest.reproducibility };
        return {
          id: backtest.id,
          verified: stored.resultHash === resultHash,
          stored,
          recomputed: { ...reproducibility },
        };
      }),
  );
}

async function requireCompleted(sql: Sql, caller: Caller, id: string): Promise<Backtest> {
  const backtest = await findBacktest(sql, caller.workspaceId, id);
  if (backtest === undefined) throw notFound('backtest', id);
  if (backtest.status !== 'completed')
    throw problem('NOT_FOUND', { message: `The backtest is ${backtest.status}; only a completed one has artifacts.` });
  return backtest;
}

/** `format` if it is given, else the first that Accept prefers among those there are, else the default. */
function formatOf(request: FastifyRequest, name: ArtifactName, given: ArtifactFormat | undefined): ArtifactFormat {
  const formats = FORMATS_OF[name];
  if (given !== undefined) {
    if (formats.includes(given)) return given;
    const message = `The artifact ${name} is made as ${formats.join(', ')}, not as ${given}.`;
    const issue = { code: 'OUT_OF_RANGE', path: '/query/format', field: 'format', severity: 'error', message };
    throw problem('VALIDATION_FAILED', { message, issues: [issue] });
  }
  for (const type of acceptedTypes(request.headers.accept ?? '')) {
    const format = formats.find((each) => MEDIA_TYPES[each].split(';')[0] === type);
    if (format) return format;
  }
  return formats[0];
}

/** Media types of an Accept header by falling weight (RFC 9110 §12.5.1); wildcards are left to the default. */
function acceptedTypes(header: string): string[] {
  const ranges = header.split(',').map((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  return ranges.filter((range) => range.weight > 0).sort((a, b) => b.weight - a.weight).map((range) => range.type); // prettier-ignore
}

const startRerun = ({ sql }: Rerunning, backtestId: string, request: RerunRequest): Promise<string> =>
  sql.begin((tx) => enqueueRerun(tx, backtestId, request));

function awaitRerun({ app, sql, news }: Rerunning, id: string, reply: FastifyReply): Promise<RerunOutcome | undefined> {
  const signals = [app.drainSignal, clientGone(reply)];
  return waitFor(
    { news, id, timeoutMs: RERUN_MS, signals },
    async () => (await readRerunOutcome(sql, id)) ?? undefined,
  );
}

function requireOutcome(outcome: RerunOutcome | undefined): RerunOutcome & { readonly ok: true } {
  if (outcome === undefined)
    throw problem('UNAVAILABLE', { message: 'No worker has run the backtest again in time. Try again in a moment.' });
  if (outcome.ok) return outcome;
  const { code, message } = outcome.error;
  if (code === 'NOT_AVAILABLE_YET') throw problem('NOT_FOUND', { message });
  throw problem('ARTIFACT_NOT_REPRODUCIBLE', {
    message: `Running it again failed: ${message}`,
    extras: { error: outcome.error },
  });
}

function requireSame(backtest: Backtest, resultHash: string): void {
  const stored = backtest.reproducibility?.resultHash;
  if (stored === resultHash) return;
  throw problem('ARTIFACT_NOT_REPRODUCIBLE', {
    message: 'Running the backtest again gave another result than is stored.',
    extras: { stored, recomputed: resultHash },
  });
}

/** Nothing is kept once the last byte has been sent, or the client has gone. */
async function* chunks(sql: Sql, id: string): AsyncGenerator<Uint8Array> {
  try {
    for (let ordinal = 0; ; ordinal++) {
      const bytes = await readRerunChunk(sql, id, ordinal);
      if (bytes === undefined) return;
      yield bytes;
    }
  } finally {
    await deleteRerun(sql, id);
  }
}
