// The repair loop: strategies and configs damaged as authors damage them, repaired by a client that understands nothing
// and only applies `patch` and `suggestion`.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import {
  checkConfigForm,
  checkStrategy,
  configIssues,
  CONFIG_EXAMPLE,
  isCovered,
  prepareStrategy,
  type StrategyAst,
  type ValidationIssue,
} from '../../src/engine/index.ts';
import { TEMPLATES } from '../../src/api/templates/catalog.ts';
import { compiledAst } from '../../src/api/templates/template.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { graphOf } from '../support/graphs.ts';
import { placesIn, type Place } from '../support/payloadPlaces.ts';

type Json = Record<string, unknown>;
type Issue = Pick<ValidationIssue, 'code' | 'path' | 'suggestion' | 'patch' | 'severity'>;

/** Of 200, by chance, 12 could not be repaired where 75 of 3,000 cannot. */
const STRATEGIES = 600;
const CONFIGS = 100;
const MAX_ROUNDS = 6;

const errorsOf = (issues: readonly Issue[]): Issue[] => issues.filter(({ severity }) => severity === 'error');

/** The steps of an issue's repair: its patch, else what its suggestion spells out. */
function stepsOf({ code, path, suggestion = '', patch }: Issue): Operation[] {
  if (patch !== undefined) return structuredClone(patch) as Operation[];
  if (/^(Leave it out|Remove it)/.test(suggestion)) return [{ op: 'remove', path }];
  const example = /Example: (.+)\.$/.exec(suggestion)?.[1];
  const word = /(?:Did you mean "([^"]+)"|Use (?:one of |at least |at most )?"?([^\s,"]+?)"?(?:[.,]|\s|$))/.exec(
    suggestion,
  );
  const spelled = example ?? word?.[1] ?? word?.[2];
  if (spelled === undefined) return [];
  const value = example !== undefined ? (JSON.parse(example) as unknown) : spelledValue(spelled);
  if (code === 'UNKNOWN_FIELD' && typeof value === 'string')
    return [{ op: 'move', from: path, path: path.slice(0, path.lastIndexOf('/') + 1) + value }];
  return [{ op: code.startsWith('MISSING') ? 'add' : 'replace', path, value }];
}
const spelledValue = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);

/** The body with every repair that can be applied; a step that finds nothing to change is left out. */
function repaired<Body>(body: Body, issues: readonly Issue[]): Body {
  let copy = structuredClone(body);
  for (const issue of issues) {
    try {
      copy = jsonPatch.applyPatch(structuredClone(copy), stepsOf(issue)).newDocument;
    } catch {
      continue;
    }
  }
  return copy;
}

/** Whether a repair alone leaves at most as many errors: each patch by itself, and all of a round together. */
function worsens<Body>(body: Body, check: (body: Body) => readonly Issue[]): Issue | undefined {
  const errors = errorsOf(check(body));
  return errors.find((issue) => {
    if (issue.patch === undefined) return false;
    return errorsOf(check(repaired(body, [issue]))).length > errors.length;
  });
}

interface Outcome {
  readonly valid: number;
  readonly patches: number;
  readonly worse: readonly string[];
  readonly stuck: readonly string[];
}

function loop<Body>(bodies: readonly Body[], check: (body: Body) => readonly Issue[]): Outcome {
  let valid = 0;
  let patches = 0;
  const worse: string[] = [];
  const stuck: string[] = [];
  for (const damaged of bodies) {
    let body = damaged;
    let errors = errorsOf(check(body));
    for (let round = 0; round < MAX_ROUNDS && errors.length > 0; round++) {
      const bad = worsens(body, check);
      if (bad !== undefined) worse.push(JSON.stringify(bad));
      patches += errors.filter(({ patch }) => patch !== undefined).length;
      body = repaired(body, errors);
      errors = errorsOf(check(body));
    }
    if (errors.length === 0) valid++;
    else stuck.push(JSON.stringify(errors.slice(0, 3)));
  }
  return { valid, patches, worse, stuck };
}

function report(what: string, { valid, patches, worse, stuck }: Outcome, count: number): void {
  process.stdout.write(
    `${what}: ${valid} of ${count} end valid, ${patches} patches applied, ${worse.length} made it worse` +
      `${stuck.map((each) => `\n  stuck: ${each}`).join('')}${worse.map((each) => `\n  worse: ${each}`).join('')}\n`,
  );
}

/** Other languages' words for ours. */
const HABITS: Readonly<Record<string, readonly string[]>> = {
  sma: ['simple_ma', 'SMA'],
  ema: ['exponential_ma', 'EMA'],
  rsi: ['relative_strength', 'RSI'],
  gt: ['>', 'greater_than', 'above'],
  lt: ['<', 'less_than', 'below'],
  cross_up: ['crossover', 'crosses_above'],
  cross_down: ['crossunder', 'crosses_below'],
  '1d': ['1D', 'daily'],
  '1h': ['60m', 'hourly'],
};

