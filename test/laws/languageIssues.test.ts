import fc from 'fast-check';
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../src/engine/language/check/checkStrategy.ts';
import { SignalGraph } from '../../src/engine/language/grammar/graph.ts';
import { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { IssueLog } from '../../src/engine/language/issues/issues.ts';
import { AST_SHAPE, GRAPH_SHAPE } from '../../src/engine/language/grammar/shapes.ts';
import { Structure } from '../../src/engine/language/form/structure.ts';
import { graphOf } from '../support/graphs.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary } from '../support/strategies.ts';

const SEED = 20_261_122;
const runs = (count: number) => ({ numRuns: scaled(count), seed: SEED });
const limits = { entryConditions: 1e6, exitConditions: 1e6, exits: 1e6, nodes: 1e6, depth: 1e6 };
type Json = Record<string, unknown>;

/** Every object and array of a payload, in reading order. */
function containersOf(value: unknown, found: Json[] = []): Json[] {
  if (typeof value !== 'object' || value === null) return found;
  found.push(value as Json);
  for (const member of Object.values(value)) containersOf(member, found);
  return found;
}

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    'text',
    '',
    [],
    {},
    -1,
    0,
    1.5,
    1e308,
    'sma',
    'gt',
    { ref: 'x' },
    { param: 'x' },
    { kind: 'const', value: 1 },
    [[]],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
interface Mutation {
  readonly container: number;
  readonly member: number;
  readonly how: 'replace' | 'remove' | 'add' | 'rename';
  readonly value: unknown;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  container: fc.nat(200),
  member: fc.nat(20),
  how: fc.constantFrom('replace', 'remove', 'add', 'rename'),
  value: junk,
});

const EXTRA = ['extra', 'kindd', '__proto__', 'constructor', 'toString'];

function mutate(payload: unknown, { container, member, how, value: given }: Mutation): void {
  // A copy: what is put into one payload must not change with another.
  const value = structuredClone(given);
  const containers = containersOf(payload);
  const object = containers[container % containers.length];
  const names = Object.keys(object);
  if (how === 'add' || names.length === 0) {
    if (Array.isArray(object)) object.push(value);
    // Defined as JSON.parse defines it: `__proto__` is a member like any other.
    else
      Object.defineProperty(object, EXTRA[member % EXTRA.length], {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return;
  }
  const name = names[member % names.length];
  if (how === 'replace') object[name] = value;
  else if (Array.isArray(object)) object.splice(Number(name), 1);
  else {
    if (how === 'rename') object[`${name}x`] = object[name];
    delete object[name];
  }
}

describe('validation of wrong payloads', () => {
  it('agrees with zod on what has the right form', () => {
    fc.assert(
      fc.property(
        strategyArbitrary({ timeframes: ['4h'] }),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (ast, mutations) => {
          const cases = [
            { payload: structuredClone(ast) as unknown, shape: AST_SHAPE, schema: StrategyAst },
            { payload: structuredClone(graphOf(ast)) as unknown, shape: GRAPH_SHAPE, schema: SignalGraph },
          ];
          for (const { payload, shape, schema } of cases) {
            for (const one of mutations) mutate(payload, one);
            const text = JSON.stringify(payload);
            // zod's records pass `__proto__` over; here it is a member like any other (and HTTP refuses it before).
            if (text.includes('__proto__')) continue;
            const read = JSON.parse(text) as unknown;
            const log = new IssueLog();
            new Structure(log).check(shape, read, '');
            expect(log.errorCount === 0, JSON.stringify({ read, issues: log.list() })).toBe(
              schema.safeParse(read).success,
            );
          }
        },
      ),
      runs(5_000),
    );
  });

  it('answers any wrong payload with issues that point into it, and never throws', () => {
    fc.assert(
      fc.property(
        strategyArbitrary(),
        fc.array(mutation, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (ast, mutations, isGraph) => {
          const payload: unknown = JSON.parse(JSON.stringify(isGraph ? graphOf(ast) : ast));
          for (const one of mutations) mutate(payload, one);
          const body = { settings: {}, [isGraph ? 'signalGraph' : 'strategyAst']: payload };
          const { issues, valid, compiled } = checkStrategy(body, { limits });
          expect(valid).toBe(!issues.some(({ severity }) => severity === 'error'));
          expect(compiled !== null).toBe(valid);
          for (const issue of issues) expect(existsUpTo(body, issue.path), issue.path).toBe(true);
        },
      ),
      runs(5_000),
    );
  });

  it('answers any value in the place of a payload', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (settings, strategyAst, signalGraph) => {
        expect(checkStrategy({ settings, strategyAst, signalGraph }).valid).toBe(false);
      }),
      runs(3_000),
    );
  });

  it('repairs a payload that has only certain errors when all patches are applied', () => {
    let repairs = 0;
    fc.assert(
      fc.property(
        strategyArbitrary({ timeframes: ['4h'] }),
        fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (ast, picks, isGraph) => {
          const payload = JSON.parse(JSON.stringify(isGraph ? graphOf(ast) : ast)) as Json;
          const places = certainFaults(payload);
          for (const pick of picks) places[pick % places.length]();
          const body = { settings: {}, [isGraph ? 'signalGraph' : 'strategyAst']: payload };
          const before = checkStrategy(body, { limits });
          // Two changes may cancel each other out, and a few are synonyms.
          if (before.valid) return;
          repairs++;
          const patches = before.issues.flatMap(({ patch }) => patch ?? []) as Operation[];
          const repaired = jsonPatch.applyPatch(structuredClone(body), patches, true).newDocument;
          const after = checkStrategy(repaired, { limits });
          expect(
            after.issues.filter(({ severity }) => severity === 'error'),
            JSON.stringify(before.issues),
          ).toEqual([]);
        },
      ),
      runs(3_000),
    );
    expect(repairs).toBeGreaterThan(scaled(3_000) * 0.8);
  });
});

