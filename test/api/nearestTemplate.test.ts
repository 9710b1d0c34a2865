// The nearest template: texts in natural language beside the built-in strategy that they are about.
import { describe, expect, it } from 'vitest';
import { nearestTemplate, withTemplates } from '../../src/api/templates/nearestTemplate.ts';
import { checkStrategy } from '../../src/engine/index.ts';

describe('a text leads to the template that shares its rare words', () => {
  it.each([
    ['buy when the supertrend turns up and follow it', 'supertrend_follow'],
    ['turn of the month effect: long the last trading day', 'turn_of_the_month'],
    ['opening range breakout on five minute bars', 'opening_range_breakout'],
    ['ichimoku clod breakout above the cloud', 'ichimoku_cloud'],
  ])('%s', (text, key) => {
    expect(nearestTemplate(text)).toMatchObject({ key });
    expect(nearestTemplate(text)!.score).toBeGreaterThan(0.3);
  });

  it.each(['close', 'zebra quokka wombat', 'the of and'])('and to none where it shares none: %s', (text) => {
    expect(nearestTemplate(text)).toBeUndefined();
  });
});

it('a text in the place of a condition is answered with the template, and with no patch', () => {
  const entry = { kind: 'entry', trigger: 'buy when the supertrend turns up', action: { side: 'long', sizing: 50 } };
  const body = {
    settings: {},
    strategyAst: { protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', entry } },
  };
  const issues = withTemplates(checkStrategy(body).issues, body);
  const issue = issues.find(({ path }) => path.endsWith('/trigger'));
  expect(issue?.suggestion).toMatch(/^The nearest template is "supertrend_follow" \(score [\d.]+\): GET /);
  expect(issue?.patch).toBeUndefined();
});