function rename({ owner, name }: Place, to: string): void {
  const members = Object.entries(owner);
  for (const [each] of members) delete owner[each];
  for (const [each, value] of members) owner[each === name ? to : each] = value;
}

/** A slip of the keyboard. */
function misspelled(word: string, dice: Dice): string {
  const at = dice.whole(1, Math.max(1, word.length - 2));
  return dice.pick([
    word.toUpperCase(),
    word.slice(0, at) + word.slice(at + 1),
    `${word}s`,
    word.slice(0, at) + word[at] + word.slice(at),
  ]);
}

const NAMED: ReadonlySet<string> = new Set([
  'kind', 'op', 'indicator', 'mode', 'side', 'field', 'timeframe', 'output', 'type', 'ref', 'name',
]); // prettier-ignore

/** One damage of a kind that authors make; false where the place does not suit it. */
function damageAt(place: Place, dice: Dice): boolean {
  const { owner, name } = place;
  const value = owner[name];
  const isNamed = NAMED.has(name) && typeof value === 'string';
  switch (dice.pick(['habit', 'word', 'member', 'text', 'bare', 'extra', 'tag', 'missing', 'range', 'null'])) {
    case 'habit':
      if (!isNamed || HABITS[value] === undefined) return false;
      owner[name] = dice.pick(HABITS[value]);
      return true;
    case 'word':
      if (!isNamed || value.length < 4) return false;
      owner[name] = misspelled(value, dice);
      return true;
    case 'member':
      if (name.length < 4) return false;
      rename(place, misspelled(name, dice));
      return true;
    case 'text':
      if (typeof value !== 'number') return false;
      owner[name] = String(value);
      return true;
    case 'bare':
      if (typeof value !== 'object' || value === null || (value as Json).kind !== 'const') return false;
      owner[name] = (value as Json).value;
      return true;
    case 'extra':
      if (Object.hasOwn(owner, 'color')) return false;
      // The suggestion lists what there is; a client that only obeys must be told to remove it.
      if (name !== 'stopLoss') return false;
      rename(place, 'stop_loss');
      return true;
    case 'tag':
      if (name !== 'mode' && name !== 'kind') return false;
      rename(place, 'type');
      return true;
    case 'missing':
      if (name !== 'protocol' && name !== 'version' && name !== 'args') return false;
      delete owner[name];
      return true;
    case 'range':
      if (typeof value !== 'number' || !['value', 'maxBars', 'length'].includes(name) || !Number.isInteger(value))
        return false;
      if (name === 'value' && owner.kind === 'const') return false;
      owner[name] = name === 'value' ? String(value) : -value;
      return true;
    case 'null':
      if (name !== 'cooldownBars' && name !== 'offset') return false;
      owner[name] = null;
      return true;
  }
  return false;
}

function damage(body: unknown, dice: Dice): void {
  for (let tries = 0; tries < 10_000; tries++) if (damageAt(dice.pick(placesIn(body)), dice)) return;
  throw new Error('No place could be damaged.');
}

