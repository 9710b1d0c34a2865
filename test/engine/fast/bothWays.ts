// Tests that run twice: with accelerators, and without them.
import { afterAll, beforeAll, describe } from 'vitest';
import { accelerate } from '../../../src/engine/fast/index.ts';
import { IS_PLAIN } from '../../support/plain.ts';

export function bothWays(name: string, tests: () => void): void {
  describe.each([
    ['with accelerators', true],
    ['without accelerators', false],
  ] as const)(`${name}, %s`, (_, isOn) => {
    beforeAll(() => accelerate(isOn));
    afterAll(() => accelerate(!IS_PLAIN));
    tests();
  });
}
