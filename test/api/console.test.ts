// The files of the console: their policy, how they may be kept, and what they weigh.
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { consoleFiles } from '../../src/api/console/consoleFiles.ts';
import { createConsoleKey } from '../../src/cli/openConsole.ts';
import { hasScreen } from '../../src/config.ts';
import { urlOf } from '../../src/db/connect.ts';
import { listWorkspaces } from '../../src/db/workspaces.ts';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
afterAll(() => api[Symbol.asyncDispose]());
const get = (url: string, headers: Record<string, string> = {}) => api.app.inject({ url, headers });

describe('GET /console', () => {
  it('leads to the address below which relative links work, also behind a proxy that adds a path', async () => {
    const { statusCode, headers } = await get('/console');
    expect([statusCode, headers.location]).toEqual([302, 'console/']);
    expect(new URL('console/', 'https://example.com/candlepool/console').pathname).toBe('/candlepool/console/');
  });

  it('is a page whose policy allows its own files and one inline script, by its hash', async () => {
    const { statusCode, headers, payload } = await get('/console/');
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = String(headers['content-security-policy']);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const inline = [...payload.matchAll(/<script(?![^>]* src=)([^>]*)>([^<]*)<\/script>/g)];
    expect(inline.map(([, attributes]) => attributes)).toEqual([
      ' type="importmap"',
      ' type="application/json" id="statistics"',
    ]);
    const hash = createHash('sha256').update(inline[0][2]).digest('base64');
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
    for (const directive of ["default-src 'none'", "connect-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      expect(policy.split('; ')).toContain(directive);
    expect(payload).not.toMatch(/ style=| on\w+=/);
  });

  it('names files that exist, which browsers may keep, and answers 304 to those who have them', async () => {
    const { payload } = await get('/console/');
    const imports = JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(payload)![1]) as {
      imports: Record<string, string>;
    };
    const named = [...payload.matchAll(/(?:href|src)="(\.\/assets\/[^"]+)"/g)].map(([, path]) => path);
    for (const path of [...named, ...Object.values(imports.imports)]) {
      const file = await get(`/console/${path}`);
      expect([path, file.statusCode]).toEqual([path, 200]);
      expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
    const first = await get(`/console/${named[0]}`);
    const again = await get(`/console/${named[0]}`, { 'if-none-match': String(first.headers.etag) });
    expect([again.statusCode, again.payload]).toEqual([304, '']);
  });

  it('serves no file beside them', async () => {
    const { digest } = await consoleFiles();
    const paths = ['main.js', '../../config.ts', '..%2F..%2Fconfig.ts', 'packages/pg/lib/index.js', ''];
    for (const path of paths) expect((await get(`/console/assets/${digest}/${path}`)).statusCode).toBe(404);
    expect((await get('/console/assets/0123456789abcdef/main.ts')).statusCode).toBe(404);
  });

  it('loads less than 300 KB, compressed as it is sent, before an editor opens', async () => {
    const { payload } = await get('/console/');
    const { files, digest } = await consoleFiles();
    const preloaded = [...payload.matchAll(/(?:href|src)="\.\/assets\/[^/]+\/([^"]+)"/g)].map(([, path]) => path);
    const charts = [...files.keys()].filter((path) => path.includes('lightweight-charts'));
    expect(charts.length).toBe(1);
    const bytes = [...new Set([...preloaded, ...charts])].map((path) => compressedSize(files.get(path)!.body));
    const total = bytes.reduce((sum, size) => sum + size, compressedSize(payload.replaceAll(digest, '')));
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(300_000);
  });
});

const compressedSize = (text: string): number =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }).length;

describe('--open', () => {
  it('makes a key of the workspace Demo that the console can use, and ends the one before it', async () => {
    const url = urlOf(api.services.sql);
    const workspaceOf = async (key: string) => {
      const { statusCode, payload } = await get('/public/v1/workspace', { 'x-api-key': key });
      return [statusCode, (JSON.parse(payload) as { workspace?: { name: string } }).workspace?.name];
    };
    const first = await createConsoleKey(url);
    expect(await workspaceOf(first)).toEqual([200, 'Demo']);
    const second = await createConsoleKey(url);
    expect(await workspaceOf(second)).toEqual([200, 'Demo']);
    expect((await workspaceOf(first))[0]).toBe(401);
    expect((await listWorkspaces(api.services.sql)).map(({ name }) => name)).toEqual(['Demo']);
  });

  it('looks for a browser only where there is a screen', () => {
    expect(hasScreen({}, 'linux')).toBe(false);
    expect(hasScreen({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBe(true);
    expect(hasScreen({}, 'darwin')).toBe(true);
  });
});

describe('the frame of a report', () => {
  it('has an origin of its own, from which nothing can be fetched', async () => {
    const { statusCode, headers } = await get('/console/report');
    expect(statusCode).toBe(200);
    const directives = String(headers['content-security-policy']).split('; ');
    expect(directives).toContain('sandbox allow-scripts allow-downloads');
    expect(directives).toContain("default-src 'none'");
    expect(directives.filter((each) => /^(?:connect|frame|worker|form-action|base-uri)/.test(each))).toEqual([
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ]);
  });
});
