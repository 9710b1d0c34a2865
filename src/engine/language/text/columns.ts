// Columns: the indicator call that the name of a column means, such as `ema_50`, `ha_close` or `bb_lowerband`.
import type { IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { synonymousIndicator, synonymousOutput } from '../hints/indicatorSynonyms.ts';
import { synonymIn } from '../hints/synonyms.ts';
import { MARKET_FIELDS, STATE_FIELDS } from '../../definitions/words.ts';
import { plain } from '../issues/nearest.ts';
import { addMember, replaceMember, type PatchOperation } from '../issues/patch.ts';

export interface Column {
  readonly kind: 'indicator';
  readonly indicator: string;
  readonly args: { readonly length?: number; readonly source?: string };
  readonly output?: string;
}

/** `ema_50` or `ema50`; `ta.ema(50)`, or with a field of the bar, `ema(close, 50)`. */
const CALL = /^(?:\w+\.)?([a-z]+)(?:_?(\d{1,4})|\(\s*(?:([a-z]+\d?)\s*,\s*)?(\d{1,4})\s*\))$/i;
/** No name of an indicator with one of its outputs is longer. */
const MAX_NAME = 64;

/** The indicator call that a column's name, a call such as `ema(50)`, or an indicator with its output stands for. */
export function columnMeant(word: string): Column | undefined {
  if (word.length > MAX_NAME) return undefined;
  const [, name, column, field = 'close', argument] = CALL.exec(word) ?? [];
  const length = column ?? argument;
  const definition = name === undefined ? undefined : findIndicator(name);
  if (definition === undefined) return outputColumn(word);
  const takesLength = definition.args.some((one) => one.name === 'length') && definition.outputs.length === 1;
  const isRead = field === 'close' || (isField(field) && definition.inputs.join() === 'source');
  if (!takesLength || !isRead) return undefined;
  const args = { length: Number(length), ...(field !== 'close' && { source: field }) };
  return { kind: 'indicator', indicator: definition.id, args };
}

const isField = (word: string): boolean => (MARKET_FIELDS as readonly string[]).includes(word);

/** One of several outputs with its indicator before it: `ha_close`, `haClose`, `bb_lowerband`, `macd_signal`. */
function outputColumn(word: string): Column | undefined {
  const parts = word.replaceAll(/([a-z])([A-Z])/g, '$1_$2').split(/[\s_.-]+/);
  for (let at = parts.length - 1; at > 0; at--) {
    const name = parts.slice(0, at).join('_');
    const definition = findIndicator(synonymousIndicator(name) ?? name);
    if (definition === undefined || definition.outputs.length === 1) continue;
    const tail = parts.slice(at).join('_');
    const output =
      definition.outputs.find((one) => plain(one.name) === plain(tail))?.name ?? outputMeant(tail, definition);
    if (output !== undefined) return { kind: 'indicator', indicator: definition.id, args: {}, output };
  }
  return undefined;
}

/** The output that another library's name stands for, or ours with the indicator's: `upper_band`, `macd_signal`. */
export function outputMeant(word: string, { id, outputs, talib }: IndicatorDefinition): string | undefined {
  const wanted = plain(word);
  const named = outputs.find(({ name }, at) =>
    [talib?.outputs?.[at] ?? '', `${id}${name}`, `${name}band`, `${name}line`].some((one) => plain(one) === wanted),
  );
  return named?.name ?? synonymousOutput(id, word);
}

/** The indicator that an author reads as a field of the bar: `vwap`, `sma_50`, `ha_close`. */
export function fieldColumn(word: string): Column | undefined {
  const definition = findIndicator(synonymousIndicator(word) ?? word);
  if (definition?.outputs.length === 1) return { kind: 'indicator', indicator: definition.id, args: {} };
  return columnMeant(word);
}

/** The steps that make a call of the node at `pointer`, whose kind is another. */
export const asCall = (pointer: string, { kind, ...members }: Column): PatchOperation[] => [
  replaceMember(pointer, 'kind', kind),
  ...Object.entries(members).map(([name, value]) => addMember(pointer, name, value)),
];

/** The field of a bar or of the state that a word stands for, and the kind that reads it. */
export function fieldMeant(word: string): { readonly kind: 'market' | 'state'; readonly name: string } | undefined {
  const find = (fields: readonly string[]): string | undefined =>
    fields.includes(word) ? word : synonymIn(word, fields);
  const state = find(STATE_FIELDS);
  const name = state ?? find(MARKET_FIELDS);
  return name === undefined ? undefined : { kind: state === undefined ? 'market' : 'state', name };
}
