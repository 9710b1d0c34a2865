// Schemathesis against a running service: npm run test:schemathesis -- [--examples N] [--seed N]
//
// Starts a service on an empty data folder, makes keys and something of every kind, and lets Schemathesis
// (https://schemathesis.readthedocs.io) send every operation of the OpenAPI document what it generates: all phases,
// once with a fixed seed and once with a random one. No answer may be 500 or above, every answer must have a documented
// status, media type and shape, and every operation must have answered with success at least once. Needs python3;
// Schemathesis is installed into a temporary environment unless SCHEMATHESIS names its executable.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const VERSION = '4.32.5';
const FIXED_SEED = 20_261_122;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];
const ROOT = join(import.meta.dirname, '..');

/** How often an id is one that exists; else it is generated. */
const KNOWN_SHARE = 0.8;
/** Things that are there to be deleted or cancelled. */
const SPARES = 25;

/** Which operations take which ids: a pattern of "METHOD /path", and parameter → kind. Schemathesis takes the first. */
const BINDINGS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['^DELETE .*/strategies/[{]id[}]', { 'path.id': 'spareStrategy', 'path.version': 'versionNumber' }],
  ['^(GET|POST) .*/strategies/[{]id[}]', { 'path.id': 'strategy', 'path.version': 'versionNumber' }],
  ['^DELETE .*/backtests/[{]id[}]$', { 'path.id': 'spareBacktest' }],
  ['/robustness/[{]checkId[}]', { 'path.id': 'checkedBacktest', 'path.checkId': 'check' }],
  ['^(GET|POST) .*/backtests/[{]id[}]', { 'path.id': 'backtest', 'path.name': 'artifact' }],
  ['^DELETE .*/sweeps/[{]id[}]$', { 'path.id': 'spareSweep' }],
  [
    '/sweeps/[{]id[}]',
    { 'path.id': 'sweep', 'path.variant': 'variant', 'query.x': 'dimension', 'query.y': 'dimension' },
  ],
  ['/system-strategies/[{]key[}]', { 'path.key': 'template' }],
  ['/capabilities/indicators/', { 'path.id': 'indicator' }],
  ['/capabilities/kinds/', { 'path.kind': 'kind' }],
  ['/capabilities$', { 'query.sections': 'sections' }],
  ['/workspaces/[{]workspaceId[}]', { 'path.workspaceId': 'workspace', 'path.apiKeyId': 'apiKey' }],
  [
    '^POST .*/(backtests|sweeps)$',
    { 'body.strategyVersionId': 'strategyVersion', 'body.config.signalInstrument.symbol': 'symbol' },
  ],
];

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '100' }, seed: { type: 'string' } },
});

