// Faults of a well-formed config that need more than its shape: the order of its tiers, its range, what is known of the instrument.
import type { Instrument } from '../columns/bars.ts';
import type { ValidationIssue } from '../language/issues.ts';
import { resolveConfig, type BacktestConfig } from './config.ts';

export type ConfigFault = Omit<ValidationIssue, 'code'> & { readonly code: string };

/** Paths begin `/config`. Without an instrument what depends on it is not judged. */
export function configFaults(config: BacktestConfig, instrument?: Instrument): ConfigFault[] {
  return [...feeFaults(config), ...(instrument ? slippageFaults(config, instrument) : []), ...rangeFaults(config)];
}

const fault = (code: string, path: string, message: string, suggestion?: string): ConfigFault => ({
  code,
  path: `/config${path}`,
  field: 'config',
  severity: 'error',
  message,
  ...(suggestion !== undefined && { suggestion }),
});

function feeFaults(config: BacktestConfig): ConfigFault[] {
  const { tiers } = config.execution.feeModel;
  return tiers.flatMap(({ minCumulativeNotional }, index) => {
    const path = `/execution/feeModel/tiers/${index}/minCumulativeNotional`;
    if (index === 0)
      return minCumulativeNotional === 0 ? [] : [fault('FEE_TIERS_ORDER', path, 'The first tier must begin at 0.')];
    const before = tiers[index - 1].minCumulativeNotional;
    if (minCumulativeNotional > before) return [];
    return [
      fault('FEE_TIERS_ORDER', path, `Tiers must ascend: ${minCumulativeNotional} does not come after ${before}.`),
    ];
  });
}

function slippageFaults(config: BacktestConfig, instrument: Instrument): ConfigFault[] {
  const { slippage } = config.execution;
  if (slippage.kind !== 'fixed' || slippage.unit !== 'ticks' || instrument.tickSize !== null) return [];
  const message = `The tick size of ${instrument.symbol} is not known.`;
  return [fault('TICK_SIZE_UNKNOWN', '/execution/slippage/unit', message, 'Use bps.')];
}

function rangeFaults(config: BacktestConfig): ConfigFault[] {
  const { start, end } = resolveConfig(config).range;
  if (start === null || end === null || start < end) return [];
  return [fault('RANGE_INVALID', '/range', `The range is [start, end): ${start} is not before ${end} (ms).`)];
}
