// Generated backtests over every rule of docs/semantics.md, through the engine and through the reference interpreter in
// test/support/reference, which is written from that page alone. `npm run test:long` prints how often each feature
// occurred, and which features occurred together.
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../src/engine/language/check/checkStrategy.ts';
import { compareWithReference } from '../support/reference/difference.ts';
import type { ReferenceRun } from '../support/reference/reference.ts';
import { isLong, scaled } from '../support/scale.ts';
import { FeatureCount } from '../support/scenarios/features.ts';
import { EXPECTED_FEATURES, outcomesOf } from '../support/scenarios/outcomes.ts';
import { scenarioOf } from '../support/scenarios/scenario.ts';

const FULL_SIZE = 5_000;
/** Fewer scenarios with a feature than this, at full size, would leave it untested. */
const LEAST = 50;

/** Closing fills inside a bar next to one of another position inside the same bar. */
const meetingsIn = ({ trades }: ReferenceRun): number =>
  trades.filter(
    ({ exitRow, positionId, exitReason }, index) =>
      index > 0 &&
      exitReason !== 'end_of_data' &&
      trades[index - 1].exitRow === exitRow &&
      trades[index - 1].positionId !== positionId,
  ).length;

describe('the engine and the reference', { timeout: 1_800_000 }, () => {
  it('agree on every trade, order, count and mark of every scenario, and each feature occurs', () => {
    const count = new FeatureCount();
    const scenarios = scaled(FULL_SIZE);
    const differences: string[] = [];
    for (let seed = 1; seed <= scenarios; seed++) {
      const { market, ast, settings, config, features } = scenarioOf(seed);
      expect(
        checkStrategy({ settings, strategyAst: ast }).issues.filter(({ severity }) => severity === 'error'),
      ).toEqual([]);
      const { difference, reference } = compareWithReference(ast, market, config, settings);
      if (difference !== null) differences.push(`seed ${seed}: ${difference}`);
      count.add(new Set([...features, ...outcomesOf(reference)]));
    }
    if (isLong) console.log(`${count.table(EXPECTED_FEATURES)}\n\n${count.pairTable(EXPECTED_FEATURES)}`);
    expect(differences).toEqual([]);
    // A tenth of the scenarios has a tenth of the occurrences, give or take: half of that must be there.
    expect(count.rare(EXPECTED_FEATURES, isLong ? LEAST : LEAST / 20)).toEqual([]);
  });

  it('agree with several positions at a time, whose fills meet in one bar', () => {
    const differences: string[] = [];
    let meetings = 0;
    for (let seed = 1; seed <= scaled(FULL_SIZE / 2); seed++) {
      const { market, ast, settings, config } = scenarioOf(seed + 100_000, { isCoarse: seed % 2 === 0 });
      const several = { ...settings, maxConcurrentPositions: 2 + (seed % 4) };
      const { difference, reference } = compareWithReference(ast, market, config, several);
      if (difference !== null) differences.push(`seed ${seed}: ${difference}`);
      meetings += reference === null ? 0 : meetingsIn(reference);
    }
    expect(differences).toEqual([]);
    expect(meetings).toBeGreaterThan(scaled(FULL_SIZE / 2));
  });

  it('agree where prices and levels are whole halves, so that they are often equal', () => {
    const differences: string[] = [];
    for (let seed = 1; seed <= scaled(FULL_SIZE / 2); seed++) {
      const { market, ast, settings, config } = scenarioOf(seed, { isCoarse: true });
      const { difference } = compareWithReference(ast, market, config, settings);
      if (difference !== null) differences.push(`seed ${seed}: ${difference}`);
    }
    expect(differences).toEqual([]);
  });
});
