// Tasks under stress: higher fees and slippage, a later start, and parts of the strategy or of its costs taken away.
import {
  hasDividends,
  isFreeOfFees,
  isFreeSlippage,
  multipliedSlippage,
  NO_SLIPPAGE,
  resolveConfig,
  type BacktestConfig,
  type FeeModel,
  type Slippage,
} from '../config.ts';
import { chargesPerOrder, multipliedOrderFees } from '../definitions/fees/orderFees.ts';
import { fixedSlippage } from '../definitions/slippage/fixedSlippage.ts';
import { checkStrategy } from '../language/check/checkStrategy.ts';
import type { SignalGraph } from '../language/grammar/graph.ts';
import { overriddenPath } from '../language/prepare/overrides.ts';
import type { BacktestTask, RunError } from '../task.ts';

/** How a cost is raised: multiplied, or set where there is none. */
export type StressLevel = { readonly multiplier: number } | { readonly bps: number };
const MULTIPLIERS = [0, 1.5, 2, 3, 5] as const;
const GIVEN_BPS = [1, 2, 5, 10, 20] as const;
const BPS = 1e-4;

type Execution = NonNullable<BacktestConfig['execution']>;

const withExecution = (task: BacktestTask, changed: Partial<Execution>): BacktestTask => {
  const { feeModel, slippage } = resolveConfig(task.config).execution;
  return {
    ...task,
    config: { ...task.config, execution: { ...task.config.execution, feeModel, slippage, ...changed } },
  };
};

/** The fee levels of a task: multiples of its fees, or bps where it has none. */
export function feeLevels({ config }: BacktestTask): StressLevel[] {
  const { execution, borrowRatePerYear } = resolveConfig(config);
  const { feeModel } = execution;
  const hasRates = feeModel.tiers.some(({ makerRate, takerRate }) => makerRate > 0 || takerRate > 0);
  const hasFees = hasRates || chargesPerOrder(feeModel) || borrowRatePerYear !== undefined;
  return hasFees ? MULTIPLIERS.map((multiplier) => ({ multiplier })) : GIVEN_BPS.map((bps) => ({ bps }));
}

/**
 * Rebates are not multiplied: they are dropped. Fees per order, their limits and the borrow rate are multiplied with
 * the rates of the tiers.
 */
export function withFees(task: BacktestTask, level: StressLevel): BacktestTask {
  const { feeModel } = resolveConfig(task.config).execution;
  const changed = (rate: number): number =>
    'bps' in level ? Math.max(0, rate) + level.bps * BPS : Math.max(0, rate) * level.multiplier;
  const tiers = feeModel.tiers.map((tier) => ({
    ...tier,
    makerRate: changed(tier.makerRate),
    takerRate: changed(tier.takerRate),
  }));
  const perOrder = 'multiplier' in level ? multipliedOrderFees(feeModel, level.multiplier) : {};
  const stressed = withExecution(task, { feeModel: { ...feeModel, ...perOrder, tiers } satisfies FeeModel });
  const { borrowRatePerYear } = task.config;
  if (borrowRatePerYear === undefined || 'bps' in level) return stressed;
  return { ...stressed, config: { ...stressed.config, borrowRatePerYear: borrowRatePerYear * level.multiplier } };
}

/** The slippage levels of a task: multiples of its slippage, or bps where it has none. */
export function slippageLevels({ config }: BacktestTask): StressLevel[] {
  return isFreeSlippage(resolveConfig(config).execution.slippage)
    ? GIVEN_BPS.map((bps) => ({ bps }))
    : MULTIPLIERS.map((multiplier) => ({ multiplier }));
}

/** The task with its slippage multiplied, or with slippage in basis points where it has none. */
export function withSlippage(task: BacktestTask, level: StressLevel): BacktestTask {
  const { slippage } = resolveConfig(task.config).execution;
  return withExecution(task, { slippage: stressed(slippage, level) });
}

