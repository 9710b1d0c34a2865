// `rebalance`: a rebalance has made the holding smaller (portfolios).
import { exitReason } from './exitReason.ts';

export const rebalanceExit = exitReason({
  reason: 'rebalance',
  code: 10,
  shown: 'Rebalanced',
  order: 'market',
  names: null,
  endsWithData: false,
});
