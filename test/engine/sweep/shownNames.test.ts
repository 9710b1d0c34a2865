// The names of parameters in headings.
import { expect, it } from 'vitest';
import { shownNames } from '../../../src/engine/index.ts';

it('cuts a pointer to the end that no other name has, and leaves params alone', () => {
  const left = '/strategyAst/strategy/entry/trigger/left/args/length';
  const right = '/strategyAst/strategy/entry/trigger/right/args/length';
  const stop = '/strategyAst/strategy/risk/stopLoss/value';
  expect(shownNames([left, right, stop, 'fast', 'symbol'])).toEqual({
    [left]: '…/left/args/length',
    [right]: '…/right/args/length',
    [stop]: '…/stopLoss/value',
    fast: 'fast',
    symbol: 'symbol',
  });
});

it('shows a pointer whole where each of its ends could be another', () => {
  const names = ['/signalGraph/nodes/1/args/length', '/signalGraph/nodes/0/signalGraph/nodes/1/args/length'];
  expect(shownNames(names)[names[0]]).toBe(names[0]);
});
