// The tables of the public contract: a line "// Contract: …" near the top of a test file names those it covers.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const TABLES = [
  'workspace',
  'API key',
  'strategy',
  'strategy version',
  'template',
  'backtest',
  'validation issue',
  'settings',
  'StrategyAst',
  'SignalGraph',
  'API key states',
  'strategy version states',
  'backtest states',
  'API key transport',
  'management tokens',
  'roles and scopes',
  'errors',
  'limits',
];

const COVERED = globSync('test/**/*.test.ts')
  .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^\/\/ Contract: (.+)\.$/gm)])
  .flatMap(([, tables]) => tables.split(', '));

it.each(TABLES)('covers the table "%s" of the contract in a test file', (table) => {
  expect(COVERED).toContain(table);
});

it('lists only tables that the contract has', () => {
  expect(COVERED.filter((table) => !TABLES.includes(table))).toEqual([]);
});
