// Compiling tokens: the infix token lists of an editor as a StrategyAst. Nothing leads back from an AST to tokens.
import type { Condition, StrategyAst } from '../grammar/ast.ts';
import { checkStrategy, type CheckContext } from '../check/checkStrategy.ts';
import { IssueLog, type ValidationIssue } from '../issues/issues.ts';
import { type PatchOperation } from '../issues/patch.ts';
import { locate } from '../issues/locate.ts';
import { firstSegment, parsePointer, pointerTo } from '../pointer.ts';
import { shapeOf } from '../grammar/shapes.ts';
import { Structure } from '../form/structure.ts';
import { TokenParser } from './tokenParser.ts';
import { TokenList, type Token } from './tokens.ts';
import { isMembers } from '../grammar/payloadObjects.ts';

interface TokenPayloads {
  readonly entryTokens: unknown;
  readonly exitTokens?: unknown;
  readonly settings?: unknown;
}
interface CompiledTokens {
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
  const isEmpty = Array.isArray(entryTokens) && entryTokens.length === 0;
  if (isEmpty) {
    log.add('ENTRY_MISSING', '/entryTokens', {
      message: 'There are no entry tokens.',
      suggestion: 'Give at least one condition.',
    });
  }
  const trigger = isEmpty ? undefined : parse(entryTokens, '/entryTokens');
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
