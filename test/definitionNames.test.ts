// The law of definitions: the name of a statistic, of a robustness analysis or of a sweep method is written in its
// definition. Everything else reads the registry, so that adding one needs no search for the places that list them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { FLAT_KEYS } from '../src/engine/definitions/statistics/statistics.ts';
import { ROBUSTNESS_ANALYSES } from '../src/engine/robustness/analyses/registeredAnalyses.ts';
import { SWEEP_METHODS } from '../src/engine/sweep/methods/sweepMethods.ts';

interface Law {
  readonly names: readonly string[];
  readonly home: string;
  /** The pages and files that must name every one of them. */
  readonly documents: readonly string[];
  /** Files outside that name some of them, and why. */
  readonly allowed: Readonly<Record<string, string>>;
}

const LAWS: Readonly<Record<string, Law>> = {
  statistic: {
    names: FLAT_KEYS,
    home: 'src/engine/definitions/statistics/',
    documents: ['docs/semantics.md'],
    allowed: {
      'src/api/backtests/agentView.ts': 'the few that an agent reads first',
      'src/api/backtests/compareExamples.ts': 'an example of a request',
      'src/api/backtests/listColumns.ts': 'the number that minTrades is about, and an example of a condition',
      'src/api/mcp/listing.ts': 'initialBalance is the member of a request',
      'src/api/sweeps/sweepBodies.ts': 'the columns of the table that an agent reads',
      'src/api/sweeps/sweepExamples.ts': 'an example of a request',
      'src/cli/backtest.ts': 'the lines that the command prints',
      'src/cli/sweep.ts': 'the columns that the command prints; initialBalance is the member of a config',
      'src/console/compareView.ts': 'the color of a sum of money',
      'src/console/formats.ts': 'a fall that has no color',
      'src/console/home.ts': 'the columns of the latest results',
      'src/console/instrumentTable.ts': 'the columns of the instruments of a portfolio',
      'src/console/resultGroups.ts': 'the number of a group of results that are sorted by no number',
      'src/console/resultView.ts': 'the headline numbers of a result',
      'src/console/resultsView.ts': 'the columns before any is chosen',
      'src/console/sweepHeatmap.ts': 'the metrics that color a heatmap',
      'src/console/sweepParallel.ts': 'the axes of the results',
      'src/console/sweepsView.ts': 'the columns of the variants',
      'src/db/backtestLists.ts': 'the columns of a row in the list of backtests',
      'src/db/robustness.ts': 'the numbers by which a check recognizes a row of a sweep as its backtest',
      'src/engine/indicators/association.ts': 'an indicator of the same name',
      'src/engine/language/form/units.ts': 'the member of a config',
      'src/engine/report/comparison/comparability.ts': 'the metrics of a comparison that names none',
      'src/engine/report/comparison/combination.ts': 'the statistics that follow from daily equity',
      'src/engine/report/flatSummary.ts': 'skips the work that no requested statistic needs',
      'src/engine/report/page/weightSections.ts': 'the id of a section',
      'src/engine/report/returns.ts': 'skips the work that no requested statistic needs',
      'src/engine/robustness/analyses/partOutcomes.ts': 'the headline numbers whose distribution is given',
      'src/engine/robustness/checkRuns.ts': 'the headline numbers of a run of a check',
      'src/engine/robustness/lineage.ts': 'the numbers by which a check recognizes a row of a sweep as its backtest',
      'src/engine/sweep/page/sweepPage.ts': 'the columns of the best rows',
      'src/engine/sweep/rankingRows.ts': 'the numbers that the ranking reads',
      'src/engine/sweep/sweepJob.ts': 'the numbers that the ranking and the verdict read',
      'src/engine/sweep/sweepRequest.ts': 'the objective of a request that states none',
      'src/engine/sweep/sweepResult.ts': 'the number by which a variant without trades is recognized',
      'src/engine/sweep/walkForward.ts': 'the numbers of a test window',
    },
  },
  'robustness analysis': {
    names: ROBUSTNESS_ANALYSES,
    home: 'src/engine/robustness/analyses/',
    documents: ['docs/robustness.md'],
    allowed: { 'src/api/backtests/robustnessSchemas.ts': 'an example of a request' },
  },
  'sweep method': {
    names: SWEEP_METHODS,
    home: 'src/engine/sweep/methods/',
    documents: ['docs/sweeps.md'],
    allowed: {
      'src/api/sweeps/sweepExamples.ts': 'an example of a request',
    },
  },
};

const FILES = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));
/** Comments out. */
const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8')
    .replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
    .replaceAll(/ \/\/ .*$/gm, '');

/** Whether a name is written as a literal of its own: 'cagr', not 'cagr / maxDrawdown'. */
const namesAny = (code: string, names: readonly string[]): boolean =>
  names.some((name) => [`'${name}'`, `"${name}"`, `\`${name}\``].some((literal) => code.includes(literal)));

describe.each(Object.entries(LAWS))('the name of a %s', (_, { names, home, documents, allowed }) => {
  it('is written in its definition, and elsewhere only where a file chooses some of them', () => {
    const outside = FILES.filter((file) => !file.startsWith(home) && namesAny(codeOf(file), names));
    expect(outside.filter((file) => !Object.hasOwn(allowed, file))).toEqual([]);
    expect(Object.keys(allowed).filter((file) => !outside.includes(file))).toEqual([]);
  });

  it.each(documents)('is explained in %s', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('a message about sweeps', () => {
  /** Files with a string that contains a name as a word, and the reason. */
  const ALLOWED: Readonly<Record<string, string>> = {
    'src/api/sweeps/sweepExamples.ts': 'an example of a request',
    'src/engine/sweep/tries.ts': 'imported by the methods, so that it cannot ask them; the test of messages reads it',
  };

  it('takes the names of methods from the registry', () => {
    const own = FILES.filter((file) => /sweep/i.test(file) && !file.startsWith('src/engine/sweep/methods/'));
    const word = new RegExp(`['"\`][^'"\`\\n]*\\b(?<!at )(${SWEEP_METHODS.join('|')})\\b[^'"\`\\n]*['"\`]`);
    const naming = own.filter((file) => word.test(codeOf(file)));
    expect(naming.toSorted()).toEqual(Object.keys(ALLOWED));
  });
});
