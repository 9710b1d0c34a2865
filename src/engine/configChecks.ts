// Issues of a config that its schema cannot find: the order of the fee tiers, the range, the instruments and what must
// be known or common of them.
import type { Instrument } from './bars/bars.ts';
import { slippageKindOf } from './definitions/slippage/slippageKinds.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import type { CONFIG_ERROR_CODES } from './definitions/issueCodes.ts';
import type { PatchOperation } from './language/issues/patch.ts';
import { resolveConfig, type BacktestConfig, type FeeModel } from './config.ts';

/**
 * Paths begin with `/config`.
 * @param instruments those of the config, as far as they are known; what depends on them is checked of no others
 */
export function configIssues(config: BacktestConfig, ...instruments: readonly Instrument[]): ValidationIssue[] {
  return [
    ...feeIssues(config),
    ...slippageIssues(config, instruments),
    ...rangeIssues(config),
    ...instrumentIssues(config),
    ...dividendIssues(config),
  ];
}

/**
 * The issue that instruments of one account are quoted in different currencies; an unknown currency counts as common.
 * @param instruments those of the config, in its order
 */
export function quoteIssues(instruments: readonly Pick<Instrument, 'symbol' | 'quote'>[]): ValidationIssue[] {
  const known = instruments.filter(({ quote }) => quote !== null);
  const other = known.find(({ quote }) => quote !== known[0].quote);
  if (other === undefined) return [];
  const [first] = known;
  const message =
    `The instruments of one account must have one quote currency: ${first.symbol} is quoted in ${first.quote}, ` +
    `${other.symbol} in ${other.quote}.`;
  const at = instruments.indexOf(other);
  const suggestion = `Keep the instruments that are quoted in ${first.quote}, and run the others in another backtest.`;
  return [issue('QUOTE_CURRENCY_MIXED', `/instruments/${at}/symbol`, message, suggestion)];
}

const issue = (
  code: (typeof CONFIG_ERROR_CODES)[number],
  path: string,
  message: string,
  suggestion?: string,
  patch?: readonly PatchOperation[],
): ValidationIssue => ({
  code,
  path: `/config${path}`,
  field: 'config',
  severity: 'error',
  message,
  ...(suggestion !== undefined && { suggestion }),
  ...(patch !== undefined && { patch }),
});

function feeIssues(config: BacktestConfig): ValidationIssue[] {
  const { feeModel } = resolveConfig(config).execution;
  const { tiers } = feeModel;
  const sorted = tiers.toSorted((a, b) => a.minCumulativeNotional - b.minCumulativeNotional);
  const isOrder = sorted.every(({ minCumulativeNotional }, index) =>
    index === 0 ? minCumulativeNotional === 0 : minCumulativeNotional > sorted[index - 1].minCumulativeNotional,
  );
  // The same tiers in their order; where one is missing or given twice, only the author knows.
  const patch = isOrder
    ? ([{ op: 'replace', path: '/config/execution/feeModel/tiers', value: sorted }] as const)
    : undefined;
  const orderIssues = tiers.flatMap(({ minCumulativeNotional }, index) => {
    const path = `/execution/feeModel/tiers/${index}/minCumulativeNotional`;
    const inOrder = 'Put the tiers in ascending order.';
    if (index === 0) {
      if (minCumulativeNotional === 0) return [];
      return [issue('FEE_TIERS_ORDER', path, 'The first tier must begin at 0.', isOrder ? inOrder : 'Use 0.', patch)];
    }
    const before = tiers[index - 1].minCumulativeNotional;
    if (minCumulativeNotional > before) return [];
    const message = `Tiers must ascend: ${minCumulativeNotional} does not come after ${before}.`;
    const higher = minCumulativeNotional === before ? `Use a number above ${before}, or remove the tier.` : inOrder;
    return [issue('FEE_TIERS_ORDER', path, message, isOrder ? inOrder : higher, patch)];
  });
  return [...orderIssues, ...limitIssues(feeModel)];
}

/** A least fee above the greatest, which every order would then pay. */
function limitIssues({ minPerOrder, maxPerOrder }: FeeModel): ValidationIssue[] {
  if (minPerOrder === undefined || maxPerOrder === undefined || minPerOrder <= maxPerOrder) return [];
  const message = `minPerOrder (${minPerOrder}) is more than maxPerOrder (${maxPerOrder}).`;
  const suggestion = 'Exchange the two, or give the most that an order pays as a fraction of its notional, in maxRate.';
  return [issue('FEE_LIMITS_INVALID', '/execution/feeModel/minPerOrder', message, suggestion)];
}

/** How many instruments of a portfolio an issue names. */
const MAX_NAMED = 5;

