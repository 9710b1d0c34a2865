// Tokens: the infix token lists of an editor, compiled into a StrategyAst. Nothing leads back from an AST to tokens.
import { z } from 'zod';
import type { Condition, Expression, StrategyAst, Value } from '../grammar/ast.ts';
import { checkStrategy, type CheckContext } from '../check/checkStrategy.ts';
import { IssueLog, type IssueCode, type ValidationIssue } from '../check/issues.ts';
import { type PatchOperation } from '../check/patch.ts';
import { locate } from '../check/locate.ts';
import { nearestName, suggestionFor } from '../check/nearest.ts';
import { firstSegment, parsePointer, pointerTo } from '../pointer.ts';
import { shapeOf, typeOfKind } from '../grammar/shapes.ts';
import { Structure } from '../check/structure.ts';
import { isMembers, shown } from '../check/displayNames.ts';
import { synonymIn } from '../grammar/synonyms.ts';
import { COMPARE_OPS, CROSS_OPS } from '../grammar/words.ts';

const TOKEN_TYPES = ['indicator', 'market', 'number', 'operator', 'logic', 'group', 'pattern'] as const;
/** No editor sends a longer list. */
const MAX_TOKENS = 2_000;
/** The deepest nesting of groups: each level is a few calls deep here, and a level of the AST. */
const MAX_GROUPS = 64;

const Token = z.strictObject({
  id: z.string().max(200).optional(),
  type: z.enum(TOKEN_TYPES),
  value: z.union([z.number(), z.string()]).optional(),
  name: z.string().optional(),
  args: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).optional(),
});
type Token = z.infer<typeof Token>;
const TokenList = z.array(Token).max(MAX_TOKENS);

export interface TokenPayloads {
  readonly entryTokens: unknown;
  readonly exitTokens?: unknown;
  readonly settings?: unknown;
}
export interface CompiledTokens {
  readonly valid: boolean;
  /** Paths are in the token lists (`/entryTokens/3/name`). */
  readonly issues: readonly ValidationIssue[];
  readonly strategyAst: StrategyAst | null;
}

/**
 * Compiles infix tokens. Arithmetic (unary -, ^, then * / %, then + -) binds more tightly than comparison, and
 * comparison more tightly than not, and, or. The entry tokens become the trigger of one long entry that invests an
 * equal share of equity per position. The exit tokens become one exit that closes the whole position.
 */
export function compileTokens(payloads: TokenPayloads, context: CheckContext = {}): CompiledTokens {
  const { entryTokens, exitTokens = [], settings = {} } = payloads;
  const log = new IssueLog();
  const places = new Map<object, string>();
  const ids = uniqueIds([entryTokens, exitTokens]);
  const parse = (tokens: unknown, pointer: string): Condition | undefined => {
    const isValid = new Structure(log).check(shapeOf(TokenList), tokens, pointer);
    if (!isValid) return undefined;
    return new TokenParser(tokens as Token[], pointer, log, places, ids).condition();
  };
  if (Array.isArray(entryTokens) && entryTokens.length === 0) {
    log.add('ENTRY_MISSING', '/entryTokens', {
      message: 'There are no entry tokens.',
      suggestion: 'Give at least one condition.',
    });
  }
  const trigger =
    Array.isArray(entryTokens) && entryTokens.length === 0 ? undefined : parse(entryTokens, '/entryTokens');
  const hasExit = !Array.isArray(exitTokens) || exitTokens.length > 0;
  const when = hasExit ? parse(exitTokens, '/exitTokens') : undefined;
  if (trigger === undefined || (hasExit && when === undefined))
    return { valid: false, issues: log.list(), strategyAst: null };
  const ast = strategyOf(trigger, when, settings);
  const outcome = checkStrategy({ settings, strategyAst: ast }, context);
  return {
    valid: outcome.valid,
    issues: outcome.issues.map((issue) => inTokens(issue, ast, places)),
    strategyAst: outcome.valid ? ast : null,
  };
}

/** Ids that only one token has: editors may number each list from 1, and the id of a node must be unique. */
function uniqueIds(lists: readonly unknown[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const token of lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
    const id = isMembers(token) && typeof token.id === 'string' ? token.id : undefined;
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([id, count]) => (count === 1 ? [id] : [])));
}

