// The form of a config: every fault against its schema at once, each with its place and, where certain, its repair.
import { BacktestConfig, ConfigTime } from './config.ts';
import { ORDER_FEE_MEMBERS } from './definitions/fees/orderFees.ts';
import { SLIPPAGE_KINDS } from './definitions/slippage/slippageKinds.ts';
import { IssueLog, type ValidationIssue } from './language/issues/issues.ts';
import { issueCodes } from './definitions/issueCodes.ts';
import { COSTS, RANGE_ENDS } from './language/hints/formWords.ts';
import { writeAdvice } from './language/form/fault.ts';
import { addMember, moveMember, type PatchOperation } from './language/issues/patch.ts';
import { placeAfter, placeBefore, repaired, repairedInTurn } from './language/issues/repair.ts';
import { Structure } from './language/form/structure.ts';
import { unitMeant } from './language/form/units.ts';
import { shapeOf, type ObjectShape } from './language/grammar/shapes.ts';
import { pointerTo, valueAtPointer } from './language/pointer.ts';
import { isMembers, type Members } from './language/grammar/payloadObjects.ts';

/** What the strategy's own `defaults` or the space of a sweep name, for a config that leaves it out. */
interface ConfigDefaults {
  readonly timeframe?: string | undefined;
  readonly symbol?: string | undefined;
  /** The first list of symbols of a space that varies the instruments. */
  readonly universe?: readonly string[] | undefined;
}
interface ConfigForm {
  /** Paths begin with `/config`; patches apply to the body as sent, in the order of the issues. */
  readonly issues: readonly ValidationIssue[];
  /**
   * The config with every certain repair made, and with a value of the example where only the author knows; null when
   * it cannot be read even so. For further checks, whose findings at the places of `issues` say nothing.
   */
  readonly repaired: BacktestConfig | null;
  /** The place, in the config as sent, of a place in the repaired one. */
  readonly placeOf: (pointer: string) => string;
}

/** A smallest config, for an answer to one that is wrong. */
export const CONFIG_EXAMPLE: BacktestConfig = {
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  range: { start: '2015-01-01', end: '2018-12-31' },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0005, takerRate: 0.001 }],
    },
    slippage: { kind: 'fixed', unit: 'bps', value: 1 },
  },
};

const { signalInstrument: _one, ...commonExample } = CONFIG_EXAMPLE;
const PORTFOLIO_CONFIG_EXAMPLE: BacktestConfig = {
  ...commonExample,
  // The stocks that are shipped end in 2013.
  range: { start: '2004-01-01', end: '2011-12-31' },
  instruments: [{ symbol: 'AAPL' }, { symbol: 'IBM' }, { symbol: 'MSFT' }],
};

/** The smallest config like the one that has these issues: of a portfolio, where they are about its instruments. */
export function configExampleFor(issues: readonly { readonly code: string; readonly path: string }[]): BacktestConfig {
  const isOfPortfolio = issues.some(
    ({ code, path }) => code === 'ALLOCATION_INVALID' || /(^|\/)config\/(instruments|portfolio)(\/|$)/.test(path),
  );
  return isOfPortfolio ? PORTFOLIO_CONFIG_EXAMPLE : CONFIG_EXAMPLE;
}

issueCodes.add(BacktestConfig.shape.timeframe, { code: 'UNKNOWN_TIMEFRAME' });
const PORTFOLIO_SHAPE = shapeOf(BacktestConfig) as ObjectShape;
/** The shape of a config without a list of instruments, in which `signalInstrument` is required. */
const SINGLE_SHAPE: ObjectShape = {
  ...PORTFOLIO_SHAPE,
  fields: new Map(
    [...PORTFOLIO_SHAPE.fields]
      .filter(([name]) => name !== 'instruments')
      .map(([name, field]) => [name, name === 'signalInstrument' ? { ...field, isRequired: true } : field]),
  ),
};

