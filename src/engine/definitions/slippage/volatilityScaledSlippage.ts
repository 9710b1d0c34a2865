// `volatility_scaled`: a multiple of how much the last closed bars move (semantics §4.4).
import { z } from 'zod';
import { slippageKind } from './slippageKind.ts';

const DEFAULT_PERIOD = 14;

export const volatilityScaledSlippage = slippageKind({
  kind: 'volatility_scaled',
  members: {
    reference: z.enum(['atr_pct', 'bar_range_pct']),
    multiplier: z.number().min(0).max(100),
    /** Bars of the ATR for atr_pct. */
    atrPeriod: z.int().min(1).max(10_000).optional(),
  },
  note: null,
  shown: ({ reference, multiplier, atrPeriod = DEFAULT_PERIOD }, text) =>
    `slippage ${text(multiplier)} × ${reference === 'atr_pct' ? `ATR(${atrPeriod})` : 'bar range'}`,
  isFree: ({ multiplier }) => multiplier === 0,
  multiplied: (slippage, factor) => ({ ...slippage, multiplier: slippage.multiplier * factor }),
  atrPeriod: ({ reference, atrPeriod }) => (reference === 'atr_pct' ? (atrPeriod ?? DEFAULT_PERIOD) : null),
  tickMember: () => null,
  meant: () => null,
  bind: ({ reference, multiplier }, { bars: { high, low, close }, atr }) => {
    const readsAtr = reference === 'atr_pct';
    if (readsAtr && atr === null) throw new Error('Slippage by atr_pct needs the ATR column of the base bars.');
    return (price, direction, closedRow) => {
      if (closedRow < 0) return price;
      const range = readsAtr ? atr![closedRow] : high[closedRow] - low[closedRow];
      const fraction = (multiplier * range) / close[closedRow];
      // When the bar or its ATR is missing, nothing is added.
      return Number.isFinite(fraction) ? Math.max(0, price * (1 + direction * fraction)) : price;
    };
  },
});
