// `dropped`: a rebalance has closed the holding (portfolios).
import { exitReason } from './exitReason.ts';

export const droppedExit = exitReason({
  reason: 'dropped',
  code: 11,
  shown: 'Dropped',
  order: 'market',
  names: null,
  endsWithData: false,
});
