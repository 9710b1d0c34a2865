// `reverse`: an entry of the other side closes or reverses the position (semantics §2.3).
import { exitReason } from './exitReason.ts';

export const reversalExit = exitReason({
  reason: 'reverse',
  code: 6,
  shown: 'Reversal',
  order: 'market',
  names: null,
  endsWithData: false,
});
