// Writes docs/indicators.md from the registries: `node scripts/node24.mjs scripts/indicators.ts`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArgDefinition, Args, IndicatorDefinition } from '../src/engine/indicators/definition.ts';
import { MA_TYPES } from '../src/engine/indicators/averages.ts';
import { INDICATORS } from '../src/engine/indicators/registry.ts';
import { PATTERNS } from '../src/engine/patterns/patternRegistry.ts';
import { patternDifference } from '../test/support/patternGolden.ts';
import { differenceOf, golden, goldenColumns } from '../test/support/talibGolden.ts';

export const PAGE = join(import.meta.dirname, '..', 'docs', 'indicators.md');

/** The whole page; a test checks that docs/indicators.md equals it. */
export function indicatorsPage(): string {
  const differences = largestDifferences();
  return `# Indicators and patterns

Generated from the registry (\`scripts/indicators.ts\`). Ids are what strategies name; aliases are accepted and written
back as the id.

- **args**: name, default, and range. Lengths are whole numbers of bars.
- **outputs**: the first is the default where there is only one; several need \`output\`.
- **lookback**: rows before the first value, at the default arguments. After *stable* rows, the first values of a
  recursive indicator change its value by less than 1e-9.
- **inputs**: \`source\` is any value expression (default close, or the field \`args.source\` names); \`source2\` and
  \`periods\` come from \`sources\`.
- **TA-Lib**: the function it equals (TA-Lib C ${golden.c.split(' ')[0]}, unstable period 0) and the largest
  |a-b|/max(1,|a|,|b|) on the golden series (${goldenSeries()}). When an indicator is called by
  TA-Lib's name, TA-Lib's names of arguments and outputs and its defaults hold.
- An average of choice (\`ma_type\`) is one of ${averages()}.
- A value that is not defined is missing, never infinite. Nothing reads a bar after its own.

${categories()
  .map((category) => section(category, differences))
  .join('\n\n')}

## Candlestick patterns

Values are TA-Lib's: 100 and -100 for the side, 0 for absent (±200 a confirmed hikkake, ±80 where one end of the bodies
only ties). **TA-Lib**: the function, and on how many of the golden series' bars the values differ (\`exact\`: on none;
\`test/golden/patterns.py\`).

| id | TA-Lib | sides | args | lookback | what it is |
|---|---|---|---|---|---|
${PATTERNS.map(
  (one) =>
    `| \`${one.id}\` | ${one.talib} ${differingBars(patternDifference(one))} | ${one.sides.join(', ')} | ` +
    `${one.args.map(argText).join('<br>') || '–'} | ${one.lookback(defaults(one.args))} | ${cell(one.description)} |`,
).join('\n')}
`;
}

function goldenSeries(): string {
  const calls = golden.series.reduce((sum, { cases }) => sum + cases.length, 0);
  return `${golden.series.map(({ name }) => name).join(', ')}; ${calls} calls`;
}

/** In two lines, since one would be too long. */
function averages(): string {
  const types = MA_TYPES.filter((type) => type !== 'default').map((type) => `\`${type}\``);
  return `${types.slice(0, 6).join(' ')}\n  ${types.slice(6).join(' ')}`;
}

const categories = (): IndicatorDefinition['category'][] => [
  ...new Set(INDICATORS.map((indicator) => indicator.category)),
];

function section(category: IndicatorDefinition['category'], differences: ReadonlyMap<string, number>): string {
  const rows = INDICATORS.filter((indicator) => indicator.category === category).map((indicator) =>
    row(indicator, differences),
  );
  return `## ${category[0].toUpperCase()}${category.slice(1)}

| id | name and formula | inputs | args | outputs | lookback | TA-Lib |
|---|---|---|---|---|---|---|
${rows.join('\n')}`;
}

function row(indicator: IndicatorDefinition, differences: ReadonlyMap<string, number>): string {
  const { id, aliases, name, formula, inputs, args, outputs, talib } = indicator;
  const plain = defaults(args);
  const lookback = indicator.lookback(plain);
  const stable = indicator.stableLookback?.(plain) ?? lookback;
  const talibCell = talib === undefined ? '–' : `${talib.name} ${differenceText(differences.get(talib.name)!)}`;
  return `| ${[
    `\`${id}\`${aliases.length === 0 ? '' : `<br>${aliases.join(', ')}`}`,
    `**${cell(name)}**<br>${cell(formula)}`,
    inputs.join(' '),
    args.map(argText).join('<br>') || '–',
    outputs.map((output) => output.name).join(' '),
    stable === lookback ? lookback : `${lookback}, stable ${stable}`,
    talibCell,
  ].join(' | ')} |`;
}

const defaults = (args: readonly ArgDefinition[]): Args =>
  Object.fromEntries(args.map((arg) => [arg.name, arg.default]));

function argText(arg: ArgDefinition): string {
  const range = arg.type === 'int' || arg.type === 'float' ? ` (${bound(arg.min, '−∞')} … ${bound(arg.max, '∞')})` : '';
  const values = arg.type === 'choice' && arg.values!.length < 8 ? ` (${arg.values!.join(', ')})` : '';
  return cell(
    `${arg.name} = ${arg.default}${range}${values}${arg.description === undefined ? '' : `: ${arg.description}`}`,
  );
}

const bound = (value: number | undefined, infinite: string): string =>
  value === undefined || Math.abs(value) >= 1e30 ? infinite : String(value);
/** Escapes vertical bars, which would end the table cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The largest difference per TA-Lib function, over every golden call. */
function largestDifferences(): ReadonlyMap<string, number> {
  const largest = new Map<string, number>();
  for (const { name, cases } of golden.series) {
    const columns = goldenColumns(name);
    for (const one of cases) largest.set(one.fn, Math.max(largest.get(one.fn) ?? 0, differenceOf(one, columns)));
  }
  return largest;
}

/** Rounded up to a power of ten, because the last digits depend on the compiler, not on the formula. */
const differenceText = (value: number): string => (value === 0 ? 'exact' : `1e${Math.ceil(Math.log10(value))}`);

const differingBars = (count: number): string => (count === 0 ? 'exact' : `${count} bars`);

if (import.meta.main) writeFileSync(PAGE, indicatorsPage());
