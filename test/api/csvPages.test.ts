// Pages of CSV artifacts: put together they are the file, whatever its chunks, its quotes and the size of a page.
import { afterAll, describe, expect, it } from 'vitest';
import { csvPage } from '../../src/api/http/csvPages.ts';
import { createLiveApi } from '../support/liveApi.ts';
import { diceOf } from '../support/dice.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const withoutHead = (text: string, head: string): string => {
  expect(text.startsWith(head)).toBe(true);
  return text.slice(head.length);
};

describe('csvPage', () => {
  it('cuts files into pages whose rows, one after the other, are those of the file', async () => {
    const roll = diceOf(14);
    const cell = (): string => roll.pick(['1.5', '', 'é', '"a ""b"", c"', '"two\r\nlines"', '"\n"']);
    for (let round = 0; round < 60; round++) {
      const head = `time,"na\r\nme",é\r\n`;
      const rows = Array.from({ length: roll.whole(0, 12) }, () => `${cell()},${cell()},${cell()}\r\n`);
      const file = bytesOf(head + rows.join(''));
      const limit = roll.whole(1, 5);
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < file.length;) {
        const size = roll.whole(1, 9);
        pieces.push(file.subarray(at, (at += size)));
      }
      let whole = head;
      for (let offset = 0, isLast = false; !isLast; offset += limit) {
        const { bytes, hasMore } = await csvPage(pieces, offset, limit);
        expect(withoutHead(bytes.toString(), head)).toBe(rows.slice(offset, offset + limit).join(''));
        whole += withoutHead(bytes.toString(), head);
        expect(hasMore).toBe(offset + limit < rows.length);
        isLast = !hasMore;
      }
      expect(whole).toBe(head + rows.join(''));
    }
  });

  it('asks for no chunk that begins after the page', async () => {
    let read = 0;
    function* chunks(): Generator<Uint8Array> {
      for (const text of ['a\r\n', '1\r\n', '2\r\n', '3\r\n', '4\r\n', '5\r\n']) {
        read++;
        yield bytesOf(text);
      }
    }
    expect((await csvPage(chunks(), 1, 1)).bytes.toString()).toBe('a\r\n2\r\n');
    // One chunk more says whether rows follow.
    expect(read).toBe(4);
  });
});

describe('GET /backtests/{id}/artifacts/{name} with limit and offset', async () => {
  const live = await createLiveApi();
  afterAll(() => live[Symbol.asyncDispose]());

  it.each(['trades', 'equity', 'signals'])(
    'answers %s page by page, each with the address of the next',
    async (name) => {
      const { body } = await live.run();
      const url = `/backtests/${body.id}/artifacts/${name}`;
      const whole = (await live.client.get(`${url}?format=csv`)).text;
      const head = whole.slice(0, whole.indexOf('\r\n') + 2);
      const limit = name === 'trades' ? 2 : 1_000;
      let joined = head;
      let pages = 0;
      let next: string | undefined = `${url}?limit=${limit}`;
      while (next !== undefined) {
        const page = await live.client.get(next, { accept: 'text/csv' });
        expect(page.status, page.text).toBe(200);
        joined += withoutHead(page.text, head);
        pages++;
        const { link } = page.headers as { link?: string };
        next = link === undefined ? undefined : /^<\/public\/v1(\S+)>; rel="next"$/.exec(link)![1];
      }
      expect(pages).toBeGreaterThan(2);
      expect(joined).toBe(whole);
      const beyond = await live.client.get(`${url}?format=csv&offset=1000000&limit=5`);
      expect([beyond.text, beyond.headers.link]).toEqual([head, undefined]);
    },
  );

  it('says what to change when the format has no pages or a number is out of range', async () => {
    const { body } = await live.run();
    const url = `/backtests/${body.id}/artifacts/trades`;
    const json = await live.client.get(`${url}?limit=10`);
    expect(json).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', issues: [{ path: '/query/limit' }] },
    });
    expect(json.body.message).toContain('format=csv');
    for (const query of ['limit=0', 'limit=50001', 'limit=ten', 'offset=-1', 'offset=1.5']) {
      const refused = await live.client.get(`${url}?format=csv&${query}`);
      const field = query.split('=')[0];
      expect(refused, query).toMatchObject({ status: 400, body: { issues: [{ path: `/query/${field}` }] } });
      expect(refused.body.issues[0].message, query).toMatch(/must be a whole number from [01] to \d+/);
    }
  });
});
