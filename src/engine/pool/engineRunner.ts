// The engine as the pool's threads import it: the one seam between the pool and what it runs.
import { buildArtifact as build } from '../report/artifacts.ts';
import { chartLibrary } from './chartLibrary.ts';
import type { Runner } from './messages.ts';

export { runBacktest } from '../backtest.ts';

export const buildArtifact: Runner['buildArtifact'] = (task, market, control, request) =>
  build(task, market, control, request, request.name === 'report' ? chartLibrary() : '');
