// Explain, for portfolios: what happens at one instant, in words, in the order of semantics §8.3.
import type { RunnableAllocation, RunnableStrategy } from '../language/grammar/ast.ts';
import { textOf } from '../language/grammar/nodeTexts.ts';

/** More symbols would hide what follows them. */
const SHOWN_SYMBOLS = 20;

/** @param symbols in the order of the list; null: only the config of a run names them */
export function explainPortfolio(strategy: RunnableStrategy, symbols: readonly string[] | null): string {
  const { allocation } = strategy;
  const head = [instrumentsText(symbols), 'At each instant, for the instruments that have a bar there:'];
  const steps = allocation === null ? rulesLines(strategy) : allocationLines(allocation);
  return `${[...head, ...steps].join('\n')}\n`;
}

function instrumentsText(symbols: readonly string[] | null): string {
  const one = 'one account, one plan, evaluated on the bars of each';
  if (symbols === null) return `Portfolio of config.instruments: ${one}`;
  const more = symbols.length > SHOWN_SYMBOLS ? `, and ${symbols.length - SHOWN_SYMBOLS} more` : '';
  return `Portfolio of ${symbols.length} instruments: ${symbols.slice(0, SHOWN_SYMBOLS).join(', ')}${more}; ${one}`;
}

function rulesLines({ entries }: RunnableStrategy): readonly string[] {
  const ranks = entries.map(({ rank }, index) => {
    if (rank === undefined) return `  rank    entry ${index}: no rank; the order of the list decides`;
    return `  rank    entry ${index}: the largest ${textOf(rank)} first, missing last, ties in the order of the list`;
  });
  return [
    '  open    exits ordered before; entries ordered before, by instant, then rank; levels; pending orders',
    '  inside  levels and pending orders, one instrument after the other in the order of the list',
    '  close   exit rules and time stops of all; then the entries of all together, one per instrument',
    ...ranks,
    '  slots   config.portfolio.slots bounds positions plus pending orders of the account; absent: no bound',
  ];
}

function allocationLines({ when, long, short, weights, fallback, bandPercent }: RunnableAllocation): readonly string[] {
  const gross = typeof weights.grossPercent === 'number' ? weights.grossPercent : textOf(weights.grossPercent);
  const most = weights.maxPercent === undefined ? '' : `, at most ${weights.maxPercent} % each`;
  const by = 'by' in weights ? ` by ${textOf(weights.by)}` : '';
  return [
    '  open    reductions of the last rebalance; once all of them have filled, its additions; levels',
    `  close   exits of risk; then a rebalance, if this is true for any instrument: ${textOf(when)}`,
    ...(long === undefined ? [] : [legLine('long', long, long.top, long.topPercent)]),
    ...(short === undefined ? [] : [legLine('short', short, short.bottom, short.bottomPercent)]),
    `  weights ${weights.mode}${by}, gross ${gross} % of equity${most}`,
    `  empty   places that fail require or stay empty are ${fallback === undefined ? 'cash' : `held in ${fallback}`}`,
    ...(bandPercent > 0 ? [`  band    nothing is traded while every weight is within ${bandPercent} % of equity`] : []),
  ];
}

function legLine(
  side: 'long' | 'short',
  { by, where, require, keepWithin }: NonNullable<RunnableAllocation['long' | 'short']>,
  count: number | undefined,
  percent: number | undefined,
): string {
  const places = count ?? (percent === undefined ? 'all' : `${percent} %`);
  const ranked = by === undefined ? '' : ` with the ${side === 'long' ? 'largest' : 'smallest'} ${textOf(by)}`;
  const parts = [
    ...(where === undefined ? [] : [`of those where ${textOf(where)}`]),
    ...(keepWithin === undefined ? [] : [`holdings stay within rank ${keepWithin}`]),
    ...(require === undefined ? [] : [`then each must have ${textOf(require)}`]),
  ];
  return [`  ${side.padEnd(7)} ${places}${ranked}`, ...parts].join('; ');
}
