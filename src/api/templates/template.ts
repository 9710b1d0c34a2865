// Template: a built-in strategy that trades as it stands, to be copied and changed.
import { checkStrategy } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import type { Payloads } from '../strategies/strategyChecks.ts';

export const TEMPLATE_CATEGORIES = ['trend', 'mean_reversion', 'breakout', 'momentum', 'pattern', 'pairs'] as const;
type Json = Readonly<Record<string, unknown>>;

export interface Template {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly category: (typeof TEMPLATE_CATEGORIES)[number];
  /** Lower case. */
  readonly tags: readonly string[];
  readonly settings: Json;
  /** One of the two; the format the strategy reads best in. */
  readonly strategyAst?: Json;
  readonly signalGraph?: Json;
  /** Config of a backtest over shipped data in which it trades. */
  readonly suggestedConfig: Json;
}

/** The members of a request that creates a strategy from the template. */
export const payloadsOf = ({ settings, strategyAst, signalGraph }: Template): Payloads => ({
  settings,
  ...(strategyAst && { strategyAst }),
  ...(signalGraph && { signalGraph }),
});

const compiled = new WeakMap<Template, Json>();

/** Its AST as written, or what its graph compiles to. Templates are valid (a test), so there always is one. */
export function compiledAst(template: Template): Json {
  if (template.strategyAst) return template.strategyAst;
  let ast = compiled.get(template);
  if (ast === undefined) {
    const outcome = checkStrategy(payloadsOf(template), { limits: TIER_LIMITS.free });
    if (outcome.compiled === null) throw new Error(`template ${template.key} does not compile`);
    compiled.set(template, (ast = { ...outcome.compiled.strategyAst }));
  }
  return ast;
}

/**
 * Costs that a retail account pays, without being those of any one venue: 0.1 % per side for crypto, a tenth of that
 * elsewhere.
 */
export const suggestedConfig = (symbol: string, timeframe: string, feeRate = 0.0001): Json => ({
  timeframe,
  signalInstrument: { symbol },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: feeRate, takerRate: feeRate }],
    },
    slippage: { kind: 'fixed', unit: 'bps', value: 1 },
  },
});
