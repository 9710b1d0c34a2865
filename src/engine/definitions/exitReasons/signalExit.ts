// `signal`: an exit rule was true at a close (semantics §2.8).
import { exitReason } from './exitReason.ts';

export const signalExit = exitReason({
  reason: 'signal',
  code: 0,
  shown: 'Exit rule',
  order: 'market',
  names: 'exit',
  endsWithData: false,
});
