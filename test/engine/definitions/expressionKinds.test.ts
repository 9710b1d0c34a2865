// An expression kind is one file and a line in the registry: what no other file may know, and what no kind may omit.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/config.ts';
import {
  CONDITION_DEFINITIONS,
  VALUE_DEFINITIONS,
} from '../../../src/engine/definitions/expressions/expressionRegistry.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS } from '../../support/expressions.ts';

const DEFINITIONS = 'src/engine/definitions/expressions';
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

/** `bars_since` of `barsSinceValue.ts`. */
const kindOfFile = (file: string): string =>
  basename(file, '.ts')
    .replace(/(?:Value|Condition)$/, '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const namesOf = ({ schema }: { readonly schema: { readonly shape: object } }): readonly string[] => {
  const { kind } = schema.shape as { kind: { options?: readonly string[]; values?: ReadonlySet<string> } };
  return kind.options ?? [...kind.values!];
};
const VALUES = VALUE_DEFINITIONS.map((definition) => namesOf(definition)[0]);
const CONDITIONS = CONDITION_DEFINITIONS.map((definition) => namesOf(definition)[0]);
const ALL_NAMES = [...VALUE_DEFINITIONS, ...CONDITION_DEFINITIONS].flatMap(namesOf);

describe('the registry', () => {
  it.each(['Value', 'Condition'])('has a line for every file that ends in %s.ts', (ending) => {
    const files = filesOf(`${DEFINITIONS}/*${ending}.ts`);
    const registered = new Set(ending === 'Value' ? VALUES : CONDITIONS);
    expect(files.filter((file) => !registered.has(kindOfFile(file)))).toEqual([]);
    expect(files).toHaveLength(registered.size);
  });

  it('finds an operation of a kind by the name of the kind', () => {
    for (const definition of [...VALUE_DEFINITIONS, ...CONDITION_DEFINITIONS]) {
      const operation = 'operation' in definition ? definition.operation : null;
      if (operation !== null) expect(namesOf(definition)).toEqual([operation.op]);
    }
  });

  it('has the kinds that generated strategies are made of, so that every law covers every kind', () => {
    expect([...ALL_VALUE_KINDS].toSorted()).toEqual(VALUES.toSorted());
    expect([...ALL_CONDITION_KINDS].toSorted()).toEqual(CONDITIONS.toSorted());
  });
});

/**
 * Files that name kinds, and why. A rule about one kind belongs into its definition: a new line here needs a reason of
 * the same sort.
 */
