// Meanings under repair: bodies around one section, what their patches alone make of them, and whether it trades alike.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { checkStrategy, createMarket, runBacktest, type BacktestConfig } from '../../src/engine/index.ts';
import { randomSnapshot } from './bars.ts';
import { astOf, compare, entry, exit, market, sma, type Json } from './builders.ts';

const MAX_ROUNDS = 8;
const BARS = createMarket([randomSnapshot({ symbol: 'LAW', count: 400, seed: 3 })], 'LAW', '1h');
const CONFIG: BacktestConfig = { timeframe: '1h', signalInstrument: { symbol: 'LAW' }, initialBalance: 10_000 };

export interface Body {
  readonly settings: object;
  readonly strategyAst?: Json;
  readonly signalGraph?: Json;
}

export const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** The trades of the payload that a body holds. */
export function tradesOf(body: Body): unknown {
  const { compiled } = checkStrategy(body);
  const task = { id: 'law', strategyAst: compiled!.strategyAst, settings: body.settings, config: CONFIG };
  const outcome = runBacktest({ ...task, strategyHash: 'law' }, BARS, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.trades;
}

/** The body once its patches are applied, round by round; null while an error has none. */
export function patched(body: Body): Body | null {
  let copy = copied(body);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { valid, issues } = checkStrategy(copy);
    if (valid) return copy;
    const steps = issues.flatMap(({ severity, patch }) => (severity === 'error' && patch ? [patch] : []));
    if (steps.length === 0) return null;
    for (const patch of steps) {
      try {
        copy = jsonPatch.applyPatch(copied(copy), copied(patch) as Operation[]).newDocument;
      } catch {
        continue;
      }
    }
  }
  return null;
}

/** What is wrong with the repair of `broken`, whose meaning is that of `meant`; null: its meaning is not certain. */
export function faultOf(broken: Body, meant: Body | null): string | undefined {
  const repaired = patched(broken);
  if (repaired === null) return undefined;
  if (meant === null) return `became valid: ${JSON.stringify(repaired)}`;
  const isSame = JSON.stringify(tradesOf(repaired)) === JSON.stringify(tradesOf(meant));
  return isSame ? undefined : `trades as something else: ${JSON.stringify(repaired)}`;
}

export const dip = compare(market(), 'lt', sma(5));
export const peak = compare(market(), 'gt', sma(5));
export const bodyOf = (sections: object): Body => ({ settings: {}, strategyAst: astOf(sections) });

export const sized = (sizing: object, action: object = {}): Body =>
  bodyOf({
    entry: entry(dip, { action: { side: 'long', sizing, ...action } }),
    exits: [exit(peak)],
    risk: { stopLoss: { mode: 'percent', value: 4 } },
  });
export const risked = (risk: object): Body => bodyOf({ entry: entry(dip), risk });
export const triggered = (trigger: Json): Body => bodyOf({ entry: entry(trigger), exits: [exit(peak)] });