function strategyOf(trigger: Condition, when: Condition | undefined, settings: unknown): StrategyAst {
  const positions = isMembers(settings) ? settings.maxConcurrentPositions : undefined;
  const share = typeof positions === 'number' && positions >= 1 ? 100 / positions : 100;
  return {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: { kind: 'entry', trigger, action: { side: 'long', sizing: { mode: 'percent_equity', value: share } } },
      ...(when === undefined ? {} : { exits: [{ kind: 'exit', when }] }),
    },
  };
}

/** Members of an expression → members of its token. */
const TOKEN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  indicator: ['name'],
  op: ['value'],
  field: ['name'],
  kind: ['type'],
  output: ['args', 'output'],
  timeframe: ['args', 'timeframe'],
  offset: ['args', 'offset'],
  instrument: ['args', 'symbol'],
  side: ['args', 'side'],
  within: ['args', 'within'],
};

/** An issue of the AST with the place of its tokens. */
function inTokens(issue: ValidationIssue, ast: StrategyAst, places: ReadonlyMap<object, string>): ValidationIssue {
  if (!issue.path.startsWith('/strategyAst')) return issue;
  const tokenOf = new Map([...locate(ast, '/strategyAst')].map(([owner, pointer]) => [pointer, places.get(owner)]));
  const translate = (pointer: string): string => {
    const segments = parsePointer(pointer)!;
    for (let length = segments.length; length > 0; length--) {
      const token = tokenOf.get(pointerTo('', ...segments.slice(0, length)));
      if (token === undefined) continue;
      const [member, ...rest] = segments.slice(length);
      if (member === undefined) return token;
      return pointerTo(token, ...(TOKEN_MEMBERS[member] ?? [member]), ...(member === 'instrument' ? [] : rest));
    }
    return segments.includes('exits') ? '/exitTokens' : '/entryTokens';
  };
  const path = translate(issue.path);
  const patch = issue.patch?.map((step): PatchOperation =>
    step.op === 'move'
      ? { ...step, from: translate(step.from), path: translate(step.path) }
      : { ...step, path: translate(step.path) },
  );
  return { ...issue, path, field: firstSegment(path), ...(patch === undefined ? {} : { patch }) };
}

const ARITHMETIC: Readonly<Record<string, 'add' | 'sub' | 'mul' | 'div' | 'mod' | 'pow'>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'mod',
  '^': 'pow',
  add: 'add',
  sub: 'sub',
  mul: 'mul',
  div: 'div',
  mod: 'mod',
  pow: 'pow',
};
const SUMS = ['add', 'sub'];
const PRODUCTS = ['mul', 'div', 'mod'];
const COMPARISONS: readonly string[] = [...COMPARE_OPS, ...CROSS_OPS];
const OPERATORS = [...Object.keys(ARITHMETIC), ...COMPARISONS];

/** Ends the parsing of a list at its first syntax error: what follows has no certain meaning. */
class TokenSyntaxError extends Error {}

class TokenParser {
  readonly #tokens: readonly Token[];
  readonly #pointer: string;
  readonly #log: IssueLog;
  readonly #places: Map<object, string>;
  readonly #ids: ReadonlySet<string>;
  #next = 0;
  #groups = 0;

  constructor(
    tokens: readonly Token[],
    pointer: string,
    log: IssueLog,
    places: Map<object, string>,
    ids: ReadonlySet<string>,
  ) {
    this.#ids = ids;
    this.#tokens = tokens;
    this.#pointer = pointer;
    this.#log = log;
    this.#places = places;
  }

  /** The whole list as one condition; undefined when it is not one, which is then reported. */
  condition(): Condition | undefined {
    try {
      const expression = this.#or();
      if (this.#next < this.#tokens.length)
        this.#fail(
          this.#next,
          'TYPE_MISMATCH',
          'This token does not continue the expression before it.',
          'Join conditions with and / or.',
        );
      return this.#as('condition', expression, 0) as Condition;
    } catch (error) {
      if (error instanceof TokenSyntaxError) return undefined;
      throw error;
    }
  }

