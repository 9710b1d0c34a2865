// `end_of_data`: the last close, with the position still open (semantics §2.10).
import { exitReason } from './exitReason.ts';

export const endOfDataExit = exitReason({
  reason: 'end_of_data',
  code: 8,
  shown: 'End of the data',
  order: 'market',
  names: null,
  endsWithData: true,
});