/**
 * Checks a config of any type against the schema and repairs what is certain. Values are checked by `configIssues`.
 * @param config as sent: any JSON value
 */
export function checkConfigForm(config: unknown, defaults: ConfigDefaults = {}): ConfigForm {
  const log = new IssueLog();
  const report = (code: 'UNKNOWN_FIELD' | 'TYPE_MISMATCH', habits: readonly Habit[]): PatchOperation[] => {
    for (const { path, message, patch } of habits) {
      const [suggestion] = patch.flatMap((step) => (step.op === 'replace' ? [writeAdvice(step.value)] : []));
      log.add(code, path, { message, suggestion, patch });
    }
    return habits.flatMap(({ patch }) => patch);
  };
  // First what is in the wrong place, then what has the wrong form.
  const moves = report('UNKNOWN_FIELD', isMembers(config) ? misplacedMembers(config) : []);
  const placed = repaired({ config }, moves).config;
  log.startRound(placeBefore(moves, { config }));
  const execution = isMembers(placed) ? placed.execution : undefined;
  const rewrites = report('TYPE_MISMATCH', isMembers(execution) ? rewrittenCosts(execution) : []);
  const corrected = repaired({ config: placed }, rewrites).config;
  log.startRound(placeBefore(rewrites, { config: placed }));
  const structure = new Structure(log);
  const isList = isMembers(corrected) && corrected.instruments !== undefined;
  structure.check(isList ? PORTFOLIO_SHAPE : SINGLE_SHAPE, corrected, '/config');
  const issues = log.list().map((issue) => completed(issue, { config, defaults, moves }));
  const assumed = issues.flatMap(({ path, code, patch }) => (patch === undefined ? assumption(path, code) : []));
  // In their order: those of a later round are patches of what the earlier ones make.
  const whole = repairedInTurn({ config }, [assumed, ...issues.map(({ patch = [] }) => patch)]);
  const parsed = BacktestConfig.safeParse(whole.config);
  const steps = issues.flatMap(({ patch = [] }) => patch);
  return { issues, repaired: parsed.success ? parsed.data : null, placeOf: placeBefore(steps, { config }) };
}

/** The value that further checks assume at the place of an issue without a repair. */
function assumption(path: string, code: ValidationIssue['code']): PatchOperation[] {
  if (code === 'UNKNOWN_FIELD') return [{ op: 'remove', path }];
  const value = valueAt(CONFIG_EXAMPLE, path);
  return value === undefined ? [] : [{ op: code === 'MISSING_FIELD' ? 'add' : 'replace', path, value }];
}

interface Habit {
  readonly path: string;
  readonly message: string;
  readonly patch: readonly PatchOperation[];
}

/**
 * Rates that authors write in place of a fee model are fractions of the notional up to this: no exchange charges
 * 0.005 %, and 0.02 is a usual fee in percent.
 */
const MAX_PLAIN_RATE = 0.005;

/** Finds members in the places that they have in other backtesters' configs. */
function misplacedMembers(config: Members): Habit[] {
  const found: Habit[] = [];
  const move = (name: string, owner: string, to: string): void => {
    const place = pointerTo('/config', owner);
    const isOwned = isMembers(config[owner]) || found.some(({ patch }) => patch.some(({ path }) => path === place));
    found.push({
      path: pointerTo('/config', name),
      message: `"${name}" belongs in "${owner}", as "${to}".`,
      patch: [...(isOwned ? [] : [addMember('/config', owner, {})]), moveMember('/config', name, owner, to)],
    });
  };
  if (config.symbol !== undefined && config.signalInstrument === undefined && config.instruments === undefined)
    move('symbol', 'signalInstrument', 'symbol');
  for (const [name, end] of RANGE_ENDS) {
    const { range } = config;
    if (config[name] !== undefined && (!isMembers(range) || range[end] === undefined)) move(name, 'range', end);
  }
  const { execution } = config;
  for (const name of Object.keys(config)) {
    const to = COSTS.get(name);
    if (to !== undefined && (!isMembers(execution) || execution[to] === undefined)) move(name, 'execution', to);
  }
  for (const name of isMembers(execution) ? Object.keys(execution) : []) {
    if (!Object.hasOwn(BacktestConfig.shape, name) || config[name] !== undefined) continue;
    const path = pointerTo('/config/execution', name);
    found.push({
      path,
      message: `"${name}" belongs beside "execution", not in it.`,
      patch: [{ op: 'move', from: path, path: pointerTo('/config', name) }],
    });
  }
  return found;
}