const NAMING: Readonly<Record<string, readonly [why: string, kinds: readonly string[]]>> = {
  'src/api/marketData/columnsExamples.ts': ['examples for authors', ['compare', 'const', 'indicator', 'market']],
  'src/api/discovery/packTexts.ts': ['where the list of its fields is', ['state']],
  'src/api/strategies/strategyExamples.ts': [
    'an example for authors',
    ['any', 'compare', 'const', 'cross', 'indicator', 'schedule', 'state'],
  ],
  'src/cli/demoStrategies.ts': ['the strategies of the demo', ['compare', 'cross', 'indicator', 'market', 'schedule']],
  'src/console/strategiesView.ts': ['the strategy that a new editor opens with', ['cross', 'indicator']],
  'src/engine/computeColumns.ts': ['the entry that is true on every bar', ['compare', 'const', 'market']],
  'src/engine/pool/warmUp.ts': [
    'the strategy that warms up a thread',
    ['and', 'compare', 'const', 'cross', 'indicator', 'market', 'not', 'pattern'],
  ],
  'src/engine/plan/compile.ts': ['the node of the ATR that sizes and levels read', ['indicator']],
  'src/engine/language/tokens/tokenParser.ts': [
    'the nodes that tokens of an editor stand for',
    ['any', 'const', 'indicator', 'market', 'math', 'not', 'pattern'],
  ],
  'src/engine/language/graph/lowerGraph.ts': ['the nodes that inputs written in place stand for', ['const', 'param']],
  'src/engine/language/prepare/overriddenParams.ts': ['the params that a payload refers to, valid or not', ['param']],
  'src/engine/language/check/calls.ts': ['the member that names the callee of a call', ['indicator']],
  'src/engine/language/check/cost.ts': ['the indicators in use, which the cost lists', ['indicator']],
  'src/engine/plan/builder.ts': ['texts of shared operations', ['const', 'indicator', 'pattern']],
  'src/engine/plan/estimate.ts': [
    'costs of shared operations',
    ['const', 'indicator', 'pattern', 'rolling', 'series', 'time_window'],
  ],
  'src/engine/evaluate/valueSteps.ts': [
    'columns of shared operations',
    ['const', 'indicator', 'math', 'pattern', 'rolling', 'series', 'shift'],
  ],
  'src/engine/evaluate/conditionSteps.ts': [
    'columns of shared operations',
    ['all', 'any', 'compare', 'cross', 'not', 'time_window'],
  ],
};
/** Folders of hints and texts: what authors write in the place of a kind. */
const HINTS = ['src/engine/language/form/', 'src/engine/language/hints/', 'src/engine/language/text/'];
/** Switches over other words that are also kinds, by file. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  'src/engine/evaluate/valueSteps.ts': ['time'],
  'src/engine/kernels/rollingCounts.ts': ['all', 'any'],
  'src/engine/patterns/patternProgram.ts': ['all', 'any', 'not'],
  'src/engine/sweep/space.ts': ['param'],
};

describe('the name of a kind', () => {
  const NAMES = ALL_NAMES.join('|');
  const PLACES = [
    String.raw`\bkind\b['"]?(?: [!=]== |: )['"](${NAMES})['"]`,
    String.raw`\bcase '(${NAMES})':`,
    String.raw`Nodes?(?:<|\[)'(${NAMES})'`,
    // Words that mean nothing else, in any place.
    String.raw`'(percent_change|bars_since|value_when|rolling_window|state_machine|time_window)'`,
  ].map((source) => new RegExp(source, 'g'));
  const kindsNamedIn = (text: string): string[] => {
    const code = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '').replaceAll(/ \/\/ .*$/gm, '');
    return [...new Set(PLACES.flatMap((place) => [...code.matchAll(place)].map(([, kind]) => kind)))].toSorted();
  };
  const others = filesOf('src/**/*.ts').filter(
    (file) => ![...HINTS, `${DEFINITIONS}/`].some((folder) => file.startsWith(folder)),
  );

  it('stands in its definition and nowhere else, apart from the files of the table above', () => {
    expect(others.length).toBeGreaterThan(400);
    const naming = others.flatMap((file) => {
      const allowed = [...(NAMING[file]?.[1] ?? []), ...(OTHER_WORDS[file] ?? [])];
      const named = kindsNamedIn(read(file)).filter((kind) => !allowed.includes(kind));
      return named.length === 0 ? [] : [`${file}: ${named.join(', ')}`];
    });
    expect(naming).toEqual([]);
  });

  it('is still in the files of the table', () => {
    const gone = Object.entries(NAMING).flatMap(([file, [, kinds]]) => {
      const named = kindsNamedIn(read(file));
      const absent = kinds.filter((kind) => !named.includes(kind));
      return absent.length === 0 ? [] : [`${file}: ${absent.join(', ')}`];
    });
    expect(gone).toEqual([]);
  });

  it('would be found in a comparison, a switch, a type and a list', () => {
    expect(kindsNamedIn("if (node.kind === 'cross') return;")).toEqual(['cross']);
    expect(kindsNamedIn("switch (kind) {\n  case 'near':\n}")).toEqual(['near']);
    expect(kindsNamedIn("const of = (node: RunnableNodes['pivot']) => node;")).toEqual(['pivot']);
    expect(kindsNamedIn("const SLOW = ['percent_change'];")).toEqual(['percent_change']);
  });
});
