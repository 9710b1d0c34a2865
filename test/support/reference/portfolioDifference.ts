// Runs a portfolio through the engine and through the reference, and says where they differ first.
import type { PortfolioInput, PortfolioResult } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { countsDiffer, isClose, ordersDiffer, tradesDiffer } from './difference.ts';
import { referencePortfolio, type ReferencePortfolio } from './portfolio.ts';

/** null: nowhere. */
export function portfolioDifference(
  input: PortfolioInput,
  engine: PortfolioResult,
  reference: ReferencePortfolio = referencePortfolio(input),
): string | null {
  return (
    instrumentsDiffer(engine, reference) ??
    tradesDiffer(engine.trades, reference.trades) ??
    numbersDiffer('equity', engine.equity, reference.equity) ??
    perInstrument(input, engine, reference) ??
    numbersDiffer('open positions', engine.openPositions, reference.openPositions) ??
    numbersDiffer('gross exposure', engine.grossExposure, reference.grossExposure) ??
    numbersDiffer('net exposure', engine.netExposure, reference.netExposure) ??
    (engine.weights === null ? null : numbersDiffer('weight', engine.weights, reference.weights.flat())) ??
    totalsDiffer(engine, reference)
  );
}

function instrumentsDiffer(
  { trades, tradeInstruments }: PortfolioResult,
  reference: ReferencePortfolio,
): string | null {
  const at = reference.trades.findIndex(
    ({ instrument, exitRow, exitReason }, index) =>
      index < trades.length &&
      (tradeInstruments[index] !== instrument ||
        trades[index].exitRow !== exitRow ||
        trades[index].exitReason !== exitReason),
  );
  if (at < 0) return null;
  const { exitRow, exitReason } = trades[at];
  const expected = reference.trades[at];
  return [
    `trade ${at}: of instrument ${tradeInstruments[at]}, ${exitReason} in row ${exitRow},`,
    `reference ${expected.instrument}, ${expected.exitReason} in row ${expected.exitRow}`,
  ].join(' ');
}

function numbersDiffer(what: string, engine: ArrayLike<number>, reference: readonly number[]): string | null {
  const at = reference.findIndex((expected, index) => index < engine.length && !isClose(engine[index], expected));
  if (at >= 0) return `${what} at ${at}: ${engine[at]}, reference ${reference[at]}`;
  return engine.length === reference.length ? null : `${what}: ${engine.length}, reference ${reference.length}`;
}

function perInstrument(input: PortfolioInput, engine: PortfolioResult, reference: ReferencePortfolio): string | null {
  for (const [index, expected] of reference.byInstrument.entries()) {
    const entryIds = input.instruments[index].entries.map(({ id }) => id);
    const orders = engine.orders!.filter(({ instrument }) => instrument === index);
    const got = engine.byInstrument[index];
    const difference =
      ordersDiffer(orders, expected.orders, entryIds) ??
      countsDiffer(got, expected) ??
      (got.rankedOut === expected.rankedOut ? null : `ranked out ${got.rankedOut}, reference ${expected.rankedOut}`);
    if (difference !== null) return `instrument ${index}: ${difference}`;
  }
  return null;
}

function totalsDiffer(engine: PortfolioResult, reference: ReferencePortfolio): string | null {
  const { rankedOut: got, contestedFunds, finalBalance } = engine;
  const { rankedOut: expected } = reference;
  if (!isClose(finalBalance, reference.finalBalance))
    return `final balance ${finalBalance}, reference ${reference.finalBalance}`;
  if (contestedFunds !== reference.contestedFunds)
    return `contested funds ${contestedFunds}, reference ${reference.contestedFunds}`;
  const lost = reference.byInstrument.reduce((sum, { rankedOut }) => sum + rankedOut, 0);
  const pairs = {
    count: [got.count, lost],
    atClose: [got.atClose, expected.count],
    atFill: [got.atFill, lost - expected.count],
    largestLost: [got.largestLost, expected.largestLost],
    smallestTaken: [got.smallestTaken, expected.smallestTaken],
    isUnranked: [got.isUnranked, expected.isUnranked],
  };
  for (const [name, [value, wanted]] of Object.entries(pairs))
    if (value !== wanted) return `ranked out, ${name}: ${value}, reference ${wanted}`;
  return null;
}
