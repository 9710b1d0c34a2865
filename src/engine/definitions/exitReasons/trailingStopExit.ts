// `trailing_stop`: the price fell back to the trailing stop (semantics §2.5).
import { exitReason } from './exitReason.ts';

export const trailingStopExit = exitReason({
  reason: 'trailing_stop',
  code: 3,
  shown: 'Trailing stop',
  order: 'risk',
  names: null,
  endsWithData: false,
});
