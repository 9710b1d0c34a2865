// Services: what the routes are given, and the type of the app they are registered on.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi';
import type { Config } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../log.ts';
import type { Catalog } from '../market/catalog.ts';

export interface Services {
  readonly sql: Sql;
  /**
   * A pool of its own for the short reads that every request makes, so that they never wait behind transactions or long
   * statements.
   */
  readonly shortReads: Sql;
  readonly config: Config;
  readonly log: Log;
  readonly catalog: Catalog;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  FastifyZodOpenApiTypeProvider
>;
