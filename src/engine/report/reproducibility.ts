// What identifies a run and its result: hashes of the strategy, the data, the config, all of them, and the result.
import type { Bars, Instrument, Market, Universe } from '../bars/bars.ts';
import type { ResolvedConfig } from '../config.ts';
import type { Settings } from '../language/grammar/ast.ts';
import type { BacktestTask, Reproducibility } from '../task.ts';
import { ENGINE_VERSION } from '../version.ts';
import { canonicalJson, hashOf, sha256 } from './canonicalJson.ts';
import type { PortfolioRun, ReportInput } from './reportInput.ts';

/** @param configJson the config of the report, as JSON.stringify writes it */
export function reproducibilityOf(
  { strategyHash, settings }: Pick<BacktestTask, 'strategyHash' | 'settings'>,
  market: Market,
  report: ReportInput,
  resultHash: string,
  configJson: string,
): Reproducibility {
  const dataHash = dataHashOf(market, report);
  const configHash = configHashOf(report.input.config, configJson, market.instrument, settings);
  return reproducibilityFrom(strategyHash, dataHash, configHash, resultHash);
}

/** The same for several instruments: the config is hashed with all of them, and the data of all is hashed. */
export function portfolioReproducibility(
  { strategyHash, settings }: Pick<BacktestTask, 'strategyHash' | 'settings'>,
  { instruments: markets }: Universe,
  report: ReportInput & { readonly portfolio: PortfolioRun },
  resultHash: string,
): Reproducibility {
  const { benchmark, portfolio, input } = report;
  // Instruments may read the same series, a market filter for one.
  const read = new Map(
    portfolio.instruments
      .flatMap((instrument, index) => seriesOf(markets[index], { ...instrument, ...(benchmark && { benchmark }) }))
      .map((series) => [`${series.symbol} ${series.timeframe}`, series]),
  );
  const value = { config: input.config, instruments: markets.map(({ instrument }) => instrument), settings };
  return reproducibilityFrom(strategyHash, hashOf(inOrder([...read.values()])), hashOf(value), resultHash);
}

function reproducibilityFrom(
  strategyHash: string,
  dataHash: string,
  configHash: string,
  resultHash: string,
): Reproducibility {
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

/** `hashOf` of the parts, whose names are already in canonical order. */
export const runKeyOf = ({ engine, strategy, data, config }: RunKeyParts): string =>
  sha256(`{"config":"${config}","data":"${data}","engine":"${engine}","strategy":${JSON.stringify(strategy)}}`);

/** The last config of an instrument with its settings, and how to hash it with other params and overrides. */
interface LastConfig {
  /** The settings, and in `others` the config without params and overrides, both as JSON. */
  readonly settings: string;
  readonly others: string;
  readonly hashWith: (members: string) => string;
}
const lastConfigs = new WeakMap<Instrument, LastConfig>();

/**
 * `hashOf` of config, instrument and settings. Most runs of a batch differ only in their params or overrides.
 * @param configJson as JSON.stringify writes it
 */
export function configHashOf(
  config: ResolvedConfig,
  configJson: string,
  instrument: Instrument,
  settings: Settings,
): string {
  const { params, overrides } = config;
  // A config ends with these members.
  const free = `,"params":${JSON.stringify(params)},"overrides":${JSON.stringify(overrides)}}`;
  const others = configJson.slice(0, -free.length);
  const settingsJson = JSON.stringify(settings);
  let last = lastConfigs.get(instrument);
  if (last === undefined || last.others !== others || last.settings !== settingsJson) {
    const value = { config: { ...config, overrides: null, params: null }, instrument, settings };
    const hashWith = hashAround(value, '"overrides":null,"params":null');
    lastConfigs.set(instrument, (last = { settings: settingsJson, others, hashWith }));
  }
  return last.hashWith(`"overrides":${canonicalJson(overrides)},"params":${canonicalJson(params)}`);
}

/** `hashOf` of a value with the params that are given. */
export function hashWithParams(
  value: Readonly<Record<string, unknown>> & { readonly config: { readonly params: null } },
): (params: ResolvedConfig['params']) => string {
  const hashWith = hashAround(value, '"params":null');
  return (params) => hashWith(`"params":${canonicalJson(params)}`);
}

/**
 * `hashOf` of a value with other text in place of these members of its config. The text around them is written only
 * once.
 */
function hashAround(value: Readonly<Record<string, unknown>>, members: string): (text: string) => string {
  const json = canonicalJson(value);
  // The config comes first. Nothing else in it looks like these members: overrides are numbers, and quotes in strings
  // are escaped.
  const at = json.indexOf(members);
  const before = json.slice(0, at);
  const after = json.slice(at + members.length);
  return (text) => sha256(before + text + after);
}

/** Data hashes of runs that read only the market's own series, as most do. */
const ownDataHashes = new WeakMap<Market, string>();

function dataHashOf(market: Market, report: ReportInput): string {
  if (report.evaluated.plan.frames.length > 0 || report.benchmark !== undefined)
    return hashOf(inOrder(seriesOf(market, report)));
  const known = ownDataHashes.get(market) ?? hashOf(inOrder(seriesOf(market, report)));
  ownDataHashes.set(market, known);
  return known;
}

/** Name and content of a series. */
type ReadSeries = Pick<Bars, 'symbol' | 'timeframe' | 'sha256'>;

type ReadingRun = Pick<ReportInput, 'evaluated' | 'input' | 'benchmark'>;

/** Every series that a run of one instrument read. */
function seriesOf(market: Market, { evaluated, input, benchmark }: ReadingRun): ReadSeries[] {
  const read = [
    market.base,
    ...evaluated.plan.frames.map((frame) => market.bars(frame.symbol ?? market.base.symbol, frame.timeframe)!),
    ...(input.fine ? [input.fine] : []),
    ...(benchmark ? [benchmark.source] : []),
  ];
  return read.map(({ symbol, timeframe, sha256 }) => ({ symbol, timeframe, sha256 }));
}

const inOrder = (read: readonly ReadSeries[]): ReadSeries[] =>
  read.toSorted((a, b) => (`${a.symbol} ${a.timeframe}` < `${b.symbol} ${b.timeframe}` ? -1 : 1));
