// `take_profit`: the price reached a step of the ladder (semantics §2.5).
import { exitReason } from './exitReason.ts';

export const takeProfitExit = exitReason({
  reason: 'take_profit',
  code: 2,
  shown: 'Take profit',
  order: 'risk',
  names: 'target',
  endsWithData: false,
});
