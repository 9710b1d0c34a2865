// Schemathesis against a running service: npm run test:schemathesis [-- --examples N] [-- --seed N]
//
// Starts a service on an empty data folder, makes keys and something of every kind, and lets Schemathesis
// (https://schemathesis.readthedocs.io) send every operation of the OpenAPI document what it generates: all phases, once
// with a fixed seed and once with a random one. No answer may be 500 or above, and every answer must have a documented
// status, media type and shape. Needs python3; Schemathesis is installed into a temporary environment unless
// SCHEMATHESIS names its executable.
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

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '20' }, seed: { type: 'string' } },
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
  await populate(`${url}/public/v1`, apiKey);
  const seeds = values.seed === undefined ? [FIXED_SEED, Math.floor(Math.random() * 2 ** 31)] : [Number(values.seed)];
  for (const seed of seeds) if (!run(url, apiKey, token, seed)) failed = true;
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

/** A ready strategy and a backtest of it, so that lists are not empty and ids exist. */
async function populate(base: string, apiKey: string): Promise<void> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const read = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(ROOT, 'docs', 'examples', name), 'utf8')) as Record<string, unknown>;
  const { name: _name, description: _description, ...content } = read('strategy.json');
  const strategy = await post('/strategies', read('strategy.json'));
  const version = await post(`/strategies/${String(strategy.id)}/versions/finalize`, { ...content, version: 1 });
  await post('/backtests', { strategyVersionId: version.id, config: read('config.json') });
}

function run(url: string, apiKey: string, token: string, seed: number): boolean {
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, '');
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
    // A long poll answers when it is over, and a stream when its run has ended.
    ['--exclude-path-regex', '/events$'],
    ['--suppress-health-check', 'all'],
  ];
  process.stdout.write(`seed ${seed}\n`);
  return spawnSync(schemathesis(), options.flat(), { stdio: 'inherit', cwd: folder }).status === 0;
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
