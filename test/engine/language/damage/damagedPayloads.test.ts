// Damaged payloads: one application of all patches makes them valid, and what they then mean is what was meant.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../../src/config.ts';
import { checkStrategy } from '../../../../src/engine/index.ts';
import { tradesOf, type Body } from '../../../support/patchedMeaning.ts';
import { isLong, scaled } from '../../../support/scale.ts';
import { DAMAGED } from './damagedPayloads.ts';
import { damaged, OPERATORS } from './damageOperators.ts';

type Json = Record<string, unknown>;
const asBody = (value: Json): Body => ({ settings: {}, ...value });

/** The body with every patch of every issue applied once, in order; a patch that cannot be applied fails. */
function patchedOnce(body: Json): Json {
  const steps = checkStrategy(body).issues.flatMap(({ patch = [] }) => patch);
  return jsonPatch.applyPatch(structuredClone(body), structuredClone(steps) as Operation[], true).newDocument;
}
const hashOf = (body: Json): string | undefined => checkStrategy(body).compiled?.strategyHash;

/** The share of payloads that must be repaired, of those that are and of those that are not in the corpus yet. */
const REPAIRED = 0.95;

describe('damage as other platforms cause it', () => {
  it('is in the corpus in more than eighty forms, each of which is an error or a contradiction', () => {
    expect(DAMAGED.length).toBeGreaterThan(80);
    const sound = DAMAGED.filter(({ body }) => {
      const { valid, requiresConfirmation } = checkStrategy(body);
      return valid && !requiresConfirmation && body.settings !== undefined;
    });
    expect(sound.map(({ what }) => what)).toEqual([]);
  });

  it.each(DAMAGED)('is repaired at once: $what', ({ body, meant }) => {
    expect(hashOf(meant)).toBeDefined();
    expect(hashOf(patchedOnce(body))).toBe(hashOf(meant));
  });

  it('is repaired the same where absent members are undefined, as a caller in this process has them', () => {
    const body = DAMAGED.find(({ what }) => what === 'the sections as the body')!.body;
    expect(checkStrategy({ ...body, strategyAst: undefined, signalGraph: undefined }).issues[0].patch).toBeDefined();
  });

  it('trades as what was meant once it is repaired', () => {
    const every = Math.max(1, Math.round(12 / scaled(1)));
    const traded = DAMAGED.filter((_, at) => at % every === 0).map(({ what, body, meant }) => {
      const trades = tradesOf(asBody(meant));
      expect([what, JSON.stringify(tradesOf(asBody(patchedOnce(body))))]).toEqual([what, JSON.stringify(trades)]);
      return (trades as readonly unknown[]).length;
    });
    expect(traded.filter((count) => count > 0).length).toBeGreaterThan(traded.length / 3);
  });
});

describe('damage by chance', () => {
  const folder = join(ROOT, 'data', 'templates');
  const templates = readdirSync(folder).map((file) => {
    const { settings, strategyAst, signalGraph } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json;
    return { settings, ...(strategyAst !== undefined ? { strategyAst } : { signalGraph }) };
  });
  const SOUND: readonly Json[] = [...templates, ...DAMAGED.map(({ meant }) => meant)];
  const names = Object.keys(OPERATORS);

  it('is repaired at once without a change of meaning, of templates and of the strategies of the corpus', () => {
    const count = scaled(300);
    const used = new Set<string>();
    const failed: unknown[] = [];
    const changed: unknown[] = [];
    let made = 0;
    for (let seed = 1; made < count; seed++) {
      const sound = SOUND[seed % SOUND.length];
      const { body, done } = damaged(sound, seed, names[seed % names.length]);
      if (done.length === 0) continue;
      made++;
      for (const name of done) used.add(name);
      const hash = hashOf(patchedOnce(body));
      if (hash === undefined) failed.push([seed, done]);
      else if (hash !== hashOf(sound)) changed.push([seed, done]);
    }
    expect(changed).toEqual([]);
    expect([failed.length / count <= 1 - REPAIRED, failed]).toEqual([true, failed]);
    // Some are of members that few strategies have.
    expect(used.size).toBeGreaterThan(isLong ? names.length / 2 : 10);
  });
});
