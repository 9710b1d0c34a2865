// Every accelerator beside the place where the engine tries it. src/engine/backtest.ts imports this file; nothing else
// in the engine does, and everything works without it (test/engine/fast/).
import { FLAW_COUNTS } from '../bars/flaws.ts';
import { CANDIDATES } from '../bars/outliers.ts';
import type { Accelerator } from '../kernels/accelerator.ts';
import { COMPARISONS } from '../kernels/compare.ts';
import { RANGE_PLACES } from '../kernels/placeInRange.ts';
import { RECURSIONS } from '../kernels/recursion.ts';
import { EXTREMES } from '../kernels/rollingExtremes.ts';
import { MEANS, SUMS } from '../kernels/rollingSums.ts';
import { BANDS, VARIANCES } from '../kernels/rollingVariance.ts';
import { STEPS } from '../patterns/programSteps.ts';
import { VALUES } from '../patterns/signs.ts';
import { PLANS } from '../plan/planTask.ts';
import { DECIMALS } from '../report/jsonWriter.ts';
import { SPLIT_TEXTS } from '../report/splitText.ts';
import { TRADES } from '../simulate/createRun.ts';
import { SCANS } from '../simulate/rowScan.ts';
import { countFlat, countZeroVolume, nextOutlying } from './barScans/kernelScans.ts';
import { kernelScans } from './barScans/kernelScans.ts';
import { writePlaces } from './columns/rangePlaces.ts';
import { writeMeans, writeSums } from './columns/sums.ts';
import { writeBands, writeVariances } from './columns/variances.ts';
import { compareWithKernel } from './comparisons/compareRows.ts';
import { writeDecimals } from './decimals/decimals.ts';
import { joinWithKernel, splitWithKernel } from './digits/digits.ts';
import { writeExtremes } from './extremes/blockExtremes.ts';
import { writeSignValues } from './patterns/signValues.ts';
import { runStepKernels } from './patterns/steps.ts';
import { planFromTemplate } from './planTemplates/planCache.ts';
import { recursionInParts } from './recursions/parts.ts';
import { roundTrips } from './roundTrips/roundTrips.ts';

const SWITCHES: readonly ((isOn: boolean) => void)[] = [
  switchOf(SUMS, writeSums),
  switchOf(MEANS, writeMeans),
  switchOf(VARIANCES, writeVariances),
  switchOf(BANDS, writeBands),
  switchOf(EXTREMES, writeExtremes),
  switchOf(RANGE_PLACES, writePlaces),
  switchOf(RECURSIONS, recursionInParts),
  switchOf(COMPARISONS, compareWithKernel),
  switchOf(STEPS, runStepKernels),
  switchOf(VALUES, writeSignValues),
  switchOf(PLANS, planFromTemplate),
  switchOf(FLAW_COUNTS, { zeroVolume: countZeroVolume, flat: countFlat }),
  switchOf(CANDIDATES, nextOutlying),
  switchOf(SCANS, kernelScans),
  switchOf(TRADES, roundTrips),
  switchOf(DECIMALS, writeDecimals),
  switchOf(SPLIT_TEXTS, { apart: splitWithKernel, together: joinWithKernel }),
];

function switchOf<Fast>(accelerator: Accelerator<Fast>, fast: Fast): (isOn: boolean) => void {
  return (isOn) => accelerator.install(isOn ? fast : null);
}

let areOn = false;

/** Switches all accelerators of this thread on or off; they are on at first. */
export function accelerate(isOn: boolean): void {
  areOn = isOn;
  for (const turn of SWITCHES) turn(isOn);
}
accelerate(true);

/** What `run` returns without accelerators. It must end before it returns. */
export function withoutAccelerators<Result>(run: () => Result): Result {
  const before = areOn;
  accelerate(false);
  try {
    return run();
  } finally {
    accelerate(before);
  }
}
