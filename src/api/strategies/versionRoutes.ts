// Versions of a strategy: all of them without payloads, one with them, and deleting one that nothing has run.
import { z } from 'zod';
import { findStrategyHead } from '../../db/strategies.ts';
import { deleteVersion, findVersionNumber, listVersions } from '../../db/strategyVersions.ts';
import type { VersionSummary } from '../../db/strategyVersions.ts';
import { requireKey } from '../http/auth/authentication.ts';
import {
  API_KEY_SECURITY,
  IdParams,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  versionNotFound,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import type { App, Services } from '../services.ts';
import { versionBody, wholeVersionBody } from './strategyBodies.ts';
import * as shapes from './strategySchemas.ts';

const VERSIONS = '/public/v1/strategies/:id/versions';
const described = { tags: ['Strategies'], security: API_KEY_SECURITY };
const read = requireKey({ scope: 'strategies_read' });
const VersionParams = z.object({ id: z.string(), version: z.string() });

/** Registered by strategyRoutes. */
export function versionRoutes(app: App, services: Services): void {
  listRoute(app, services);
  readRoute(app, services);
  deleteRoute(app, services);
}

function listRoute(app: App, { sql }: Services): void {
  app.get(
    VERSIONS,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_strategy_versions',
        summary: 'Versions of a strategy, without payloads',
        params: IdParams,
        querystring: shapes.VersionListQuery,
        response: { 200: pageOf(shapes.VersionRow), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, query }) => {
      const id = pathId(params.id, 'strategy');
      if ((await findStrategyHead(sql, caller.workspaceId, id)) === undefined) throw notFound('strategy', params.id);
      return paginate(query, versionBody<VersionSummary>, (page) =>
        listVersions(sql, caller.workspaceId, id, query, page),
      );
    },
  );
}

function readRoute(app: App, { sql }: Services): void {
  app.get(
    `${VERSIONS}/:version`,
    {
      onRequest: read,
      // Payloads have megabytes.
      config: { isHeavy: true },
      schema: {
        ...described,
        operationId: 'get_strategy_version',
        summary: 'A version with its payloads',
        params: VersionParams,
        querystring: NoQuery,
        response: { 200: shapes.StrategyVersion, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }) => {
      const version = await findVersionNumber(
        sql,
        caller.workspaceId,
        pathId(params.id, 'strategy'),
        versionNumber(params.version),
      );
      if (version === undefined) throw versionNotFound(params.version);
      return wholeVersionBody(version);
    },
  );
}

function deleteRoute(app: App, { sql }: Services): void {
  app.delete(
    `${VERSIONS}/:version`,
    {
      onRequest: requireKey({ scope: 'strategies_write', role: 'member' }),
      schema: {
        ...described,
        operationId: 'delete_strategy_version',
        summary: 'Delete a version that no backtest or sweep has run; the newest one stays',
        params: VersionParams,
        querystring: NoQuery,
        response: { 200: shapes.DeletedVersion, ...problems(...KEY_PROBLEMS, 404, 409) },
      },
    },
    async ({ caller, params }) => {
      const strategyId = pathId(params.id, 'strategy');
      const number = versionNumber(params.version);
      const outcome = await sql.begin((tx) => deleteVersion(tx, caller.workspaceId, strategyId, number));
      if (outcome === undefined) throw versionNotFound(params.version);
      if (outcome === 'deleted') return { deleted: true as const };
      const reason =
        outcome === 'newest'
          ? 'It is the newest version of its strategy, whose number must not be given again.'
          : 'Backtests or sweeps have run it, and their results refer to it.';
      throw problem('VERSION_IN_USE', { message: `Version ${number} cannot be deleted. ${reason}` });
    },
  );
}

/** @throws NOT_FOUND */
function versionNumber(given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) throw versionNotFound(given);
  return Number(given);
}