  #fail(at: number, code: IssueCode, message: string, suggestion?: string, patch?: readonly PatchOperation[]): never {
    const index = Math.min(at, Math.max(0, this.#tokens.length - 1));
    this.#log.add(code, pointerTo(this.#pointer, index), { message, suggestion, patch });
    throw new TokenSyntaxError();
  }

  #make(members: object, at: number): Expression {
    const { id } = this.#tokens[at];
    const expression = { ...(id !== undefined && this.#ids.has(id) ? { id } : {}), ...members } as Expression;
    this.#places.set(expression, pointerTo(this.#pointer, at));
    return expression;
  }

  #as(type: 'value' | 'condition', expression: Expression, at: number): Expression {
    if (typeOfKind(expression.kind) === type) return expression;
    return this.#fail(
      at,
      'TYPE_MISMATCH',
      type === 'value'
        ? 'A number is required here, and this is a condition.'
        : 'A condition is required here, and this is a number.',
      type === 'value' ? undefined : 'Compare it with something.',
    );
  }

  /** The next token when it is an operator or logic word, as the language's own word. */
  #word(type: 'operator' | 'logic'): string | undefined {
    const token = this.#tokens[this.#next];
    if (token?.type !== type) return undefined;
    const word = String(token.value ?? token.name ?? '').toLowerCase();
    if (type === 'logic') {
      const known = LOGIC[word];
      return (
        known ?? this.#fail(this.#next, 'UNKNOWN_OPERATOR', `Unknown logic word ${shown(word)}.`, 'Use and, or, not.')
      );
    }
    const ours = ARITHMETIC[word] ?? (COMPARISONS.includes(word) ? word : synonymIn(word, COMPARISONS));
    if (ours !== undefined) return ours;
    const nearest = nearestName(word, OPERATORS);
    return this.#fail(
      this.#next,
      'UNKNOWN_OPERATOR',
      `Unknown operator ${shown(word)}.`,
      suggestionFor(nearest, OPERATORS),
    );
  }

  #or(): Expression {
    return this.#junction('or', 'any', () => this.#junction('and', 'all', () => this.#not()));
  }

  #junction(word: string, kind: 'any' | 'all', operand: () => Expression): Expression {
    const start = this.#next;
    const items = [operand()];
    let at = -1;
    while (this.#word('logic') === word) {
      at = this.#next++;
      const from = this.#next;
      items.push(this.#as('condition', operand(), from));
    }
    if (items.length === 1) return items[0];
    this.#as('condition', items[0], start);
    return this.#make({ kind, items }, at);
  }

  #not(): Expression {
    if (this.#word('logic') !== 'not') return this.#comparison();
    const at = this.#next++;
    if (++this.#groups > MAX_GROUPS)
      this.#fail(at, 'PAYLOAD_TOO_DEEP', `The tokens nest more than ${MAX_GROUPS} levels deep.`);
    const item = this.#as('condition', this.#not(), at + 1);
    this.#groups--;
    return this.#make({ kind: 'not', item }, at);
  }

  #comparison(): Expression {
    const start = this.#next;
    const left = this.#sum();
    const op = this.#word('operator');
    if (op === undefined) return left;
    if (!COMPARISONS.includes(op))
      return this.#fail(this.#next, 'TYPE_MISMATCH', 'An operand is missing before this operator.');
    const at = this.#next++;
    const from = this.#next;
    const members = { op, left: this.#as('value', left, start), right: this.#as('value', this.#sum(), from) };
    const again = this.#word('operator');
    if (again !== undefined)
      this.#fail(this.#next, 'TYPE_MISMATCH', 'Comparisons cannot be chained.', 'Join two comparisons with and.');
    return this.#make({ kind: op.startsWith('cross') ? 'cross' : 'compare', ...members }, at);
  }

  #sum(): Expression {
    return this.#chain(SUMS, () => this.#chain(PRODUCTS, () => this.#unary()));
  }

  #chain(ops: readonly string[], operand: () => Expression): Expression {
    const start = this.#next;
    let left = operand();
    for (let op = this.#word('operator'); op !== undefined && ops.includes(op); op = this.#word('operator')) {
      const at = this.#next++;
      const from = this.#next;
      const args = [this.#as('value', left, start), this.#as('value', operand(), from)] as Value[];
      left = this.#make({ kind: 'math', op, args }, at);
    }
    return left;
  }

  #unary(): Expression {
    if (this.#word('operator') === 'sub') {
      const at = this.#next++;
      if (++this.#groups > MAX_GROUPS)
        this.#fail(at, 'PAYLOAD_TOO_DEEP', `The tokens nest more than ${MAX_GROUPS} levels deep.`);
      const args = [this.#as('value', this.#unary(), at + 1) as Value];
      this.#groups--;
      return this.#make({ kind: 'math', op: 'neg', args }, at);
    }
    const start = this.#next;
    const base = this.#primary();
    if (this.#word('operator') !== 'pow') return base;
    const at = this.#next++;
    if (++this.#groups > MAX_GROUPS)
      this.#fail(at, 'PAYLOAD_TOO_DEEP', `The tokens nest more than ${MAX_GROUPS} levels deep.`);
    const args = [this.#as('value', base, start), this.#as('value', this.#unary(), at + 1)] as Value[];
    this.#groups--;
    return this.#make({ kind: 'math', op: 'pow', args }, at);
  }

  #primary(): Expression {
    const at = this.#next;
    const token = this.#tokens[at];
    if (token === undefined) return this.#fail(at, 'MISSING_FIELD', 'The list ends where an operand is required.');
    const word = String(token.name ?? token.value ?? '');
    switch (token.type) {
      case 'group':
        return this.#group(word, at);
      case 'number':
        this.#next++;
        if (typeof token.value !== 'number')
          return this.#fail(at, 'MISSING_FIELD', 'A number token requires a numeric `value`.');
        return this.#make({ kind: 'const', value: token.value }, at);
      case 'market': {
        this.#next++;
        const { args } = this.#placed(token);
        return this.#make({ kind: 'market', field: word, ...args }, at);
      }
      case 'indicator': {
        this.#next++;
        const { args, rest } = this.#placed(token, ['output']);
        return this.#make({ kind: 'indicator', indicator: word, args: rest, ...args }, at);
      }
      case 'pattern': {
        this.#next++;
        const { args, rest } = this.#placed(token, ['side', 'within']);
        return this.#make(
          { kind: 'pattern', name: word, ...(Object.keys(rest).length > 0 ? { args: rest } : {}), ...args },
          at,
        );
      }
      case 'operator':
      case 'logic':
        return this.#fail(
          at,
          'TYPE_MISMATCH',
          `An operand is required before ${shown(String(token.value ?? token.name))}.`,
        );
    }
  }

  #group(bracket: string, at: number): Expression {
    if (bracket !== '(')
      return this.#fail(
        at,
        'TYPE_MISMATCH',
        'This group token closes a group that was never opened.',
        'Group tokens have the value "(" or ")".',
      );
    if (++this.#groups > MAX_GROUPS)
      this.#fail(at, 'PAYLOAD_TOO_DEEP', `Groups nest more than ${MAX_GROUPS} levels deep.`);
    this.#next++;
    const inner = this.#or();
    const close = this.#tokens[this.#next];
    if (close?.type !== 'group' || String(close.value ?? close.name) !== ')') {
      this.#fail(at, 'MISSING_FIELD', 'This group is not closed.', 'Add a group token ")".');
    }
    this.#next++;
    this.#groups--;
    return inner;
  }

  /** Splits a token's args into members of the node itself (its bars, and those in `own`) and the rest. */
  #placed(token: Token, own: readonly string[] = []): { args: Record<string, unknown>; rest: Record<string, unknown> } {
    const args: Record<string, unknown> = {};
    const rest: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(token.args ?? {})) {
      if (name === 'symbol') args.instrument = { symbol: value };
      else if (name === 'timeframe' || name === 'offset' || own.includes(name)) args[name] = value;
      else rest[name] = value;
    }
    return token.type === 'market' ? { args: { ...args, ...rest }, rest } : { args, rest };
  }
}

const LOGIC: Readonly<Record<string, string | undefined>> = {
  and: 'and',
  or: 'or',
  not: 'not',
  '&&': 'and',
  '||': 'or',
  '!': 'not',
};
