// Data quality of a portfolio run: the counts of all instruments, and the first outliers with their symbols.
import { dataQuality, MAX_OUTLIERS, type DataQuality } from '../dataQuality.ts';
import type { PortfolioRun } from '../reportInput.ts';

/** Counts are summed, and the longest gap is that of any; the finest timeframe is null where instruments differ. */
export function summedDataQuality({ instruments, bySymbol, isNamed }: PortfolioRun): DataQuality {
  const blocks = bySymbol.map((index) => {
    const { symbol, input, firstRow, endRow } = instruments[index];
    return { symbol, block: dataQuality(input.bars, input.fine, firstRow, endRow, input.instrument) };
  });
  if (!isNamed) return blocks[0].block;
  const sum = (read: (block: DataQuality) => number): number =>
    blocks.reduce((total, { block }) => total + read(block), 0);
  const fine = new Set(blocks.map(({ block }) => block.fineTimeframe));
  return {
    bars: sum(({ bars }) => bars),
    gaps: sum(({ gaps }) => gaps),
    longestGapBars: blocks.reduce((most, { block }) => Math.max(most, block.longestGapBars), 0),
    ...(blocks.some(({ block }) => block.missingTradingDays !== undefined) && {
      missingTradingDays: sum(({ missingTradingDays = 0 }) => missingTradingDays),
    }),
    zeroVolumeBars: sum(({ zeroVolumeBars }) => zeroVolumeBars),
    flatBars: sum(({ flatBars }) => flatBars),
    outlierCount: sum(({ outlierCount }) => outlierCount),
    outliers: blocks
      .flatMap(({ symbol, block }) => block.outliers.map((outlier) => ({ symbol, ...outlier })))
      .slice(0, MAX_OUTLIERS),
    partialBars: sum(({ partialBars }) => partialBars),
    isResampled: blocks.some(({ block }) => block.isResampled),
    fineTimeframe: fine.size === 1 ? blocks[0].block.fineTimeframe : null,
    contradictedBars: sum(({ contradictedBars }) => contradictedBars),
    isDrillingOff: blocks.some(({ block }) => block.isDrillingOff),
  };
}
