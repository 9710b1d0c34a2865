// The token parser: one list of infix tokens as a condition, by recursive descent, one method per level of binding.
import type { Condition, Expression, Value } from '../grammar/ast.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { type PatchOperation } from '../issues/patch.ts';
import { nearestName, suggestionFor } from '../issues/nearest.ts';
import { pointerTo } from '../pointer.ts';
import { typeOfKind } from '../grammar/shapes.ts';
import { shown } from '../issues/displayNames.ts';
import { COMPARISONS, logicOf, operatorOf, OPERATORS, wordOf, type Token } from './tokens.ts';

/** The deepest nesting. Each level is a few nested calls here, and one level of the AST. */
const MAX_LEVELS = 64;

const SUMS = ['add', 'sub'];
const PRODUCTS = ['mul', 'div', 'mod'];

/** Ends the parsing of a list at its first syntax error: what follows has no certain meaning. */
class TokenSyntaxError extends Error {}

/** The parser of one list. */
export class TokenParser {
  readonly #tokens: readonly Token[];
  readonly #pointer: string;
  readonly #log: IssueLog;
  readonly #places: Map<object, string>;
  readonly #ids: ReadonlySet<string>;
  #next = 0;
  #level = 0;

  /**
   * @param pointer the place of the list in the request
   * @param places filled with the token of every expression
   * @param ids the token ids that become ids of nodes
   */
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

  #oneLevelDeeper(at: number, parse: () => Expression): Expression {
    if (++this.#level > MAX_LEVELS)
      this.#fail(at, 'PAYLOAD_TOO_DEEP', `The tokens nest more than ${MAX_LEVELS} levels deep.`);
    const inner = parse();
    this.#level--;
    return inner;
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
    const ours = type === 'operator' ? operatorOf(token) : logicOf(token);
    if (ours !== undefined) return ours;
    const word = wordOf(token);
    if (type === 'logic')
      return this.#fail(this.#next, 'UNKNOWN_OPERATOR', `Unknown logic word ${shown(word)}.`, 'Use and, or, not.');
    const suggestion = suggestionFor(nearestName(word, OPERATORS), OPERATORS);
    return this.#fail(this.#next, 'UNKNOWN_OPERATOR', `Unknown operator ${shown(word)}.`, suggestion);
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
    const item = this.#as(
      'condition',
      this.#oneLevelDeeper(at, () => this.#not()),
      at + 1,
    );
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
      const args = [
        this.#as(
          'value',
          this.#oneLevelDeeper(at, () => this.#unary()),
          at + 1,
        ),
      ] as Value[];
      return this.#make({ kind: 'math', op: 'neg', args }, at);
    }
    const start = this.#next;
    const base = this.#primary();
    if (this.#word('operator') !== 'pow') return base;
    const at = this.#next++;
    const exponent = this.#oneLevelDeeper(at, () => this.#unary());
    const args = [this.#as('value', base, start), this.#as('value', exponent, at + 1)] as Value[];
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
    this.#next++;
    const inner = this.#oneLevelDeeper(at, () => this.#or());
    const close = this.#tokens[this.#next];
    if (close?.type !== 'group' || String(close.value ?? close.name) !== ')') {
      this.#fail(at, 'MISSING_FIELD', 'This group is not closed.', 'Add a group token ")".');
    }
    this.#next++;
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
