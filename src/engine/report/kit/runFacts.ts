// The facts in the head of every report: market, costs, fills, capital and parameters of a config.
import { policyInForce, symbolsOf, type FeeModel, type ResolvedConfig } from '../../config.ts';
import { slippageKindOf } from '../../definitions/slippage/slippageKinds.ts';
import { html, NOTHING, type Html } from './html.ts';
import { count, fixed, rate, trimmed } from './numberText.ts';

/** More would fill the heading. */
const MOST_SYMBOLS = 8;

export type Fact = readonly [name: string, value: string];

interface Header {
  /** What kind of report it is. */
  readonly kind: string;
  readonly title: string;
  /** Shown after the title, dimmed; null: nothing. */
  readonly about: string | null;
  readonly facts: readonly Fact[];
}

export function pageHeader({ kind, title, about, facts }: Header): Html {
  return html`<header>
    <p class="eyebrow">${kind}</p>
    <h1>${title}${about === null ? NOTHING : html` <small>${about}</small>`}</h1>
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </header> `;
}

/** The instruments of a config in a few words. */
export function marketText(config: ResolvedConfig): string {
  const symbols = symbolsOf(config);
  return symbols.length <= MOST_SYMBOLS ? symbols.join(', ') : `${count(symbols.length)} instruments`;
}

/** @param quote the currency of the capital, where it is known */
export const configFacts = (config: ResolvedConfig, quote: string | null | undefined): Fact[] => [
  ['Costs', costsOf(config)],
  ['Fills', fillsOf(config)],
  ['Capital', `${fixed(config.initialBalance, 0)} ${quote ?? ''}`.trim()],
  ...parametersOf(config),
];

function costsOf(config: ResolvedConfig): string {
  const { execution, leverage, fundingRate, borrowRatePerYear, dividends = [], dividendColumn } = config;
  const { tiers } = execution.feeModel;
  const [{ makerRate, takerRate }] = tiers;
  const first = makerRate === takerRate ? rate(takerRate) : `maker ${rate(makerRate)}, taker ${rate(takerRate)}`;
  const perOrder = perOrderOf(execution.feeModel);
  const isFree = tiers.every((tier) => tier.makerRate === 0 && tier.takerRate === 0);
  const rates = tiers.length === 1 ? `fees ${first}` : `fees from ${first} in ${tiers.length} tiers`;
  const fees = !isFree ? [rates] : perOrder.length === 0 ? ['no fees'] : [];
  const funding = fundingRate === 0 ? [] : [`funding ${rate(fundingRate)} per 8 h`];
  const borrowing = borrowRatePerYear === undefined ? [] : [`borrowing ${rate(borrowRatePerYear)} per year`];
  const paid = [
    ...(dividends.length === 0 ? [] : [`${count(dividends.length)} dividends`]),
    ...(dividendColumn === undefined ? [] : [`dividends of column ${dividendColumn}`]),
  ];
  const margin = leverage === 1 ? [] : [`leverage ${trimmed(leverage, 2)}×`];
  const { slippage } = execution;
  const slipped = slippageKindOf(slippage).shown(slippage, (number) => trimmed(number, 4));
  return [...fees, ...perOrder, slipped, ...funding, ...borrowing, ...paid, ...margin].join(', ');
}

/** What orders pay beside the rates of the tiers. */
function perOrderOf({ perUnit, perOrder, minPerOrder, maxPerOrder, maxRate }: FeeModel): string[] {
  const amount = (value: number | undefined, text: (amount: string) => string): string[] =>
    value === undefined ? [] : [text(trimmed(value, 6))];
  const limit = maxRate === undefined ? [] : [`at most ${rate(maxRate)} of an order`];
  return [
    ...amount(perUnit, (text) => `fees ${text} per unit`),
    ...amount(perOrder, (text) => `fees ${text} per order`),
    ...amount(minPerOrder, (text) => `at least ${text} per order`),
    ...amount(maxPerOrder, (text) => `at most ${text} per order`),
    ...limit,
  ];
}

function fillsOf(config: ResolvedConfig): string {
  const timing = config.execution.orderTiming === 'next_open' ? 'at the next open' : "at the signal's close";
  return `${timing}; ${policyInForce(config).replace('_', ' ')} inside a bar`;
}

function parametersOf({ params, overrides }: ResolvedConfig): Fact[] {
  const set = { ...params, ...overrides };
  const texts = Object.entries(set).map(([name, value]) => `${name} = ${value}`);
  return texts.length === 0 ? [] : [['Parameters', texts.join(', ')]];
}
