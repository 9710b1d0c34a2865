// Docs: the guides of docs/ as pages of the service itself, readable without a network, and as Markdown for programs.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ROOT } from '../../config.ts';
import { problem } from '../http/problems.ts';
import { sendTagged, tagged, type TaggedBody } from '../http/etag.ts';
import { linkTo, type PublicAddress } from '../http/links.ts';
import type { App, Services } from '../services.ts';
import { indexPage, markdownPage, type Page } from './docsPage.ts';

/** In reading order; every file of docs/ that people read. */
export const PAGES: readonly Page[] = [
  {
    file: 'getting-started.md',
    title: 'Getting started',
    about: 'From a key to a result over HTTP, command by command.',
  },
  { file: 'language.md', title: 'What strategies can say', about: 'Sections, expressions and places of a strategy.' },
  { file: 'config.md', title: 'What a backtest runs on', about: 'Market, range, money and costs: every member.' },
  { file: 'indicators.md', title: 'Indicators and patterns', about: 'Every one with its arguments and formula.' },
  { file: 'fills.md', title: 'Fill rules', about: 'What happens inside a bar, in pictures.' },
  {
    file: 'semantics.md',
    title: 'Engine semantics',
    about: 'Every rule of the engine and every formula of the summary.',
  },
  { file: 'sweeps.md', title: 'Sweeps', about: 'Searching a space of parameters, and how much of the best is luck.' },
  { file: 'robustness.md', title: 'Robustness', about: 'How much of a result is the data, the costs and luck.' },
  { file: 'mcp.md', title: 'Agents over MCP', about: 'How an agent connects, and its tools.' },
  { file: 'market-data.md', title: 'Market data', about: 'Importing bars: what is inferred, refused and reported.' },
  { file: 'imports.md', title: 'Import table', about: 'Every shape of file that is read or refused, made by a test.' },
  { file: 'problems.md', title: 'Problems', about: 'Every error of the API and what to do.' },
  { file: 'operations.md', title: 'Operations', about: 'One machine or many, health, metrics, backup, limits.' },
  { file: 'architecture.md', title: 'Architecture', about: 'One backtest through the code, file by file.' },
  { file: 'performance.md', title: 'Performance', about: 'What a backtest costs, and the rules that keep it cheap.' },
];
const EXAMPLES: ReadonlySet<string> = new Set(['strategy.json', 'config.json', 'sweep.json']);

/**
 * The pages hold text and one style sheet; nothing runs, and nothing is fetched from elsewhere. A page that is read at
 * another address than PUBLIC_URL has its style sheet from there.
 */
function policyOf({ publicUrl }: PublicAddress): string {
  const own = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return `default-src 'none'; style-src ${own}; img-src ${own}; base-uri 'none'; frame-ancestors 'none'`;
}

const Name = z.object({ name: z.string().max(100) });

/** `GET /docs`, to which `/` leads, `/docs/{name}.md` and `/docs/examples/{name}`; no key is needed. */
export function docsRoutes(app: App, { config }: Services): void {
  const hidden = { schema: { hide: true } } as const;
  const policy = policyOf(config);
  const home = tagged(indexPage(config, PAGES));
  const sendIndex = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    sendTagged(request, reply.header('content-security-policy', policy), home, 'text/html; charset=utf-8');
  app.get('/docs', hidden, sendIndex);
  app.get('/', hidden, async (_request, reply) => reply.redirect(linkTo(config, '/docs')));

  const assets = { 'style.css': ['docs.css', 'text/css; charset=utf-8'], 'icon.svg': ['icon.svg', 'image/svg+xml'] };
  for (const [name, [file, type]] of Object.entries(assets))
    app.get(`/docs/${name}`, hidden, async (request, reply) =>
      sendTagged(request, reply, tagged(await readFile(join(import.meta.dirname, file), 'utf8')), type),
    );

  // A page is made once: to make one of the long ones takes a tenth of a second.
  const made = new Map<string, Promise<TaggedBody>>();
  const once = (key: string, make: () => Promise<string>): Promise<TaggedBody> => {
    let body = made.get(key);
    if (body === undefined) made.set(key, (body = make().then(tagged)));
    return body;
  };
  app.get('/docs/:name', { schema: { hide: true, params: Name } }, async (request, reply) => {
    const page = PAGES.find(({ file }) => file === request.params.name);
    if (page === undefined)
      throw problem('NOT_FOUND', { message: `There is no page ${request.params.name}; GET /docs lists all.` });
    const text = (): Promise<string> => readFile(join(ROOT, 'docs', page.file), 'utf8');
    reply.header('content-security-policy', policy).header('vary', 'accept, accept-encoding');
    // A browser asks for HTML by name; a program that takes anything gets the Markdown.
    const wantsPage = (request.headers.accept ?? '').includes('text/html');
    if (!wantsPage) return sendTagged(request, reply, await once(page.file, text), 'text/markdown; charset=utf-8');
    const html = await once(`${page.file} as HTML`, async () => markdownPage(config, page, await text(), PAGES));
    return sendTagged(request, reply, html, 'text/html; charset=utf-8');
  });

  app.get('/docs/examples/:name', { schema: { hide: true, params: Name } }, async (request, reply) => {
    const { name } = request.params;
    if (!EXAMPLES.has(name)) throw problem('NOT_FOUND', { message: `There is no example ${name}.` });
    return sendTagged(request, reply, tagged(await readFile(join(ROOT, 'docs', 'examples', name), 'utf8')));
  });
}
