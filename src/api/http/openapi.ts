// OpenAPI: the description of the service, made from the routes' own schemas, and the reference page that shows it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from 'fastify-zod-openapi';
import { sendTagged, tagged, type TaggedBody } from './etag.ts';
import { linkTo, type PublicAddress } from './links.ts';
import { VERSION } from '../../config.ts';
import type { App } from '../services.ts';

const DESCRIPTION = `Author trading strategies as JSON, have them validated, and run backtests of them.

Failures are \`application/problem+json\`: check the status, then \`code\`. \`GET /public/v1\` describes the workflow.`;

/**
 * The plugin's own policy asks browsers to fetch everything by https, which leaves the page blank where we serve plain
 * http to another machine. Ours allows the page its own files and nothing else.
 */
const DOCS_POLICY = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'self'",
  'img-src': ["'self'", 'data:'],
  'object-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
};

const readDocsFile = (name: string): Promise<Buffer> => readFile(join(import.meta.dirname, '..', 'docs', name));

/** Before the first route: the plugin learns the routes as they are registered. */
export async function describeRoutes(app: App, address: PublicAddress): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Candlepool', version: VERSION, description: DESCRIPTION },
      // Clients resolve a path against the address they read this from.
      servers: [{ url: address.publicUrl ?? '/' }],
      externalDocs: { url: linkTo(address, '/docs'), description: 'Guides' },
      tags: [
        { name: 'Discovery', description: 'What this is, who you are, what a strategy may say.' },
        { name: 'Market data', description: 'Series, their bars, and values of the strategy language on them.' },
        { name: 'Templates', description: 'Strategies that are ready to copy.' },
        { name: 'Strategies', description: 'Validate, create, finalize.' },
        { name: 'Backtests', description: 'Queue, poll, read.' },
        { name: 'Sweeps', description: 'Many variants of a strategy, ranked, and how much of the best is luck.' },
        { name: 'Webhooks', description: 'Be told when a run has ended.' },
        { name: 'Management', description: 'For signed-in users: API keys and the editor.' },
        { name: 'Operations', description: 'Health and metrics.' },
      ],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          bearerApiKey: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token.' },
          accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A signed-in user.' },
        },
      },
    },
    ...fastifyZodOpenApiTransformers,
    transformObject: (given) => withOptionalBodies(fastifyZodOpenApiTransformers.transformObject(given)),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs/api',
    // Its page names its own files by path, without a host.
    indexPrefix: pathOf(address),
    staticCSP: DOCS_POLICY,
    uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0 },
    logo: { type: 'image/svg+xml', content: await readDocsFile('logo.svg') },
    theme: {
      title: 'API reference · Candlepool',
      favicon: [
        {
          filename: 'icon.svg',
          rel: 'icon',
          type: 'image/svg+xml',
          sizes: 'any',
          content: await readDocsFile('icon.svg'),
        },
      ],
      // The field that loads another document, which the policy above would refuse.
      css: [{ filename: 'topbar.css', content: '.swagger-ui .topbar .download-url-wrapper { visibility: hidden }' }],
    },
  });
}

const pathOf = ({ publicUrl }: PublicAddress): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');

/** `GET /public/v1/openapi.json`; no key is needed. */
export function openapiRoute(app: App): void {
  let document: TaggedBody | undefined;
  app.get('/public/v1/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    document ??= tagged(JSON.stringify(app.swagger()));
    return sendTagged(request, reply, document);
  });
}

/** The mark of a body that may be absent: the transformers set it in the schema, but still call the body required. */
const OPTIONAL = 'x-fastify-zod-openapi-optional';

function withOptionalBodies<D extends { readonly paths?: object | undefined }>(document: D): D {
  for (const operations of Object.values(document.paths ?? {})) {
    for (const { requestBody } of Object.values(operations as Record<string, { requestBody?: RequestBody }>)) {
      const schema = requestBody?.content?.['application/json']?.schema;
      if (requestBody === undefined || schema?.[OPTIONAL] !== true) continue;
      requestBody.required = false;
      delete schema[OPTIONAL];
    }
  }
  return document;
}

interface RequestBody {
  required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema?: Record<string, unknown> }>>;
}
