// Docs pages: Markdown as HTML that needs nothing but its style sheet.
import { Marked } from 'marked';
import { escapeHtml } from '../../engine/index.ts';
import { linkTo, type PublicAddress } from '../http/links.ts';

export interface Page {
  /** The name of the file in docs/. */
  readonly file: string;
  readonly title: string;
  readonly about: string;
}

/** The start page: what there is, and where to begin. */
export function indexPage(address: PublicAddress, pages: readonly Page[]): string {
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
<p>People: <a href="${hrefOf('/docs/getting-started.md')}">Getting started</a>. Programs:
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
export function markdownPage(address: PublicAddress, { title }: Page, text: string, pages: readonly Page[]): string {
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
  const links = [link('/docs', 'Candlepool'), ...guides, link('/docs/api/', 'API reference')];
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
