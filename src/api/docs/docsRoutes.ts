// Docs: the guides of docs/ as pages of the service itself, readable without a network and with nothing but their style
// sheet, and as Markdown for programs.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ROOT } from '../../config.ts';
import { problem } from '../http/problems.ts';
import { sendTagged, tagged, type TaggedBody } from '../http/etag.ts';
import { linkTo, type PublicAddress } from '../http/links.ts';
import type { App, Services } from '../services.ts';
import { Marked } from 'marked';
import { escapeHtml } from '../../engine/index.ts';

/** In reading order; every file of docs/ that people read. */
export const PAGES: readonly Page[] = [
  {
    file: 'getting-started.md',
    title: 'Getting started',
    about: 'From a key to a result over HTTP, command by command.',
  },
  { file: 'console.md', title: 'The console', about: 'Results, sweeps, strategies and data in a browser.' },
  { file: 'language.md', title: 'What strategies can say', about: 'Sections, expressions and places of a strategy.' },
  { file: 'config.md', title: 'What a backtest runs on', about: 'Market, range, money and costs: every member.' },
  { file: 'indicators.md', title: 'Indicators and patterns', about: 'Every one with its arguments and formula.' },
  {
    file: 'expressions.md',
    title: 'Expressions as text',
    about: 'The grammar of `rsi(14) < 30 and close > sma(200)`.',
  },
  { file: 'fills.md', title: 'Fill rules', about: 'What happens inside a bar, in pictures.' },
  {
    file: 'semantics.md',
    title: 'Engine semantics',
    about: 'Every rule of the engine and every formula of the summary.',
  },
  { file: 'sweeps.md', title: 'Sweeps', about: 'Searching a space of parameters, and how much of the best is luck.' },
  { file: 'robustness.md', title: 'Robustness', about: 'How much of a result is the data, the costs and luck.' },
  { file: 'compare.md', title: 'Compare and combine', about: 'Several backtests side by side, or as one account.' },
  { file: 'labels.md', title: 'Labels and lists', about: 'Naming, finding, archiving and deleting runs.' },
  { file: 'python.md', title: 'Python', about: 'Strategies as Python expressions, results as frames.' },
  { file: 'webhooks.md', title: 'Webhooks', about: 'Being told when a run has ended.' },
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

interface Page {
  /** The name of the file in docs/. */
  readonly file: string;
  readonly title: string;
  readonly about: string;
}

/** The start page: what there is, and where to begin. */
function indexPage(address: PublicAddress, pages: readonly Page[]): string {
  const hrefOf = hrefIn(address);
  const items = pages.map(
    ({ file, title, about }) => `<li><a href="${hrefOf(`/docs/${file}`)}">${title}</a><br>${about}</li>`,
  );
  return html(
    address,
    'Candlepool',
    pages,
    `<h1>Candlepool</h1>
<p>Author trading strategies as JSON, have them validated, and run backtests of them. Every page here is served by this
service and works without a network.</p>
<h2>Begin</h2>
<p>People: the <a href="${hrefOf('/console/')}">console</a> shows what runs and what came out, and
<a href="${hrefOf('/docs/getting-started.md')}">Getting started</a> leads there. Programs:
<code>GET /public/v1</code> with an API key describes the workflow, and <code>GET /public/v1/authoring-pack</code>
holds what it takes to write a strategy. Agents connect to <code>/mcp</code>.</p>
<h2>Guides</h2>
<ul class="guides">${items.join('\n')}</ul>
<h2>Reference</h2>
<ul class="guides">
<li><a href="${hrefOf('/docs/api/')}">API reference</a><br>Every operation, with examples to try.</li>
<li><a href="${hrefOf('/public/v1/openapi.json')}">OpenAPI document</a><br>The same for programs.</li>
</ul>
<p>Each guide is Markdown for programs: ask for it without <code>text/html</code> in the Accept header.</p>`,
  );
}

/** A page of docs/ with links between pages and headings that can be linked to. */
function markdownPage(address: PublicAddress, { title }: Page, text: string, pages: readonly Page[]): string {
  const files = new Set(pages.map(({ file }) => file));
  const ids = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: plain }) {
        const slug = slugOf(plain);
        const count = ids.get(slug) ?? 0;
        ids.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        const [file] = href.split('#', 1);
        // The repository's other files are not served.
        return href.startsWith('#') || files.has(file) ? `<a href="${escapeHtml(href)}">${label}</a>` : label;
      },
    },
  });
  return html(address, title, pages, marked.parse(text, { async: false }));
}

/** The id of a heading, made as GitHub makes it, so that links work in both places. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Links as an attribute holds them. */
const hrefIn =
  (address: PublicAddress) =>
  (path: string): string =>
    escapeHtml(linkTo(address, path));

function html(address: PublicAddress, title: string, pages: readonly Page[], body: string): string {
  const hrefOf = hrefIn(address);
  const link = (path: string, text: string): string => `<a href="${hrefOf(path)}">${text}</a>`;
  const guides = pages.map(({ file, title: name }) => link(`/docs/${file}`, name));
  const links = [
    link('/docs', 'Candlepool'),
    link('/console/', 'Open the console'),
    ...guides,
    link('/docs/api/', 'API reference'),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === 'Candlepool' ? title : `${title} · Candlepool`}</title>
<link rel="stylesheet" href="${hrefOf('/docs/style.css')}">
<link rel="icon" href="${hrefOf('/docs/icon.svg')}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Guides">${links.join(' ')}</nav>
<main id="content" tabindex="-1">
${body}
</main>
</body>
</html>
`;
}
