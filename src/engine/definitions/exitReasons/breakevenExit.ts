// `breakeven`: the price fell back to the break-even stop (semantics §2.5).
import { exitReason } from './exitReason.ts';

export const breakevenExit = exitReason({
  reason: 'breakeven',
  code: 4,
  shown: 'Break-even stop',
  order: 'risk',
  names: null,
  endsWithData: false,
});