function stressed(slippage: Slippage, level: StressLevel): Slippage {
  if ('bps' in level) return { kind: fixedSlippage.kind, unit: 'bps', value: level.bps };
  return multipliedSlippage(slippage, level.multiplier);
}

/** The task with its range begun at `start`, ms UTC. */
export const startingAt = (task: BacktestTask, start: number): BacktestTask => ({
  ...task,
  config: { ...task.config, range: { ...task.config.range, start } },
});

const RISK_RULES = ['stopLoss', 'takeProfits', 'trailingStop', 'breakeven', 'timeStop'] as const;
type RiskRule = (typeof RISK_RULES)[number];
/** What a counterfactual run takes away. */
export type Removable = 'fees' | 'slippage' | 'funding' | 'borrowing' | 'dividends' | RiskRule;

/** What there is to take away. */
export function removables({ strategyAst, config }: BacktestTask): Removable[] {
  const resolved = resolveConfig(config);
  const risk = strategyAst.strategy.risk ?? {};
  const isPresent = (rule: RiskRule): boolean => {
    const value = risk[rule];
    return Array.isArray(value) ? value.length > 0 : value !== undefined;
  };
  return [
    ...(isFreeOfFees(resolved.execution.feeModel) ? [] : (['fees'] as const)),
    ...(isFreeSlippage(resolved.execution.slippage) ? [] : (['slippage'] as const)),
    ...(resolved.fundingRate === 0 ? [] : (['funding'] as const)),
    ...(resolved.borrowRatePerYear === undefined ? [] : (['borrowing'] as const)),
    ...(hasDividends(resolved) ? (['dividends'] as const) : []),
    ...RISK_RULES.filter(isPresent),
  ];
}

/** The task without a part; an error where the strategy cannot be run without it, such as sizing by a stop. */
export function without(task: BacktestTask, part: Removable): BacktestTask | RunError {
  switch (part) {
    case 'fees':
      return withExecution(task, {
        feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] },
      });
    case 'slippage':
      return withExecution(task, { slippage: NO_SLIPPAGE });
    case 'funding':
      return { ...task, config: { ...task.config, fundingRate: 0 } };
    case 'borrowing':
      return { ...task, config: { ...task.config, borrowRatePerYear: 0 } };
    case 'dividends':
      return { ...task, config: { ...task.config, dividends: [], dividendColumn: undefined } };
    case 'stopLoss':
    case 'takeProfits':
    case 'trailingStop':
    case 'breakeven':
    case 'timeStop':
      return withoutRiskRule(task, part);
  }
}

function withoutRiskRule(task: BacktestTask, rule: RiskRule): BacktestTask | RunError {
  const strategyAst = { ...task.strategyAst, strategy: stripped(task.strategyAst.strategy, rule) };
  const [issue] = checkStrategy({ strategyAst }).issues.filter(({ severity }) => severity === 'error');
  if (issue !== undefined) return { code: issue.code, path: issue.path, message: issue.message };
  const { signalGraph } = task;
  const graph = signalGraph && ({ ...signalGraph, strategy: stripped(signalGraph.strategy, rule) } as SignalGraph);
  const overrides = Object.entries(task.config.overrides ?? {}).filter(([pointer]) => !leadsInto(pointer, rule));
  return {
    ...task,
    strategyAst,
    ...(graph && { signalGraph: graph }),
    config: { ...task.config, overrides: Object.fromEntries(overrides) },
  };
}

function stripped<S extends { readonly risk?: object }>(strategy: S, rule: RiskRule): S {
  const { [rule]: _, ...risk } = (strategy.risk ?? {}) as Record<string, unknown>;
  return { ...strategy, risk };
}

function leadsInto(pointer: string, rule: RiskRule): boolean {
  const [, strategy, risk, member] = overriddenPath(pointer) ?? [];
  return strategy === 'strategy' && risk === 'risk' && member === rule;
}
