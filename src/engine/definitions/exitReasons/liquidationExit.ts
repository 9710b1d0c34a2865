// `liquidation`: the account could not carry its positions (semantics §4.5).
import { exitReason } from './exitReason.ts';

export const liquidationExit = exitReason({
  reason: 'liquidation',
  code: 7,
  shown: 'Liquidation',
  order: 'risk',
  names: null,
  endsWithData: false,
});
