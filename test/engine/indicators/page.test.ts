// docs/indicators.md is generated: this is what keeps it true.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { indicatorsPage, PAGE } from '../../../scripts/indicators.ts';

it('docs/indicators.md is what scripts/indicators.ts writes from the registries', () => {
  expect(readFileSync(PAGE, 'utf8'), 'run: node scripts/node24.mjs scripts/indicators.ts').toBe(indicatorsPage());
});
