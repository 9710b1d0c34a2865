// Compression over a real socket: what a client asks for, tags that stay right, and streams that are left alone.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  api.app.inject({ url: `/public/v1${path}`, headers: { 'x-api-key': client.apiKey, ...headers } });

describe('an answer', () => {
  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
  ] as const)('is compressed for accept-encoding %s', async (accepted, encoding, decompress) => {
    const plain = await get('/capabilities');
    const packed = await get('/capabilities', { 'accept-encoding': accepted });
    expect(packed.headers['content-encoding']).toBe(encoding);
    expect(packed.headers.vary).toContain('accept-encoding');
    expect(decompress(packed.rawPayload).toString('utf8')).toBe(plain.payload);
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 4);
  });

  it('is sent as it is when it is short or compression is not asked for', async () => {
    expect((await get('/capabilities')).headers['content-encoding']).toBeUndefined();
    expect((await get('/capabilities', { 'accept-encoding': 'zstd' })).headers['content-encoding']).toBeUndefined();
    const short = await get('/strategies', { 'accept-encoding': 'gzip' });
    expect(short.headers['content-encoding']).toBeUndefined();
  });

  it('has a strong tag for its own bytes and a weak one for compressed bytes; both answer 304', async () => {
    const plain = await get('/authoring-pack');
    const packed = await get('/authoring-pack', { 'accept-encoding': 'br' });
    expect(packed.headers.etag).toBe(`W/${String(plain.headers.etag)}`);
    for (const { etag } of [plain.headers, packed.headers]) {
      const again = await get('/authoring-pack', { 'accept-encoding': 'br', 'if-none-match': String(etag) });
      expect([again.statusCode, again.payload, again.headers.etag]).toEqual([304, '', packed.headers.etag]);
    }
    const other = await get('/authoring-pack', { 'if-none-match': String(packed.headers.etag) });
    expect([other.statusCode, other.headers.etag]).toEqual([304, plain.headers.etag]);
  });

  it('of a failure is a problem, compressed or not', async () => {
    const validated = await api.app.inject({
      method: 'POST',
      url: '/public/v1/strategies/validate',
      headers: { 'x-api-key': client.apiKey, 'accept-encoding': 'gzip', 'content-type': 'application/json' },
      payload: JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`member${index}`, 1]))),
    });
    expect([validated.statusCode, validated.headers['content-encoding']]).toEqual([400, 'gzip']);
    expect(JSON.parse(gunzipSync(validated.rawPayload).toString('utf8'))).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

it('a compressed body is refused, whatever its bytes are', async () => {
  const sent = await api.app.inject({
    method: 'POST',
    url: '/public/v1/strategies/validate',
    headers: { 'x-api-key': client.apiKey, 'content-encoding': 'gzip', 'content-type': 'application/json' },
    payload: '{"settings":{}}',
  });
  expect(sent.statusCode).toBe(415);
});
