// docs/indicators.md is generated: this is what keeps it true.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { indicatorsPage, PAGE } from '../../../scripts/indicators.ts';

it('matches docs/indicators.md with what scripts/indicators.ts writes from the registries', () => {
  expect(readFileSync(PAGE, 'utf8'), 'run: node scripts/node24.mjs scripts/indicators.ts').toBe(indicatorsPage());
});
