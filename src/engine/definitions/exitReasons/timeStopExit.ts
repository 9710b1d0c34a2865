// `time_stop`: the position was held for maxBars (semantics §2.10).
import { exitReason } from './exitReason.ts';

export const timeStopExit = exitReason({
  reason: 'time_stop',
  code: 5,
  shown: 'Time stop',
  order: 'market',
  names: null,
  endsWithData: false,
});