/** Finds costs in the forms of other backtesters' configs: a rate, rates without tiers, a number of bps. */
const rewrittenCosts = (execution: Members): Habit[] => [...feeHabits(execution), ...slippageHabits(execution)];

function feeHabits(execution: Members): Habit[] {
  const name = Object.keys(execution).find((each) => COSTS.get(each) === 'feeModel');
  if (name === undefined) return [];
  const path = pointerTo('/config/execution', name);
  const written = execution[name];
  const tiersOf = (makerRate: number, takerRate: number) => ({
    kind: 'tiered_maker_taker',
    tiers: [{ minCumulativeNotional: 0, makerRate, takerRate }],
  });
  const repair = (message: string, value: object): Habit[] => [
    {
      path,
      message,
      patch: [
        { op: 'replace', path, value },
        ...(name === 'feeModel' ? [] : ([{ op: 'move', from: path, path: '/config/execution/feeModel' }] as const)),
      ],
    },
  ];
  const rate = rateMeant(written);
  if (rate !== undefined) return repair('A fee model is an object with tiers, not a rate.', tiersOf(rate, rate));
  if (!isMembers(written) || written.tiers !== undefined) return [];
  const makerRate = rateMeant(written.makerRate ?? written.maker);
  const takerRate = rateMeant(written.takerRate ?? written.taker);
  const perOrder = Object.keys(ORDER_FEE_MEMBERS).filter((member) => written[member] !== undefined);
  const kept = Object.fromEntries(perOrder.map((member) => [member, written[member]]));
  if (makerRate === undefined || takerRate === undefined) {
    const hasRate = ['makerRate', 'maker', 'takerRate', 'taker'].some((rate) => written[rate] !== undefined);
    if (perOrder.length === 0 || hasRate) return [];
    return repair('A fee model has tiers beside its fees per order; without a rate, one of 0.', {
      ...tiersOf(0, 0),
      ...kept,
    });
  }
  return repair('The rates of a fee model stand in its tiers.', { ...tiersOf(makerRate, takerRate), ...kept });
}

/** The fraction that a fee certainly is: a small number, or a percent as text such as "0.1%". */
function rateMeant(value: unknown): number | undefined {
  if (typeof value !== 'number') return unitMeant({}, 'takerRate', value)?.value;
  return value >= -MAX_PLAIN_RATE && value <= MAX_PLAIN_RATE ? value : undefined;
}

function slippageHabits({ slippage }: Members): Habit[] {
  if (!isMembers(slippage)) return [];
  const path = '/config/execution/slippage';
  return SLIPPAGE_KINDS.flatMap((each) => {
    const meant = each.meant(slippage);
    return meant === null
      ? []
      : [{ path, message: meant.message, patch: [{ op: 'replace', path, value: meant.value }] }];
  });
}

/** A config has one of two members, and the schema can require only one. */
const NO_INSTRUMENT = {
  message: 'The config has neither signalInstrument nor instruments.',
  suggestion:
    'Give "signalInstrument": {"symbol": "SPX"} for one instrument, or "instruments": [{"symbol": "SPX"}, …] for a ' +
    'portfolio.',
};

