// Canonical form: one spelling for every meaning, so that a strategy has one hash and later stages need no defaults.
import type { StrategyAst } from '../grammar/ast.ts';
import { AST_SHAPE, type ObjectShape, type Shape } from '../grammar/shapes.ts';
import { Canonicalizer } from './canonicalizer.ts';
import { rulesOf } from '../grammar/visit.ts';
import type { Members } from '../grammar/payloadObjects.ts';

const STRATEGY_SHAPE = AST_SHAPE.fields.get('strategy')!.shape as ObjectShape;
const SECTION_SHAPES = {
  entry: (STRATEGY_SHAPE.fields.get('entry')!.shape as Shape & { type: 'either' }).options[0],
  exit: STRATEGY_SHAPE.fields.get('exit')!.shape,
  allocation: STRATEGY_SHAPE.fields.get('allocation')!.shape,
  risk: STRATEGY_SHAPE.fields.get('risk')!.shape,
  params: STRATEGY_SHAPE.fields.get('params')!.shape,
  defaults: STRATEGY_SHAPE.fields.get('defaults')!.shape,
};

export interface CanonicalSections {
  readonly entry: readonly Members[];
  readonly exits: readonly Members[];
  /** In place of entries and exits. */
  readonly allocation: Members | null;
  readonly risk: Members;
}

/** The sections rewritten: entries as a list, `exit` after `exits`, and risk. */
export function canonicalSections(ast: StrategyAst, canonicalizer: Canonicalizer): CanonicalSections {
  const { entries, exits, allocation, risk } = rulesOf(ast);
  return {
    entry: entries.map((one) => canonicalizer.section(SECTION_SHAPES.entry, one)),
    exits: exits.map((one) => canonicalizer.section(SECTION_SHAPES.exit, one)),
    allocation: allocation === undefined ? null : canonicalizer.section(SECTION_SHAPES.allocation, allocation),
    risk: canonicalizer.section(SECTION_SHAPES.risk, risk ?? {}),
  };
}

/**
 * The canonical form of a strategy without errors: aliases resolved, defaults written out, shifts folded, nested
 * all/any flattened, without ids, labels and meta. It means the same as `ast`, is valid where `ast` is, and is its own
 * canonical form.
 * @param sources filled with the object of `ast` that each rewritten expression and section was made from
 */
export function canonicalize(ast: StrategyAst, sources?: Map<object, object>): StrategyAst {
  const { defaults, params } = ast.strategy;
  const canonicalizer = new Canonicalizer({
    keepNames: false,
    params: null,
    timezone: defaults?.timezone ?? 'UTC',
    ...(sources && { sources }),
  });
  const section = (shape: Shape, value: unknown) => canonicalizer.section(shape, value);
  const { allocation, risk, ...rules } = canonicalSections(ast, canonicalizer);
  return {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      ...(defaults === undefined ? {} : { defaults: section(SECTION_SHAPES.defaults, defaults) }),
      ...(params === undefined || params.length === 0
        ? {}
        : { params: params.map((param) => section((SECTION_SHAPES.params as Shape & { type: 'array' }).item, param)) }),
      ...(allocation === null ? rules : { allocation }),
      risk,
    },
  } as unknown as StrategyAst;
}
