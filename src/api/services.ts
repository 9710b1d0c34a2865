// Services: what the routes are given, and the type of the app they are registered on.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi';
import type { Config } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../log.ts';
import type { WorkspaceCatalogs } from '../market/workspaceCatalogs.ts';

export interface Services {
  readonly sql: Sql;
  /**
   * A pool of its own for the short reads that every request makes, so that they never wait behind transactions or long
   * statements.
   */
  readonly shortReads: Sql;
  readonly config: Config;
  readonly log: Log;
  /** Of each workspace; there is no other way to market data. */
  readonly catalogs: WorkspaceCatalogs;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  FastifyZodOpenApiTypeProvider
>;
