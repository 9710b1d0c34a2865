// `none`: fills are at the price itself (semantics §4.4).
import { slippageKind } from './slippageKind.ts';

export const noSlippage = slippageKind({
  kind: 'none',
  members: {},
  note: null,
  shown: () => 'no slippage',
  isFree: () => true,
  multiplied: (slippage) => slippage,
  atrPeriod: () => null,
  tickMember: () => null,
  meant: () => null,
  bind: () => (price) => price,
});
