// docs/market-data.md names every code of a refused import and states the numbers of the outlier rule.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { JUMP, SPIKES, WINDOW } from '../../src/engine/bars/outliers.ts';
import { DIAGNOSIS_CODES } from '../../src/engine/report/diagnosisFindings.ts';
import { REFUSAL_CODES } from '../../src/market/import/importError.ts';

const page = readFileSync(join(ROOT, 'docs', 'market-data.md'), 'utf8').replaceAll(/\s+/g, ' ');

describe('docs/market-data.md', () => {
  it('explains every code of a refusal, and no code that does not exist', () => {
    const named = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code);
    const others = named.filter((code) => (DIAGNOSIS_CODES as readonly string[]).includes(code));
    expect(new Set(named)).toEqual(new Set([...REFUSAL_CODES, ...others]));
  });

  it('states the limits that mark an outlier', () => {
    const [wide, narrow] = SPIKES;
    expect(page).toContain(
      `by more than ${wide.fraction * 100} % and ${wide.ranges} times the usual range of a bar, or by more than ` +
        `${narrow.fraction * 100} % and ${narrow.ranges} times. The usual range is the median of ln(high / low) over ` +
        `the ${WINDOW} bars on either side.`,
    );
    expect(page).toContain(`an open more than ${JUMP.fraction * 100} % and ${JUMP.ranges} usual ranges away`);
  });
});