/** A pointer leads to a place, or names a member that its place lacks. */
function existsUpTo(body: unknown, pointer: string): boolean {
  const segments = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  let place: unknown = body;
  for (const segment of segments.slice(0, -1)) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, segment)) return false;
    place = (place as Json)[segment];
  }
  return typeof place === 'object' && place !== null;
}

/**
 * Changes with one certain repair each. Each is made at most once, since two slips in one word may leave it beyond
 * repair.
 */
function certainFaults(payload: Json): (() => void)[] {
  const mistakes: (() => void)[] = [];
  const once = (change: () => void): void => {
    let isDone = false;
    mistakes.push(() => {
      if (!isDone) change();
      isDone = true;
    });
  };
  once(() => delete payload.protocol);
  once(() => (payload.version = String(payload.version)));
  for (const object of containersOf(payload)) {
    if (Array.isArray(object)) continue;
    const { kind, op } = object;
    if (kind === 'compare' && typeof op === 'string')
      once(() => (object.op = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '==', neq: '!=' }[op]));
    if (kind === 'cross' && typeof op === 'string') once(() => (object.op = op.replace('_', '')));
    if (kind === 'state' && typeof object.field === 'string' && object.field.length > 12)
      once(() => (object.field = (object.field as string).slice(0, 5) + (object.field as string).slice(6)));
    if (typeof object.period === 'number' && kind === 'rolling') once(() => (object.period = String(object.period)));
    if (typeof object.offset === 'number') once(() => (object.offset = String(object.offset)));
    if (typeof object.closePercent === 'number') once(() => (object.closePercent = String(object.closePercent)));
    if (kind === 'pivot') once(() => rename(object, 'pivotKind', 'pivot_kind'));
    if (kind === 'state_machine') once(() => rename(object, 'conflictPolicy', 'conflictPolcy'));
    if (object.trigger !== undefined) once(() => rename(object, 'trigger', 'triger'));
    if (object.cooldownBars !== undefined) once(() => rename(object, 'cooldownBars', 'cooldown_bars'));
    if (kind === 'entry' || kind === 'strategy') once(() => delete object.kind);
    if (typeof object.timeframe === 'string') once(() => (object.timeframe = '240'));
    if (object.kind === 'indicator' && object.args !== undefined && typeof (object.args as Json).length === 'number')
      once(() => rename(object.args as Json, 'length', 'period'));
  }
  return mistakes;
}

function rename(object: Json, from: string, to: string): void {
  if (object[from] === undefined) return;
  object[to] = object[from];
  delete object[from];
}
