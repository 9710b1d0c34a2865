// Issues of a config that its schema cannot find: the order of the fee tiers, the range, the tick size of the
// instrument.
import type { Instrument } from './bars/bars.ts';
import { slippageKindOf } from './definitions/slippage/slippageKinds.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import type { CONFIG_ERROR_CODES } from './definitions/issueCodes.ts';
import type { PatchOperation } from './language/issues/patch.ts';
import { resolveConfig, type BacktestConfig } from './config.ts';

/** Paths begin with `/config`. What depends on the instrument is checked only when one is given. */
export function configIssues(config: BacktestConfig, instrument?: Instrument): ValidationIssue[] {
  return [...feeIssues(config), ...(instrument ? slippageIssues(config, instrument) : []), ...rangeIssues(config)];
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
  const { tiers } = resolveConfig(config).execution.feeModel;
  const sorted = tiers.toSorted((a, b) => a.minCumulativeNotional - b.minCumulativeNotional);
  const isOrder = sorted.every(({ minCumulativeNotional }, index) =>
    index === 0 ? minCumulativeNotional === 0 : minCumulativeNotional > sorted[index - 1].minCumulativeNotional,
  );
  // The same tiers in their order; where one is missing or given twice, only the author knows.
  const patch = isOrder
    ? ([{ op: 'replace', path: '/config/execution/feeModel/tiers', value: sorted }] as const)
    : undefined;
  return tiers.flatMap(({ minCumulativeNotional }, index) => {
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
}

function slippageIssues(config: BacktestConfig, instrument: Instrument): ValidationIssue[] {
  const { slippage } = resolveConfig(config).execution;
  const ticks = slippageKindOf(slippage).tickMember(slippage);
  if (ticks === null || instrument.tickSize !== null) return [];
  const message = `The tick size of ${instrument.symbol} is not known.`;
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
