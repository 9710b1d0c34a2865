// The attacks on market data: files that unpack to more than they are, or are damaged; series that are replaced without
// pause; and columns and pages that take the longest.
import { gzipSync } from 'node:zlib';
import type { Attack } from './attack.ts';

const UPLOAD = '/public/v1/market-data';
const DAY_MS = 86_400_000;

/** Minutes as a CSV file; every `seed` gives other prices. */
function minutes(count: number, seed: number): Buffer {
  const rows = Array.from({ length: count }, (_, row) => {
    const price = 100 + ((row * 7 + seed) % 50);
    return `${DAY_MS + row * 60_000},${price},${price + 1},${price - 1},${price},${row}`;
  });
  return Buffer.from(`time,open,high,low,close,volume\n${rows.join('\n')}\n`);
}

const indicator = (name: string, length: number) => ({ kind: 'indicator', indicator: name, args: { length } });
/** More columns than fit, each of which takes long. */
const SLOW_COLUMNS = Object.fromEntries(
  Array.from({ length: 31 }, (_, at) => [`c${at}`, indicator('percentile_rank', 2_000 - at)]),
);

export const DATA_ATTACKS: readonly Attack[] = [
  {
    name: 'uploads that unpack to gigabytes, or nest without end, or are damaged',
    parallel: 6,
    prepare: async (send, { free, pro }) => {
      const bomb = gzipSync(Buffer.alloc(96 * 2 ** 20, '1,2,3\n'));
      const parquet = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(4_000, 0x7f), Buffer.from('\xff\xff\0\0PAR1')]);
      const bodies = [
        bomb,
        gzipSync(bomb),
        Buffer.from('['.repeat(500_000)),
        Buffer.from(`[${'{"a":'.repeat(100_000)}`),
        parquet,
        Buffer.concat([Buffer.from('ARROW1\0\0'), Buffer.alloc(50_000, 0xff)]),
        Buffer.from(`a${',b'.repeat(200_000)}\n1\n`),
        Buffer.from(`"${'x'.repeat(4_000_000)}`),
      ];
      let turn = 0;
      return () => {
        const at = turn++;
        const { key } = at % 3 === 0 ? pro : free;
        return send(`${UPLOAD}?symbol=X`, { key, body: bodies[at % bodies.length] });
      };
    },
  },
  {
    name: 'series of minutes, replaced and deleted without pause',
    parallel: 4,
    prepare: async (send, { free }) => {
      const files = Array.from({ length: 6 }, (_, seed) => minutes(20_000, seed));
      let turn = 0;
      return () => {
        const at = turn++;
        if (at % 7 === 6) return send(`${UPLOAD}/MINE/1m`, { key: free.key, method: 'DELETE' });
        return send(`${UPLOAD}?symbol=MINE&onExisting=replace`, { key: free.key, body: files[at % files.length] });
      };
    },
  },
  {
    name: 'columns that take the longest, and pages of ten thousand bars',
    parallel: 12,
    prepare: async (send, { free, pro }) => {
      const columns = Buffer.from(
        JSON.stringify({ symbol: 'EURUSD', timeframe: '1h', columns: SLOW_COLUMNS, limit: 10_000 }),
      );
      const bars = ['json', 'csv', 'arrow'].map((format) => `${UPLOAD}/EURUSD/1h/bars?limit=10000&format=${format}`);
      let turn = 0;
      return () => {
        const at = turn++;
        const { key } = at % 3 === 0 ? free : pro;
        if (at % 2 === 0) return send('/public/v1/columns', { key, body: columns });
        return send(bars[at % bars.length], { key });
      };
    },
  },
  {
    name: 'MCP tools on market data: packed files, slow columns, large pages, schemas of nothing',
    parallel: 8,
    prepare: async (send, { free, pro }) => {
      const call = (name: string, args: object) =>
        Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }));
      const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20, '1,2,3\n'))
        .toString('base64')
        .slice(0, 24_000);
      const bodies = [
        call('import_bars', { symbol: 'X', encoding: 'base64', content: bomb }),
        call('import_bars', { symbol: 'X', content: `time,close\n${'1,'.repeat(10_000)}` }),
        call('compute_columns', { symbol: 'EURUSD', timeframe: '1h', columns: SLOW_COLUMNS, limit: 10_000 }),
        call('get_bars', { symbol: 'EURUSD', timeframe: '1h', limit: 10_000 }),
        call('delete_market_data', { symbol: 'EURUSD', timeframe: '1h' }),
        call('get_schema', { tool: 'x'.repeat(20_000) }),
      ];
      const headers = { accept: 'application/json, text/event-stream' };
      let turn = 0;
      return () => {
        const at = turn++;
        return send('/mcp', { key: at % 2 === 0 ? free.key : pro.key, body: bodies[at % bodies.length], headers });
      };
    },
  },
];
