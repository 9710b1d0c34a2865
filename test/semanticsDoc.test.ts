// docs/semantics.md is complete where completeness can be counted: every key, field, reason and mode of the engine is
// in its chapter.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { STATE_FIELDS } from '../src/engine/definitions/words.ts';
import { REJECTION_REASONS } from '../src/engine/simulate/simulation.ts';
import { EXIT_REASONS } from '../src/engine/definitions/exitReasons/exitReasons.ts';
import { EXIT_METHODS } from '../src/engine/simulate/instant.ts';
import { AMBIGUITY_FALLBACKS } from '../src/engine/config.ts';
import { SLIPPAGE_KINDS } from '../src/engine/definitions/slippage/slippageKinds.ts';
import { STOP_LEVELS } from '../src/engine/definitions/levels/levelModes.ts';
import { EXIT_SIZES } from '../src/engine/definitions/sizing/exitSizes.ts';
import { SIZING_MODES } from '../src/engine/definitions/sizing/sizingModes.ts';
import { runCross } from './support/crossRun.ts';

const page = readFileSync(join(ROOT, 'docs', 'semantics.md'), 'utf8');
/** The text under a heading, down to the next of its level: "5" is a chapter, "2.10" a section. */
function section(number: string): string {
  const marks = number.includes('.') ? '### ' : '## ';
  const from = page.indexOf(`\n${marks}${number}${number.includes('.') ? ' ' : '. '}`);
  expect(from).toBeGreaterThan(0);
  const to = page.indexOf(`\n${marks}`, from + 1);
  return page.slice(from, to < 0 ? undefined : to);
}
const missingIn = (number: string, words: readonly string[]): string[] => {
  const text = section(number);
  return words.filter((word) => !text.includes(`\`${word}\``));
};

let summaryKeys: string[];
beforeAll(async () => {
  const run = await runCross();
  summaryKeys = Object.keys(run.outcome.summary);
});

describe('docs/semantics.md', () => {
  it('gives the formula of every key of the summary in chapter 5', () => {
    expect(summaryKeys.length).toBeGreaterThan(60);
    expect(missingIn('5', summaryKeys)).toEqual([]);
  });

  it.each([
    ['state field', '1.11', STATE_FIELDS],
    ['exit reason', '2.10', EXIT_REASONS],
    ['exit method', '3.6', EXIT_METHODS],
    ['policy', '3.3', AMBIGUITY_FALLBACKS],
    ['reason of a rejection', '4.1', REJECTION_REASONS],
    ['kind of slippage', '4.4', SLIPPAGE_KINDS.map(({ kind }) => kind)],
    ['mode of stops', '2.4', STOP_LEVELS.map(({ mode }) => mode)],
    ['size of exits', '2.8', EXIT_SIZES.map(({ mode }) => mode)],
    ['sizing mode', '4.2', SIZING_MODES.map(({ mode }) => mode)],
  ] as const)('lists every %s in section %s', (_, number, words) => {
    expect(missingIn(number, words)).toEqual([]);
  });

  it('numbers its headings without a gap', () => {
    const numbers = [...page.matchAll(/^#{2,3} (\d+)(?:\.(\d+))?/gm)].map(([, chapter, at]) => [chapter, at]);
    const chapters = numbers.filter(([, at]) => at === undefined).map(([chapter]) => Number(chapter));
    expect(chapters).toEqual(chapters.map((_, index) => index + 1));
    for (const chapter of chapters) {
      const sections = numbers
        .filter(([of, at]) => Number(of) === chapter && at !== undefined)
        .map(([, at]) => Number(at));
      expect(sections).toEqual(sections.map((_, index) => index + 1));
    }
  });
});