function slippageIssues(config: BacktestConfig, instruments: readonly Instrument[]): ValidationIssue[] {
  const { slippage } = resolveConfig(config).execution;
  const ticks = slippageKindOf(slippage).tickMember(slippage);
  const unknown = instruments.filter(({ tickSize }) => tickSize === null).map(({ symbol }) => symbol);
  if (ticks === null || unknown.length === 0) return [];
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const message = `The tick size of ${unknown.slice(0, MAX_NAMED).join(', ')}${more} is not known.`;
  return [issue('TICK_SIZE_UNKNOWN', `/execution/slippage/${ticks.member}`, message, ticks.suggestion)];
}

function rangeIssues(config: BacktestConfig): ValidationIssue[] {
  const { start, end } = resolveConfig(config).range;
  if (start === null || end === null || start < end) return [];
  const [from, to] = [start, end].map((time) => new Date(time).toISOString());
  const message =
    start === end
      ? `The range is empty: it starts and ends at ${from}.`
      : `The range ends (${to}) before it starts (${from}).`;
  if (start === end) return [issue('RANGE_INVALID', '/range', message, 'Give an end that is later than the start.')];
  const { start: first, end: last } = config.range!;
  return [
    issue('RANGE_INVALID', '/range', message, 'Exchange the two.', [
      { op: 'replace', path: '/config/range/start', value: last },
      { op: 'replace', path: '/config/range/end', value: first },
    ]),
  ];
}

/** The issues of a list of instruments and of its settings; a config with `signalInstrument` alone has none. */
function instrumentIssues({ signalInstrument, instruments, portfolio }: BacktestConfig): ValidationIssue[] {
  if (instruments === undefined) {
    if (portfolio === undefined) return [];
    const message = 'Only a run of several instruments has a portfolio.';
    const suggestion = 'Write "instruments": [{"symbol": …}, …] in place of signalInstrument, or remove portfolio.';
    return [issue('INSTRUMENTS_INVALID', '/portfolio', message, suggestion)];
  }
  const found: ValidationIssue[] = [];
  if (signalInstrument !== undefined) {
    const message = 'A config has either signalInstrument or instruments, not both.';
    const suggestion = 'Remove signalInstrument to run the list, or instruments to run the one.';
    found.push(issue('INSTRUMENTS_INVALID', '/signalInstrument', message, suggestion));
  }
  const symbols = new Set<string>();
  const repeated: ValidationIssue[] = [];
  instruments.forEach(({ symbol }, at) => {
    if (!symbols.has(symbol)) return void symbols.add(symbol);
    const message = `${symbol} is in the list twice.`;
    const patch = [{ op: 'remove', path: `/config/instruments/${at}` }] as const;
    repeated.push(issue('INSTRUMENTS_INVALID', `/instruments/${at}`, message, 'Remove it here.', patch));
  });
  // The last first, so that the patches can be applied one after the other.
  return [...found, ...repeated.toReversed(), ...linkedIssues(portfolio?.linked ?? [], symbols)];
}

/** A dividend of a portfolio says whose it is; more issues than of links say nothing new. */
function dividendIssues({ instruments, dividends = [] }: BacktestConfig): ValidationIssue[] {
  if (instruments === undefined || instruments.length === 1) return [];
  const unnamed = [...dividends.keys()].filter((at) => dividends[at].symbol === undefined).slice(0, MAX_LINKED_ISSUES);
  const message = 'A dividend of a run of several instruments needs its symbol.';
  return unnamed.map((at) => issue('INSTRUMENTS_INVALID', `/dividends/${at}/symbol`, message, 'Add "symbol".'));
}

/** Groups may repeat symbols for as long as a body may be; the first issues are enough to see why. */
const MAX_LINKED_ISSUES = 100;

function linkedIssues(linked: readonly (readonly string[])[], symbols: ReadonlySet<string>): ValidationIssue[] {
  const seen = new Set<string>();
  const found: ValidationIssue[] = [];
  for (const [at, group] of linked.entries()) {
    for (const [place, symbol] of group.entries()) {
      const path = `/portfolio/linked/${at}/${place}`;
      if (!symbols.has(symbol)) {
        const message = `${symbol} is linked, but is not one of the instruments.`;
        const suggestion = 'Add it to instruments, or take it out of the group.';
        found.push(issue('INSTRUMENTS_INVALID', path, message, suggestion));
      } else if (seen.has(symbol)) {
        const message = `${symbol} is linked twice; an instrument can be in one group, once.`;
        found.push(issue('INSTRUMENTS_INVALID', path, message, 'Keep one of its places.'));
      }
      if (found.length === MAX_LINKED_ISSUES) return found;
      seen.add(symbol);
    }
  }
  return found;
}