/** A sweep that varies the instruments is one of portfolios, and its config is whole without the space. */
function missingUniverse(issue: ValidationIssue, universe: readonly string[]): ValidationIssue {
  const path = '/config/instruments';
  const value = universe.map((symbol) => ({ symbol }));
  return {
    ...issue,
    path,
    message: 'The space varies instruments, and the config has no list of its own.',
    suggestion: 'Give config.instruments too, such as the first list of the space.',
    patch: [{ op: 'add', path, value }],
  };
}

/** A config as it was sent, with the patches that have moved its members before their values were checked. */
interface SentConfig {
  readonly config: unknown;
  readonly defaults: ConfigDefaults;
  readonly moves: readonly PatchOperation[];
}

/** Adds what only the config knows about an issue: the strategy's own defaults, dates, and rates written in percent. */
function completed(issue: ValidationIssue, { config, defaults, moves }: SentConfig): ValidationIssue {
  const { timeframe, symbol, universe } = defaults;
  if (issue.code === 'UNKNOWN_NODE_KIND') return { ...issue, code: 'OUT_OF_RANGE' };
  const { code, path } = issue;
  const withPatch = (suggestion: string, ...patch: PatchOperation[]): ValidationIssue => ({
    ...issue,
    suggestion,
    patch,
  });
  if (code === 'MISSING_FIELD') {
    if (path === '/config/timeframe' && timeframe !== undefined)
      return withPatch(`The strategy's defaults name ${timeframe}.`, { op: 'add', path, value: timeframe });
    if (path === '/config/signalInstrument') {
      if (universe !== undefined) return missingUniverse(issue, universe);
      const missing = { ...issue, ...NO_INSTRUMENT };
      if (symbol === undefined) return missing;
      const suggestion = `The strategy's defaults name ${symbol}. ${NO_INSTRUMENT.suggestion}`;
      return { ...missing, suggestion, patch: [{ op: 'add', path, value: { symbol } }] };
    }
  }
  const value = valueAt(config, path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const date = code === 'TYPE_MISMATCH' && RANGE_ENDS.has(name) ? repairedInstant(value) : undefined;
  const replaceBy = (by: unknown): PatchOperation => ({ op: 'replace', path: placeAfter(moves, path), value: by });
  if (date !== undefined) return withPatch(`Did you mean "${date}"?`, replaceBy(date));
  if (
    code === 'OUT_OF_RANGE' &&
    /(?:maker|taker)\w*$/i.test(name) &&
    typeof value === 'number' &&
    value > 0.1 &&
    value <= 10
  ) {
    const rate = Number((value / 100).toPrecision(12));
    const suggestion = `A rate is a fraction of the notional: write ${rate} for ${value} %.`;
    // From 1 on, it may be in basis points.
    return value < 1 ? withPatch(suggestion, replaceBy(rate)) : { ...issue, suggestion };
  }
  const example = issue.patch === undefined ? valueAt(CONFIG_EXAMPLE, path) : undefined;
  if (example === undefined) return issue;
  return { ...issue, suggestion: `${issue.suggestion ?? ''} Example: ${JSON.stringify(example)}.`.trim() };
}

/** The value at a pointer that begins with /config. */
const valueAt = (config: unknown, pointer: string): unknown => valueAtPointer({ config }, pointer);

/** A time in a common spelling that the schema does not take: other separators, no zone. */
function repairedInstant(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const spelled = value
    .trim()
    .replaceAll(/[/.](?=\d{2}(?:\D|$))/g, '-')
    .replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3')
    .replace(/(\d)\s+(\d)/, '$1T$2');
  return [spelled, `${spelled}Z`, `${spelled}:00Z`].find(
    (each) => each !== value && ConfigTime.safeParse(each).success,
  );
}

/** Whether an issue that zod found at `path` is already among `issues`; a text that cannot be stored is not. */
export const isCovered = (issues: readonly Pick<ValidationIssue, 'path'>[], path: string): boolean =>
  issues.some((issue) => issue.path === path || path.startsWith(`${issue.path}/`) || issue.path.startsWith(`${path}/`));
