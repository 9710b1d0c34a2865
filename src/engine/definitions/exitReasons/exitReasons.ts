// The registry of exit reasons.
import { breakevenExit } from './breakevenExit.ts';
import { droppedExit } from './droppedExit.ts';
import { endOfDataExit } from './endOfDataExit.ts';
import type { ExitReasonDefinition } from './exitReason.ts';
import { linkedExit } from './linkedExit.ts';
import { liquidationExit } from './liquidationExit.ts';
import { rebalanceExit } from './rebalanceExit.ts';
import { reversalExit } from './reversalExit.ts';
import { signalExit } from './signalExit.ts';
import { stopLossExit } from './stopLossExit.ts';
import { takeProfitExit } from './takeProfitExit.ts';
import { timeStopExit } from './timeStopExit.ts';
import { trailingStopExit } from './trailingStopExit.ts';

const DEFINITIONS = [
  signalExit,
  stopLossExit,
  takeProfitExit,
  trailingStopExit,
  breakevenExit,
  timeStopExit,
  reversalExit,
  liquidationExit,
  endOfDataExit,
  linkedExit,
  rebalanceExit,
  droppedExit,
] as const;
export type ExitReason = (typeof DEFINITIONS)[number]['reason'];

const BY_CODE = DEFINITIONS.toSorted((a, b) => a.code - b.code);
/** By code, as in stored results. */
export const EXIT_REASONS: readonly ExitReason[] = BY_CODE.map(({ reason }) => reason);

const BY_NAME: ReadonlyMap<ExitReason, ExitReasonDefinition> = new Map(BY_CODE.map((each) => [each.reason, each]));
export const exitReasonOf = (reason: ExitReason): ExitReasonDefinition => BY_NAME.get(reason)!;
