// The registry of slippage kinds, in the order in which capabilities list them.
import { fixedSlippage } from './fixedSlippage.ts';
import { noSlippage } from './noSlippage.ts';
import type { SlippageKind } from './slippageKind.ts';
import { volatilityScaledSlippage } from './volatilityScaledSlippage.ts';

export const SLIPPAGE_KINDS = [noSlippage, fixedSlippage, volatilityScaledSlippage] as const;

const BY_NAME: ReadonlyMap<string, SlippageKind> = new Map(SLIPPAGE_KINDS.map((each) => [each.kind, each]));

export const slippageKindOf = ({ kind }: { readonly kind: (typeof SLIPPAGE_KINDS)[number]['kind'] }): SlippageKind =>
  BY_NAME.get(kind)!;
