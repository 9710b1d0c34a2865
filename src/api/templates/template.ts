// Template: a built-in strategy that trades as it stands, to be copied and changed.
import { z } from 'zod';
import { checkStrategy, symbolsOf } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { Json } from '../http/routeSchemas.ts';
import type { Payloads } from '../strategies/strategyChecks.ts';

export const TEMPLATE_CATEGORIES = [
  'trend',
  'mean_reversion',
  'breakout',
  'momentum',
  'pattern',
  'pairs',
  'rotation',
  'seasonal',
] as const;

/** A file of data/templates/. Its name is the key; `--strategy` of the command line reads it as well. */
export const TemplateFile = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    category: z.enum(TEMPLATE_CATEGORIES),
    tags: z.array(z.string().lowercase()),
    settings: Json,
    /** One of the two; the format the strategy reads best in. */
    strategyAst: Json.optional(),
    signalGraph: Json.optional(),
    /** Config of a backtest over shipped data in which it trades. */
    suggestedConfig: Json,
  })
  .refine((file) => (file.strategyAst === undefined) !== (file.signalGraph === undefined), {
    error: 'Give strategyAst or signalGraph.',
  });
export type Template = Readonly<z.infer<typeof TemplateFile>> & { readonly key: string };

/** The members of a request that creates a strategy from the template. */
export const payloadsOf = ({ settings, strategyAst, signalGraph }: Template): Payloads => ({
  settings,
  ...(strategyAst && { strategyAst }),
  ...(signalGraph && { signalGraph }),
});

/** The symbols that it is meant for: those of its suggested config. */
export const instrumentsOf = ({ suggestedConfig }: Template): readonly string[] => symbolsOf(suggestedConfig);

const compiled = new WeakMap<Template, z.infer<typeof Json>>();

/** Its AST as written, or what its graph compiles to. Templates are valid (a test), so there always is one. */
export function compiledAst(template: Template): z.infer<typeof Json> {
  if (template.strategyAst) return template.strategyAst;
  let ast = compiled.get(template);
  if (ast === undefined) {
    const outcome = checkStrategy(payloadsOf(template), { limits: TIER_LIMITS.free });
    if (outcome.compiled === null) throw new Error(`template ${template.key} does not compile`);
    compiled.set(template, (ast = { ...outcome.compiled.strategyAst }));
  }
  return ast;
}