/** As a client sends it: templates use some of their nodes twice. */
const written = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a client that only applies patches and suggestions', () => {
  it('repairs at least 95 % of damaged strategies, and no patch makes one worse', () => {
    const dice = diceOf(1_402);
    const check = (body: Json): readonly Issue[] => checkStrategy(body).issues;
    const bodies = Array.from({ length: STRATEGIES }, (_, index): Json => {
      const template = TEMPLATES[index % TEMPLATES.length];
      const ast = written(compiledAst(template)) as unknown as StrategyAst;
      const isGraph = dice.whole(0, 2) === 0;
      const payload = isGraph ? written(graphOf(ast)) : ast;
      const sound: Json = { settings: {}, [isGraph ? 'signalGraph' : 'strategyAst']: payload };
      for (;;) {
        const body = written(sound);
        for (let count = dice.whole(1, 3); count > 0; count--)
          damage(body[isGraph ? 'signalGraph' : 'strategyAst'], dice);
        // Now and then a payload stands in the other member.
        if (dice.whole(0, 19) === 0)
          rename(
            { owner: body, name: isGraph ? 'signalGraph' : 'strategyAst' },
            isGraph ? 'strategyAst' : 'signalGraph',
          );
        if (errorsOf(check(body)).length > 0) return body;
      }
    });
    const outcome = loop(bodies, check);
    report('strategies', outcome, STRATEGIES);
    expect(outcome.worse).toEqual([]);
    expect(outcome.valid / STRATEGIES).toBeGreaterThanOrEqual(0.95);
  });

  it('repairs at least 95 % of damaged configs, and no patch makes one worse', () => {
    const dice = diceOf(1_403);
    const template = TEMPLATES.find(({ key }) => key === 'golden_cross') ?? TEMPLATES[0];
    const golden = written(compiledAst(template)) as unknown as StrategyAst;
    const ast: StrategyAst = {
      ...golden,
      strategy: {
        ...golden.strategy,
        params: [{ name: 'length', type: 'int', default: 20, min: 2, max: 200 }],
      },
    };
    const check = ({ config }: { readonly config: Json }): readonly Issue[] => {
      const { defaults } = ast.strategy;
      const form = checkConfigForm(config, { timeframe: defaults?.timeframe, symbol: defaults?.instrument?.symbol });
      const read = form.repaired;
      if (read === null) return form.issues;
      // As the service answers: what the data and the strategy say comes with the faults of form.
      const { params = {}, overrides = {} } = read;
      const prepared = prepareStrategy(ast, {}, { params, overrides });
      const deeper = [...configIssues(read), ...(prepared.ok ? [] : prepared.issues)];
      if (form.issues.length === 0) return deeper;
      const placed = deeper.map(({ patch: _patch, ...issue }) => ({ ...issue, path: form.placeOf(issue.path) }));
      return [...form.issues, ...placed.filter(({ path }) => !isCovered(form.issues, path))];
    };
    const sound = (): Json => ({
      ...written(CONFIG_EXAMPLE),
      ambiguityResolution: 'multi_resolution',
      ambiguityFallback: 'pessimistic',
      leverage: 2,
      params: { length: 30 },
    });
    const execution = (config: Json): Json => config.execution as Json;
    const feeModel = (config: Json): Json => execution(config).feeModel as Json;
    const damages: readonly ((config: Json) => void)[] = [
      (config) => delete config.timeframe,
      (config) => (config.timeframe = dice.pick(['1D', 'daily', '5m', '7d'])),
      (config) => rename({ owner: config, name: 'timeframe' }, dice.pick(['interval', 'tf', 'timeFrame'])),
      (config) => (config.signalInstrument = 'SPX'),
      (config) => rename({ owner: config, name: 'signalInstrument' }, dice.pick(['instrument', 'asset'])),
      (config) => {
        delete config.signalInstrument;
        config.symbol = 'SPX';
      },
      (config) => (config.initialBalance = dice.pick(['10000', 0, -5])),
      (config) =>
        rename({ owner: config, name: 'initialBalance' }, dice.pick(['capital', 'balance', 'initial_capital'])),
      (config) => delete config.initialBalance,
      (config) =>
        (config.range = dice.pick([
          { start: '2015/01/01' },
          { start: '2018-01-01', end: '2015-01-01' },
          { from: '2015-01-01', to: '2016-01-01' },
        ])),
      (config) => {
        delete config.range;
        config.start = '2015-01-01';
        config.endDate = '2016-01-01';
      },
      (config) => (execution(config).feeModel = 0.001),
      (config) => (execution(config).feeModel = { makerRate: 0.001, takerRate: 0.001 }),
      (config) => (feeModel(config).kind = dice.pick(['maker_taker', 'percent'])),
      (config) => (feeModel(config).tiers = [{ minCumulativeNotional: 0, makerRate: 0.1, takerRate: 0.2 }]),
      (config) =>
        (feeModel(config).tiers = [1e6, 0].map((from) => ({
          minCumulativeNotional: from,
          makerRate: 0,
          takerRate: 0,
        }))),
      (config) =>
        (execution(config).slippage = dice.pick([
          { bps: 5 },
          { kind: 'bps', value: 5 },
          5,
          { kind: 'fixd', unit: 'bps', value: 1 },
        ])),
      (config) => {
        config.slippage = execution(config).slippage;
        config.feeModel = feeModel(config);
        delete config.execution;
      },
      (config) => (execution(config).entryOrderRole = dice.pick(['Taker', 'takker'])),
      (config) => (config.ambiguityFallback = dice.pick(['pesimistic', 'PESSIMISTIC'])),
      (config) => (config.leverage = dice.pick(['2', 0, 5000])),
      (config) => {
        execution(config).ambiguityResolution = config.ambiguityResolution;
        delete config.ambiguityResolution;
      },
      (config) => (config.params = dice.pick([{ lenght: 30 }, { length: 1 }, { length: '30' }, { length: 7.5 }])),
    ]; // prettier-ignore
    const bodies = Array.from({ length: CONFIGS }, () => {
      for (;;) {
        const config = sound();
        for (let count = dice.whole(1, 3); count > 0; count--) {
          // A damage of what another one removed does nothing.
          try {
            dice.pick(damages)(config);
          } catch {
            continue;
          }
        }
        if (errorsOf(check({ config })).length > 0) return { config };
      }
    });
    const outcome = loop(bodies, check);
    report('configs', outcome, CONFIGS);
    expect(outcome.worse).toEqual([]);
    expect(outcome.valid / CONFIGS).toBeGreaterThanOrEqual(0.95);
  });
});
