// docs/config.md names every member of a config, states every default, and its examples run.
import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../src/config.ts';
import { BacktestConfig, resolveConfig } from '../src/engine/index.ts';
import { callCommand } from './support/command.ts';

const page = readFileSync(join(ROOT, 'docs/config.md'), 'utf8');
const examples = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(
  ([, text]) => JSON.parse(text) as Record<string, object>,
);

/** Every name of a member and every word that a member may hold, wherever it is in the schema. */
function wordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, enum: words, const: word, ...rest } = schema as Record<string, unknown>;
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => [name, ...wordsOf(inner)]),
    ...[...((words as unknown[]) ?? []), word].filter((one) => typeof one === 'string'),
    ...Object.values(rest).flatMap(wordsOf),
  ];
}

it('names every member and every word of a config', () => {
  const { required: _, ...schema } = z.toJSONSchema(BacktestConfig, { io: 'input', unrepresentable: 'any' });
  const words = new Set(wordsOf(schema));
  expect(words.size).toBeGreaterThan(40);
  expect([...words].filter((word) => !page.includes(`\`${word}\``) && !page.includes(`"${word}"`))).toEqual([]);
});

/** What a plain single run resolves to a config without. */
const WITHOUT_DEFAULT = [
  'instruments', 'portfolio', 'benchmark', 'borrowRatePerYear', 'dividends', 'dividendColumn',
  'riskFreeRatePerYear',
]; // prettier-ignore

it('states the default of every member', () => {
  const [least, written] = examples;
  expect(resolveConfig(BacktestConfig.parse(least))).toEqual(written);
  const named = [...Object.keys(written), ...WITHOUT_DEFAULT].toSorted();
  expect(named).toEqual(Object.keys(BacktestConfig.shape).toSorted());
});

it('has examples that run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(examples).toHaveLength(6);
  for (const example of examples) {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(example));
    const { code, stderr } = await callCommand([
      'backtest',
      '--strategy',
      join(ROOT, 'docs/examples/strategy.json'),
      '--config',
      join(folder, 'config.json'),
      '--data',
      join(ROOT, 'data'),
    ]);
    expect([code, stderr]).toEqual([0, '']);
  }
});
