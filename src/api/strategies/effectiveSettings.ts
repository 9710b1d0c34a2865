// Effective settings: the values a strategy runs with, and which of its settings, its defaults, the config and the
// engine's own defaults decided each.
import { z } from 'zod';
import { symbolsOf, type ResolvedConfig } from '../../engine/index.ts';
import { symbolsText } from '../../market/formatting.ts';

type Json = Readonly<Record<string, unknown>>;

const valueFrom = <Value extends z.ZodType, const Sources extends readonly string[]>(
  what: string,
  value: Value,
  sources: Sources,
) =>
  z
    .object({
      value,
      source: z.enum(sources).meta({ description: 'Where the value comes from.' }),
      overruled: value.optional().meta({ description: 'What `strategy.defaults` asks for, when something else won.' }),
    })
    .meta({ description: what });

const OVERRIDES = 'config.overrides';
const strategyPart = {
  maxConcurrentPositions: valueFrom(
    'How many positions may be open or pending at a time. settings.maxConcurrentPositions wins over ' +
      'strategy.defaults.maxConcurrentPositions; without both: 1.',
    z.int(),
    ['settings', OVERRIDES, 'strategy.defaults', 'default'],
  ),
  warmupBars: valueFrom(
    'Bars before the first that may signal. settings.warmupPeriod wins over strategy.defaults.warmupBars; without ' +
      'both it is inferred from what the strategy reads on the timeframe of the run, and null before a run.',
    z.int().nullable(),
    ['settings', OVERRIDES, 'strategy.defaults', 'inferred'],
  ),
  timezone: valueFrom('Of times of day and days of the week. strategy.defaults.timezone, else UTC.', z.string(), [
    'strategy.defaults',
    'default',
  ]),
};

/** The settings of a version, before it runs. */
export const EffectiveSettings = z
  .object(strategyPart)
  .meta({ id: 'EffectiveSettings', description: 'What the version runs with, and what decided.' });

const FROM_CONFIG = ['config', 'default'] as const;
const configPart = {
  timeframe: valueFrom('config.timeframe wins over strategy.defaults.timeframe.', z.string(), ['config']),
  symbol: valueFrom(
    'config.signalInstrument.symbol wins over strategy.defaults.instrument, as do the symbols of config.instruments, ' +
      'of which the first are shown.',
    z.string(),
    ['config'],
  ),
  orderTiming: valueFrom('When an order of a close fills.', z.string(), FROM_CONFIG),
  ambiguityResolution: valueFrom('How a bar that touches several levels is read.', z.string(), FROM_CONFIG),
  ambiguityFallback: valueFrom('What decides where finer bars do not.', z.string(), FROM_CONFIG),
  leverage: valueFrom('Notional per unit of margin.', z.number(), FROM_CONFIG),
};

/** The settings of a run. */
export const RunSettings = z
  .object({ ...strategyPart, ...configPart })
  .meta({ id: 'EffectiveRunSettings', description: 'What the run went by, and what decided.' });

/** The parts of a version that decide its settings. */
interface VersionSettings {
  readonly settings: Json;
  /** strategy.defaults of its AST. */
  readonly defaults: Json | null;
}

/** What a version runs with before a config is known. @param overrides those of the config of a run */
export function effectiveSettings(
  { settings, defaults }: VersionSettings,
  overrides: Json = {},
): z.input<typeof EffectiveSettings> {
  /** `setting` of `settings` wins over an override, and that over `member` of the defaults; undefined: none has it. */
  const decided = (setting: string, member: string) => {
    const overridden = Object.entries(overrides).find(([pointer]) => pointer.endsWith(`/strategy/defaults/${member}`));
    const asked = overridden?.[1] ?? defaults?.[member];
    const given = settings[setting];
    if (given !== undefined)
      return {
        value: given as number,
        source: 'settings' as const,
        ...(asked !== undefined && asked !== given && { overruled: asked as number }),
      };
    if (overridden !== undefined) return { value: asked as number, source: OVERRIDES as typeof OVERRIDES };
    return asked === undefined ? undefined : { value: asked as number, source: 'strategy.defaults' as const };
  };
  const timezone = defaults?.timezone as string | undefined;
  return {
    maxConcurrentPositions: decided('maxConcurrentPositions', 'maxConcurrentPositions') ?? {
      value: 1,
      source: 'default',
    },
    warmupBars: decided('warmupPeriod', 'warmupBars') ?? { value: null, source: 'inferred' },
    timezone:
      timezone === undefined ? { value: 'UTC', source: 'default' } : { value: timezone, source: 'strategy.defaults' },
  };
}

/**
 * @param config as it was sent
 * @param warmupBars how many the run had, from its result
 */
export function runSettings(
  version: VersionSettings,
  config: Json,
  resolved: ResolvedConfig,
  warmupBars: number | null,
): z.input<typeof RunSettings> {
  const { defaults } = version;
  const strategy = effectiveSettings(version, resolved.overrides);
  const { execution, ambiguityResolution, ambiguityFallback, leverage } = resolved;
  const sent = { ...config, ...(config.execution as Json | undefined) };
  const fromConfigOrDefault = <Value>(name: string, value: Value) => ({
    value,
    source: sent[name] === undefined ? ('default' as const) : ('config' as const),
  });
  const fromConfig = (value: string, asked: unknown) => ({
    value,
    source: 'config' as const,
    ...(typeof asked === 'string' && asked !== value && { overruled: asked }),
  });
  return {
    ...strategy,
    warmupBars: { ...strategy.warmupBars, value: warmupBars },
    timeframe: fromConfig(resolved.timeframe, defaults?.timeframe),
    symbol: fromConfig(symbolsText(symbolsOf(resolved)), (defaults?.instrument as Json | undefined)?.symbol),
    orderTiming: fromConfigOrDefault('orderTiming', execution.orderTiming),
    ambiguityResolution: fromConfigOrDefault('ambiguityResolution', ambiguityResolution),
    ambiguityFallback: fromConfigOrDefault('ambiguityFallback', ambiguityFallback),
    leverage: fromConfigOrDefault('leverage', leverage),
  };
}
