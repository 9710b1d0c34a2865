// The docs pages: every guide is served where it is cited, as a page for people and as Markdown for programs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PAGES } from '../../src/api/docs/docsRoutes.ts';
import { ROOT } from '../../src/config.ts';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
afterAll(() => api[Symbol.asyncDispose]());

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const get = (url: string, accept?: string) => api.app.inject({ url, headers: accept === undefined ? {} : { accept } });

describe('GET /docs', () => {
  it('lists every guide of docs/ and the API reference', async () => {
    const { statusCode, payload, headers } = await get('/docs', BROWSER);
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const files = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
    expect(PAGES.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
    for (const file of files) expect(payload).toContain(`href="/docs/${file}"`);
    expect(payload).toContain('href="/docs/api/"');
    expect((await get('/docs/', BROWSER)).statusCode).toBe(200);
    expect((await get('/docs/api/', BROWSER)).statusCode).toBe(200);
  });

  it('is where the root of the service leads, and where an unknown path points', async () => {
    const root = await get('/', BROWSER);
    expect([root.statusCode, root.headers.location]).toEqual([302, '/docs']);
    const unknown = (await get('/openapi.json')).json();
    expect(unknown).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(unknown.message).toContain('No route GET /openapi.json. GET /docs');
  });

  it.each(PAGES.map(({ file }) => file))('/%s is a page for a browser and Markdown for a program', async (file) => {
    const text = readFileSync(join(ROOT, 'docs', file), 'utf8');
    const raw = await get(`/docs/${file}`, '*/*');
    expect([raw.headers['content-type'], raw.payload === text]).toEqual(['text/markdown; charset=utf-8', true]);
    const page = await get(`/docs/${file}`, BROWSER);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const [, heading] = /^# (.+)$/m.exec(text)!;
    expect(page.payload).toContain(`>${heading.split(':', 1)[0]}`);
    expect(String(page.headers['content-security-policy'])).toContain("default-src 'none'");
    expect(page.payload).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('leads only to pages and headings that exist', async () => {
    const broken: string[] = [];
    const pages = new Map<string, string>();
    for (const { file } of PAGES) pages.set(`/docs/${file}`, (await get(`/docs/${file}`, BROWSER)).payload);
    for (const [from, html] of pages) {
      for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
        const { pathname, hash } = new URL(href, `http://x${from}`);
        if (['/docs/style.css', '/docs/icon.svg', '/docs', '/docs/api/', '/console/'].includes(pathname)) continue;
        const target = pages.get(pathname);
        if (target === undefined || (hash !== '' && !target.includes(`id="${decodeURIComponent(hash.slice(1))}"`)))
          broken.push(`${from}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('serves the style sheet, the icon and the examples, and answers an unknown page with a problem', async () => {
    expect((await get('/docs/style.css')).headers['content-type']).toBe('text/css; charset=utf-8');
    expect((await get('/docs/icon.svg')).headers['content-type']).toBe('image/svg+xml');
    expect((await get('/docs/examples/strategy.json')).json()).toMatchObject({ name: 'Golden cross' });
    for (const path of ['nothing.md', 'examples/nothing.json', '..%2Fpackage.json'])
      expect((await get(`/docs/${path}`)).json()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});
