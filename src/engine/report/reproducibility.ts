// What identifies a run and its result: hashes of the strategy, the data, the config, all of them, and the result.
import type { Bars, Instrument, Market } from '../bars/bars.ts';
import type { ResolvedConfig } from '../config.ts';
import type { Settings } from '../language/grammar/ast.ts';
import type { BacktestTask, Reproducibility } from '../task.ts';
import { ENGINE_VERSION } from '../version.ts';
import { canonicalJson, hashOf, sha256 } from './canonicalJson.ts';
import type { ReportInput } from './reportInput.ts';

export function reproducibilityOf(
  { strategyHash, settings }: Pick<BacktestTask, 'strategyHash' | 'settings'>,
  market: Market,
  report: ReportInput,
  resultHash: string,
): Reproducibility {
  const dataHash = dataHashOf(market, report);
  const configHash = configHashOf(report.input.config, market.instrument, settings);
  return {
    engineVersion: ENGINE_VERSION,
    strategyHash,
    dataHash,
    configHash,
    runKey: runKeyOf({ engine: ENGINE_VERSION, strategy: strategyHash, data: dataHash, config: configHash }),
    resultHash,
  };
}

interface RunKeyParts {
  readonly engine: string;
  readonly strategy: string;
  readonly data: string;
  readonly config: string;
}

/** `hashOf` of its parts, whose names are written in order. */
export const runKeyOf = ({ engine, strategy, data, config }: RunKeyParts): string =>
  sha256(`{"config":"${config}","data":"${data}","engine":"${engine}","strategy":${JSON.stringify(strategy)}}`);

/** The last config of an instrument, with its settings, and their hash for other params and overrides. */
interface LastConfig {
  readonly config: ResolvedConfig;
  readonly objects: string;
  readonly hashWith: (members: string) => string;
}
const lastConfigs = new WeakMap<Instrument, LastConfig>();

/** `hashOf` of all three. The runs of a batch mostly differ in their params or overrides only. */
export function configHashOf(config: ResolvedConfig, instrument: Instrument, settings: Settings): string {
  const { signalInstrument, range, execution, overrides, params } = config;
  const objects = JSON.stringify([signalInstrument, range, execution, settings]);
  let last = lastConfigs.get(instrument);
  if (last === undefined || last.objects !== objects || !haveSameValues(last.config, config)) {
    const free = { ...config, overrides: null, params: null };
    const hashWith = hashAround({ config: free, instrument, settings }, '"overrides":null,"params":null');
    lastConfigs.set(instrument, (last = { config, objects, hashWith }));
  }
  return last.hashWith(`"overrides":${canonicalJson(overrides)},"params":${canonicalJson(params)}`);
}

/** The members of a config that are no objects: comparing these takes less time than writing them as JSON. */
const VALUES: Record<
  Exclude<keyof ResolvedConfig, 'signalInstrument' | 'range' | 'execution' | 'overrides' | 'params'>,
  true
> = {
  timeframe: true,
  initialBalance: true,
  ambiguityResolution: true,
  ambiguityFallback: true,
  leverage: true,
  maintenanceMarginRate: true,
  fundingRate: true,
};
const VALUE_NAMES = Object.keys(VALUES) as (keyof typeof VALUES)[];

function haveSameValues(a: ResolvedConfig, b: ResolvedConfig): boolean {
  for (let at = 0; at < VALUE_NAMES.length; at++) {
    const name = VALUE_NAMES[at];
    if (a[name] !== b[name]) return false;
  }
  return true;
}

/** `hashOf` of a value with the params that are given. */
export function hashWithParams(
  value: Readonly<Record<string, unknown>> & { readonly config: { readonly params: null } },
): (params: ResolvedConfig['params']) => string {
  const hashWith = hashAround(value, '"params":null');
  return (params) => hashWith(`"params":${canonicalJson(params)}`);
}

/** `hashOf` of a value with other text in the place of these members of its config; all else is written once. */
function hashAround(value: Readonly<Record<string, unknown>>, members: string): (text: string) => string {
  const json = canonicalJson(value);
  // The config comes first. Nothing else in it looks like them: overrides are numbers, quotes in texts escaped.
  const at = json.indexOf(members);
  const before = json.slice(0, at);
  const after = json.slice(at + members.length);
  return (text) => sha256(before + text + after);
}

/** Of runs that read no series but the market's own, which all runs of a batch are as a rule. */
const ownDataHashes = new WeakMap<Market, string>();

function dataHashOf(market: Market, report: ReportInput): string {
  if (report.evaluated.plan.frames.length > 0) return hashOf(readSeries(market, report));
  const known = ownDataHashes.get(market) ?? hashOf(readSeries(market, report));
  ownDataHashes.set(market, known);
  return known;
}

/** Name and content of every series that the run read. */
function readSeries(
  market: Market,
  { evaluated, input }: ReportInput,
): Pick<Bars, 'symbol' | 'timeframe' | 'sha256'>[] {
  const read = [
    market.base,
    ...evaluated.plan.frames.map((frame) => market.bars(frame.symbol ?? market.base.symbol, frame.timeframe)!),
    ...(input.fine ? [input.fine] : []),
  ];
  const named = read.map(({ symbol, timeframe, sha256 }) => ({ symbol, timeframe, sha256 }));
  return named.sort((a, b) => (`${a.symbol} ${a.timeframe}` < `${b.symbol} ${b.timeframe}` ? -1 : 1));
}
