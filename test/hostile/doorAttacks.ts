// Attacks on the doors of the service: its connections, and MCP.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const ACCEPT = { accept: 'application/json, text/event-stream' };
const MODERN = '2026-07-28';
const SUBSCRIPTION = rpc('subscriptions/listen', {
  notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
  _meta: {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
});

/** More than the connections of a process. */
const HALF_OPEN = 4_200;
/** So many are opened at a time, and the next ones after a pause. */
const OPENED_AT_ONCE = 100;
const PAUSE_MS = 50;

export const DOOR_ATTACKS: readonly Attack[] = [
  {
    name: 'pages and files of the console without a key, by names that lead elsewhere, too',
    parallel: 16,
    prepare: async (send) => {
      const { text } = await send('/console/');
      const [assets] = /assets\/\w+/.exec(text)!;
      const names = ['main.ts', '..%2f..%2fpackage.json', '%00', 'a%5Cb', 'x'.repeat(200), '__proto__'];
      const paths = ['/console/', '/console/report', ...names.map((name) => `/console/${assets}/${name}`)];
      let turn = 0;
      return () => send(paths[turn++ % paths.length]);
    },
  },
  {
    name: 'MCP batches of 100 tools/list',
    parallel: 16,
    prepare: async (send, { free }) => {
      const body = Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ ...rpc('tools/list'), id }))));
      return () => send('/mcp', { key: free.key, body, headers: ACCEPT });
    },
  },
  {
    name: 'MCP tools/list, one by one',
    parallel: 16,
    prepare: async (send, { free, pro }) => {
      let turn = 0;
      return () =>
        send('/mcp', { key: turn++ % 2 === 0 ? free.key : pro.key, body: rpc('tools/list'), headers: ACCEPT });
    },
  },
  {
    name: 'MCP streams: GET, subscriptions, tools that wait',
    parallel: 24,
    prepare: async (send, { pro }) => {
      const listen = { 'mcp-protocol-version': MODERN, 'mcp-method': 'subscriptions/listen' };
      const sweep = rpc('tools/call', { name: 'get_sweep', arguments: { id: 'x'.repeat(1_000), wait: 25 } });
      const calls = [
        () => send('/mcp', { key: pro.key, headers: { accept: 'text/event-stream' } }),
        () => send('/mcp', { key: pro.key, body: SUBSCRIPTION, headers: { ...ACCEPT, ...listen } }),
        () => send('/mcp', { key: pro.key, body: sweep, headers: ACCEPT }),
      ];
      let turn = 0;
      return () => calls[turn++ % calls.length]();
    },
  },
  {
    name: 'MCP arguments that take long to read',
    parallel: 2,
    prepare: async (send, { pro }) => {
      const call = (name: string, args: object) =>
        Buffer.from(JSON.stringify(rpc('tools/call', { name, arguments: args })));
      const bodies = [
        call('run_backtests', { items: Array.from({ length: 40_000 }, () => '1') }),
        call('get_manifest', { path: '/'.repeat(500_000) }),
        call('get_manifest', { path: '/'.repeat(2_000) }),
        call('validate_strategy', { strategyAst: `[${'1,'.repeat(200_000)}1]` }),
      ];
      let turn = 0;
      return () => send('/mcp', { key: pro.key, body: bodies[turn++ % bodies.length], headers: ACCEPT });
    },
  },
  {
    name: `${HALF_OPEN} half-open sockets`,
    parallel: 1,
    prepare: async (_send, { url, signal }) => {
      const { hostname, port } = new URL(url);
      const open = new Set<Socket>();
      signal.addEventListener('abort', () => open.forEach((socket) => socket.destroy()));
      return async () => {
        for (let count = 0; count < OPENED_AT_ONCE && open.size < HALF_OPEN && !signal.aborted; count++) {
          const socket = connect(Number(port), hostname);
          open.add(socket);
          socket.on('error', () => {}).once('close', () => open.delete(socket));
          socket.write('GET /public/v1/workspace HTTP/1.1\r\nhost: ');
        }
        await sleep(PAUSE_MS);
      };
    },
  },
];
