// `linked`: another instrument of its linked group was closed (portfolios).
import { exitReason } from './exitReason.ts';

export const linkedExit = exitReason({
  reason: 'linked',
  code: 9,
  shown: 'Linked instrument closed',
  order: 'market',
  names: null,
  endsWithData: false,
});
