// Tokens: what an editor sends for a condition in infix notation, and what its words mean.
import { z } from 'zod';
import { synonymIn } from '../hints/synonyms.ts';
import { COMPARE_OPS, CROSS_OPS } from '../../definitions/words.ts';

const TOKEN_TYPES = ['indicator', 'market', 'number', 'operator', 'logic', 'group', 'pattern'] as const;
/** The most tokens of a list, more than any editor sends. */
const MAX_TOKENS = 2_000;

const Token = z.strictObject({
  id: z.string().max(200).optional(),
  type: z.enum(TOKEN_TYPES),
  value: z.union([z.number(), z.string()]).optional(),
  name: z.string().optional(),
  args: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).optional(),
});
export type Token = z.infer<typeof Token>;
export const TokenList = z.array(Token).max(MAX_TOKENS);

const ARITHMETIC: ReadonlyMap<string, string> = new Map([
  ['+', 'add'],
  ['-', 'sub'],
  ['*', 'mul'],
  ['/', 'div'],
  ['%', 'mod'],
  ['^', 'pow'],
  ...['add', 'sub', 'mul', 'div', 'mod', 'pow'].map((op) => [op, op] as const),
]);
export const COMPARISONS: readonly string[] = [...COMPARE_OPS, ...CROSS_OPS];
/** Every operator that a token may have, apart from synonyms. */
export const OPERATORS = [...ARITHMETIC.keys(), ...COMPARISONS];

const LOGIC: ReadonlyMap<string, string> = new Map([
  ['and', 'and'],
  ['or', 'or'],
  ['not', 'not'],
  ['&&', 'and'],
  ['||', 'or'],
  ['!', 'not'],
]);

/** The word of a token in small letters, as its `value` or its `name`. */
export const wordOf = ({ value, name }: Token): string => String(value ?? name ?? '').toLowerCase();

/** The operator of the language that the token stands for; undefined: there is none. */
export function operatorOf(token: Token): string | undefined {
  const word = wordOf(token);
  return ARITHMETIC.get(word) ?? (COMPARISONS.includes(word) ? word : synonymIn(word, COMPARISONS));
}

/** `and`, `or` or `not`; undefined: the token is another word. */
export const logicOf = (token: Token): string | undefined => LOGIC.get(wordOf(token));
