// Tagged schemas: the variants of a section, one per definition of a registry, told apart by one member.
import { z } from 'zod';

/** The members of a variant beside its tag. */
export type VariantMembers = Readonly<Record<string, z.ZodType>>;

type Variant<Tag extends string, Common, D> = D extends { readonly members: infer Members extends VariantMembers }
  ? D extends { readonly [T in Tag]: infer Name extends string }
    ? z.ZodObject<Common & { readonly [T in Tag]: z.ZodLiteral<Name> } & Members, z.core.$strict>
    : never
  : never;

/**
 * The schema of each definition, in the order of the registry.
 * @param common members of every variant, before the tag
 */
export const taggedSchemas = <
  Tag extends string,
  Common extends VariantMembers,
  const Definitions extends readonly ({ readonly [T in Tag]: string } & { readonly members: VariantMembers })[],
>(
  tag: Tag,
  common: Common,
  definitions: Definitions,
) =>
  // A list of the same length, which `map` of a tuple does not say.
  definitions.map((definition) =>
    z.strictObject({ ...common, [tag]: z.literal(definition[tag]), ...definition.members }),
  ) as unknown as { readonly [I in keyof Definitions]: Variant<Tag, Common, Definitions[I]> };