const folder = mkdtempSync(join(tmpdir(), 'candlepool-schemathesis-'));
const env = { ...process.env, DATA_DIR: join(folder, 'data'), RATE_LIMITS: 'off', LOG_LEVEL: 'error' };
const command = (args: readonly string[]): string[] => [join(ROOT, 'src', 'main.ts'), ...args];
const server = spawn(process.execPath, command(['serve', '--port', '0', '--json']), {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
let failed = false;
try {
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString('utf8')) as { url: string };
  const { id } = cli('workspace', 'create', '--name', 'schemathesis', '--tier', 'pro');
  const { apiKey } = cli('keys', 'create', '--workspace', id, '--name', 'schemathesis');
  const email = 'schemathesis@example.org';
  const { token } = cli('token', '--workspace', id, '--email', email, '--role', 'owner');
  const known = await populate(url, apiKey, id, token);
  const seeds = values.seed === undefined ? [FIXED_SEED, Math.floor(Math.random() * 2 ** 31)] : [Number(values.seed)];
  for (const seed of seeds) if (!run(url, apiKey, token, seed, known)) failed = true;
  const unanswered = await neverAnswered(url);
  for (const operation of unanswered) process.stdout.write(`Never answered with success: ${operation}\n`);
  if (unanswered.length > 0) failed = true;
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

function cli(...args: string[]): Readonly<Record<string, string>> {
  const made = spawnSync(process.execPath, command([...args, '--json']), { env, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`candlepool ${args.join(' ')}: ${made.stderr}`);
  return JSON.parse(made.stdout) as Record<string, string>;
}

type Answer = Readonly<Record<string, unknown>>;

/** What exists, by kind: the ids that requests are made with, so that operations answer with more than 404. */
type Known = Readonly<Record<string, readonly string[]>>;

/** One of everything, ended, with spares of what can be deleted. */
async function populate(base: string, apiKey: string, workspace: string, token: string): Promise<Known> {
  const send = async (method: string, url: string, body?: object): Promise<Answer> => {
    const authorization = url.includes('/workspaces/') ? { authorization: `Bearer ${token}` } : { 'x-api-key': apiKey };
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    // Schemathesis blocks this process, in which a connection that is kept would die unnoticed.
    const options = { method, headers: { ...authorization, ...content, connection: 'close' } };
    const answer = await fetch(url, body === undefined ? options : { ...options, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${url}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const post = (path: string, body: object): Promise<Answer> => send('POST', `${base}/public/v1${path}`, body);
  const ended = async (path: string): Promise<string> => {
    let answer: Answer;
    do answer = await send('GET', `${base}/public/v1${path}?wait=60`);
    while (answer.status === 'queued' || answer.status === 'running');
    return answer.id as string;
  };
  const many = (make: () => Promise<string>): Promise<string[]> => Promise.all(Array.from({ length: SPARES }, make));

  const read = (name: string): Answer =>
    JSON.parse(readFileSync(join(ROOT, 'docs', 'examples', name), 'utf8')) as Answer;
  const strategy = async (): Promise<string> => (await post('/strategies', read('strategy.json'))).id as string;
  const own = await strategy();
  const version = (await post(`/strategies/${own}/versions/finalize`, { version: 1 })).id as string;
  const config = { ...read('config.json'), range: { start: '2015-01-01', end: '2018-01-01' } };
  const queue = async (): Promise<string> =>
    (await post('/backtests', { strategyVersionId: version, config })).id as string;
  const backtest = await ended(`/backtests/${await queue()}`);
  const [x, y] = ['symbol', '/strategyAst/strategy/risk/stopLoss/value'];
  const space = { [x]: { values: ['SPX', 'NASDAQ'] }, [y]: { values: [5, 10] } };
  const sweepBody = { strategyVersionId: version, config, space, method: 'grid', objective: 'returnPct' };
  const sweepOnce = async (): Promise<string> => ended(`/sweeps/${String((await post('/sweeps', sweepBody)).id)}`);
  const check = (await post(`/backtests/${backtest}/robustness`, { analyses: ['feeStress'] })).id as string;
  const keys = `${base}/workspaces/${workspace}/api-keys`;
  return {
    workspace: [workspace],
    apiKey: await many(async () => (await send('POST', keys, { name: 'spare' })).id as string),
    strategy: [own],
    spareStrategy: await many(async () => {
      const id = await strategy();
      // The newest version of a strategy cannot be deleted.
      const { name: _name, description: _description, ...content } = read('strategy.json');
      await post(`/strategies/${id}/versions/finalize`, content);
      return id;
    }),
    strategyVersion: [version],
    versionNumber: ['1'],
    // Schemathesis deletes what it finds in lists, so there are several.
    backtest: await many(async () => ended(`/backtests/${await queue()}`)),
    checkedBacktest: [backtest],
    spareBacktest: await many(async () => ended(`/backtests/${await queue()}`)),
    check: [await ended(`/backtests/${backtest}/robustness/${check}`)],
    sweep: [await sweepOnce()],
    spareSweep: [await sweepOnce(), await sweepOnce(), await sweepOnce()],
    variant: ['0', '1'],
    artifact: ['trades', 'equity', 'orders', 'signals', 'report'],
    dimension: [x, y],
    template: ['golden_cross', 'macd_trend'],
    indicator: ['sma', 'macd', 'bbands'],
    kind: ['cross', 'pattern', 'sequence'],
    symbol: ['SPX', 'NASDAQ'],
    sections: ['limits', 'enums,operators', 'schemas'],
  };
}

/** Schemathesis's own configuration: the ids, and how much of a stream is read. */
function configOf(known: Known): string {
  const lines = ['max-stream-events = 5', ''];
  for (const [kind, ids] of Object.entries(known))
    lines.push(`[dictionaries.${kind}]`, `values = ${JSON.stringify(ids)}`);
  for (const [operations, parameters] of BINDINGS) {
    const bound = Object.entries(parameters).map(
      ([name, kind]) => `${JSON.stringify(name)} = { dictionary = "${kind}", probability = ${KNOWN_SHARE} }`,
    );
    lines.push('', '[[operations]]', `include-name-regex = ${JSON.stringify(operations)}`);
    lines.push(`parameters = { ${bound.join(', ')} }`);
  }
  return `${lines.join('\n')}\n`;
}

function run(url: string, apiKey: string, token: string, seed: number, known: Known): boolean {
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, configOf(known));
  const options: readonly (readonly string[])[] = [
    ['--config-file', config],
    ['run', `${url}/public/v1/openapi.json`],
    ['--phases', 'examples,coverage,fuzzing,stateful'],
    ['--checks', CHECKS.join(',')],
    ['--header', `x-api-key:${apiKey}`],
    ['--header', `Authorization:Bearer ${token}`],
    ['--max-examples', values.examples],
    ['--seed', String(seed)],
    ['--request-timeout', '120'],
    ['--continue-on-failure'],
    ['--suppress-health-check', 'all'],
  ];
  process.stdout.write(`seed ${seed}\n`);
  return spawnSync(schemathesis(), options.flat(), { stdio: 'inherit', cwd: folder }).status === 0;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Operations of which no answer was a success, as the service itself counts: their schemas were not compared. What has
 * ended, as all that is known here has, cannot be cancelled.
 */
async function neverAnswered(url: string): Promise<string[]> {
  const get = (path: string): Promise<Response> => fetch(url + path, { headers: { connection: 'close' } });
  const document = (await (await get('/public/v1/openapi.json')).json()) as OpenApi;
  const metrics = await (await get('/metrics')).text();
  const counted = /candlepool_http_request_seconds_count\{method="(\w+)",route="([^"]+)",status="2\d\d"\}/g;
  const answered = new Set([...metrics.matchAll(counted)].map(([, method, route]) => `${method} ${route}`));
  return Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !operation.endsWith('/cancel'))
    .filter((operation) => !answered.has(operation.replaceAll(/\{(\w+)\}/g, ':$1')));
}

function schemathesis(): string {
  if (process.env.SCHEMATHESIS !== undefined) return process.env.SCHEMATHESIS;
  const home = join(folder, 'python');
  const executable = join(home, 'bin', 'schemathesis');
  const installed = spawnSync(executable, ['--version']).status === 0;
  if (!installed) {
    execute('python3', ['-m', 'venv', home]);
    execute(join(home, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
  }
  return executable;
}

function execute(file: string, args: readonly string[]): void {
  if (spawnSync(file, args, { stdio: 'inherit' }).status !== 0) throw new Error(`${file} ${args.join(' ')} failed.`);
}
