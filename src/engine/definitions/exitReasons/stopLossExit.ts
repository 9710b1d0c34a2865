// `stop_loss`: the price reached the stop of the stopLoss rule (semantics §2.5).
import { exitReason } from './exitReason.ts';

export const stopLossExit = exitReason({
  reason: 'stop_loss',
  code: 1,
  shown: 'Stop loss',
  order: 'risk',
  names: null,
  endsWithData: false,
});
