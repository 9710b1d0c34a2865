// The strategy of a run: its rules in words, and as the JSON that its author sent.
import type { Settings, StrategyAst } from '../../language/grammar/ast.ts';
import type {
  RunnableAllocation,
  RunnableEntry,
  RunnableExit,
  RunnableRisk,
  RunnableStrategy,
  RunnableValue,
} from '../../language/grammar/ast.ts';
import { textOf, wholeTextOf } from '../../language/grammar/nodeTexts.ts';
import { distanceLevel, stopLevel, triggerLevel, type WrittenLevel } from '../../language/grammar/writtenLevels.ts';
import { sizingModeOf } from '../../definitions/sizing/sizingModes.ts';
import { entryParts } from '../../plan/ruleConditions.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, type Html } from '../kit/html.ts';
import { count, trimmed } from '../kit/numberText.ts';

/** A longer strategy would be most of the page; the versions of a strategy have all of it. */
const MOST_JSON = 64 * 1024;

/** The strategy as its author sent it. */
export interface SentStrategy {
  readonly settings: Settings;
  readonly strategyAst: StrategyAst;
}

/** @param sent null: only its rules are known */
export function strategySection({ report }: CompletedRun, sent: SentStrategy | null): Html {
  const { strategy, warmup } = report;
  const lines = [
    ...strategy.entries.map((entry) => entryLine(entry, strategy.entries.length)),
    ...strategy.exits.map(exitLine),
    ...(strategy.allocation === null ? [] : allocationLines(strategy.allocation)),
    ...riskLines(strategy.risk),
    ...limitLines(strategy, warmup.bars),
  ];
  const items = lines.map(
    ({ name, text, parts }) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${text}${parts.map((part) => html`<code>${part}</code>`)}</dd>
      </div>`,
  );
  return section(
    { id: 'strategy', title: 'The strategy' },
    html`<dl class="rules">${items}</dl>
      ${jsonPart(sent)}`,
  );
}

function jsonPart(sent: SentStrategy | null): Html {
  if (sent === null) return NOTHING;
  const text = JSON.stringify({ settings: sent.settings, strategyAst: sent.strategyAst }, null, 2);
  if (text.length > MOST_JSON)
    return html`<p class="lead">As JSON it has ${count(text.length)} characters, too many for this page.</p>`;
  return html`<details>
    <summary>As JSON</summary>
    <p class="tools"><button type="button" data-copies="strategy-json">Copy</button></p>
    <pre id="strategy-json" tabindex="0">${text}</pre>
  </details>`;
}

interface RuleLine {
  readonly name: string;
  readonly text: string;
  /** Conditions, each on a line of its own. */
  readonly parts: readonly string[];
}

function entryLine(entry: RunnableEntry, entries: number): RuleLine {
  const { side, sizing, order } = entry.action;
  const { unit, mode } = sizingModeOf(sizing.mode);
  const size = 'value' in sizing ? amountOf(sizing.value, unit) : '';
  const how =
    order.type === 'market'
      ? 'at market'
      : `by a ${order.type} order at ${textOf(order.price)} that lives ${plural(order.expireBars, 'bar')}`;
  const more = [
    ...(entry.cooldownBars > 0 ? [`at least ${plural(entry.cooldownBars, 'bar')} after the last exit`] : []),
    ...(entry.conflict === 'ignore' ? [] : [`an open opposite position: ${entry.conflict}`]),
    ...(entry.rank === undefined ? [] : [`signals ranked by ${textOf(entry.rank)}`]),
  ];
  const sized = [size, `(${mode.replaceAll('_', ' ')})`].filter((part) => part !== '').join(' ');
  const text = [`${side === 'long' ? 'Buy' : 'Sell short'} ${how}, size ${sized}`, ...more].join('; ');
  return {
    name: entries > 1 && entry.id !== undefined ? `Entry ${entry.id}` : 'Entry',
    text: `${text}, when`,
    parts: entryParts(entry).map(({ role, condition }, at) => {
      const kind = role === 'trigger' ? '' : ` (${role})`;
      return `${at === 0 ? '' : 'and '}${wholeTextOf(condition)}${kind}`;
    }),
  };
}

function exitLine({ id, when, appliesTo, action }: RunnableExit): RuleLine {
  const share = action.value === 100 ? 'the position' : `${action.value} (${action.mode.replaceAll('_', ' ')})`;
  const whose = appliesTo === 'any' ? '' : ` of ${appliesTo}s`;
  return {
    name: id === undefined ? 'Exit' : `Exit ${id}`,
    text: `Close ${share}${whose}, when`,
    parts: [wholeTextOf(when)],
  };
}

function allocationLines({ when, long, short, weights, fallback, bandPercent }: RunnableAllocation): RuleLine[] {
  const leg = (
    side: string,
    { by, where, require, keepWithin }: NonNullable<RunnableAllocation['long' | 'short']>,
    places: number | undefined,
    percent: number | undefined,
  ): RuleLine => {
    const ranked = by === undefined ? '' : ` with the ${side === 'Long' ? 'largest' : 'smallest'} ${textOf(by)}`;
    const kept = keepWithin === undefined ? '' : `; holdings stay within rank ${keepWithin}`;
    const number = places === undefined ? (percent === undefined ? 'All' : `${percent} %`) : String(places);
    return {
      name: side,
      text: `${number} of the instruments${ranked}${kept}`,
      parts: [
        ...(where === undefined ? [] : [`of those where ${wholeTextOf(where)}`]),
        ...(require === undefined ? [] : [`only with ${wholeTextOf(require)}`]),
      ],
    };
  };
  const gross = typeof weights.grossPercent === 'number' ? `${weights.grossPercent} %` : textOf(weights.grossPercent);
  const most = weights.maxPercent === undefined ? '' : `, at most ${weights.maxPercent} % each`;
  const by = 'by' in weights ? ` by ${textOf(weights.by)}` : '';
  const band = bandPercent > 0 ? `; nothing is traded while every weight is within ${bandPercent} % of equity` : '';
  const rest = fallback === undefined ? 'cash' : fallback;
  return [
    { name: 'Rebalance', text: 'When', parts: [wholeTextOf(when)] },
    ...(long === undefined ? [] : [leg('Long', long, long.top, long.topPercent)]),
    ...(short === undefined ? [] : [leg('Short', short, short.bottom, short.bottomPercent)]),
    {
      name: 'Weights',
      text: `${weights.mode.replaceAll('_', ' ')}${by}, ${gross} of equity together${most}; the rest is ${rest}${band}`,
      parts: [],
    },
  ];
}

function riskLines({ stopLoss, takeProfits, trailingStop, breakeven, timeStop }: RunnableRisk): RuleLine[] {
  const line = (name: string, text: string): RuleLine => ({ name, text, parts: [] });
  return [
    ...(stopLoss === undefined ? [] : [line('Stop loss', levelText(stopLevel(stopLoss)))]),
    ...takeProfits.map((target) => {
      const closes = target.closePercent === 100 ? '' : `, closes ${target.closePercent} % of the ${target.closeBasis}`;
      const moves = target.moveStopToBreakeven ? ', moves the stop to the entry price' : '';
      return line('Take profit', `${levelText(triggerLevel(target))}${closes}${moves}`);
    }),
    ...(trailingStop === undefined
      ? []
      : [line('Trailing stop', `${levelText(distanceLevel(trailingStop))}${startsText(trailingStop)}`)]),
    ...(breakeven === undefined
      ? []
      : [line('Break-even', `${breakeven.offsetPercent} % beyond the entry price${startsText(breakeven)}`)]),
    ...(timeStop === undefined ? [] : [line('Time stop', `After ${plural(timeStop.maxBars, 'bar')}`)]),
  ];
}

const startsText = ({ activateAfterPercent }: { readonly activateAfterPercent?: number | undefined }): string =>
  activateAfterPercent === undefined ? '' : `, from a gain of ${activateAfterPercent} % on`;

function levelText({ level, number, period, price }: WrittenLevel): string {
  if (price !== null) return `At ${valueText(price)}`;
  const amount = trimmed(number, 4);
  switch (level.unit) {
    case 'percentPoints':
      return `${amount} % away`;
    case 'atrs':
      return `${amount} × ATR(${period}) away`;
    case 'risks':
      return `${amount} × the distance to the stop`;
    case 'money':
      return `${amount} of the price away`;
    case 'prices':
      return `At ${amount}`;
  }
}

const valueText = (value: RunnableValue): string => textOf(value);

function limitLines({ maxConcurrentPositions }: RunnableStrategy, warmupBars: number): RuleLine[] {
  const most =
    maxConcurrentPositions === 1 ? 'one position at a time' : `${maxConcurrentPositions} positions at a time`;
  return [{ name: 'Limits', text: `At most ${most}; no signal in the first ${plural(warmupBars, 'bar')}`, parts: [] }];
}

const plural = (amount: number, what: string): string => `${count(amount)} ${what}${amount === 1 ? '' : 's'}`;

function amountOf(value: number, unit: 'units' | 'money' | 'percentPoints'): string {
  return unit === 'percentPoints' ? `${trimmed(value, 4)} %` : trimmed(value, 4);
}
