// Content: canonical expressions by their content, so that equal sub-trees have one key and a strategy has one hash.
import { createHash } from 'node:crypto';
import { VALUE_DEFINITIONS } from '../../definitions/expressions/expressionRegistry.ts';
import type { Expression, Settings, StrategyAst } from '../grammar/ast.ts';
import { canonicalize } from './canonical.ts';
import { isExpression } from '../grammar/shapes.ts';

/**
 * Numbers distinct canonical expressions in the order they are found. A node's text refers to its children by number,
 * so that size and time are linear in the distinct nodes, even where a graph uses one node many times.
 */
export class ContentIndex {
  readonly #byObject = new Map<object, number>();
  readonly #byText = new Map<string, number>();
  readonly texts: string[] = [];

  /** A number that equal expressions share; they must be in canonical form. */
  keyOf(expression: Expression): number {
    const found = this.#byObject.get(expression);
    if (found !== undefined) return found;
    const text = this.#members(expression);
    let key = this.#byText.get(text);
    if (key === undefined) {
      key = this.texts.push(text) - 1;
      this.#byText.set(text, key);
    }
    this.#byObject.set(expression, key);
    return key;
  }

  /** JSON of a value, with `#n` for every expression in it. */
  text(value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
    if (Array.isArray(value)) return `[${value.map((item) => this.text(item)).join(',')}]`;
    if (isExpression(value)) return `#${this.keyOf(value)}`;
    return this.#members(value);
  }

  #members(value: object): string {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${this.text(member)}`).join(',')}}`;
  }
}

/**
 * Everything of a canonical strategy except ids, labels, meta and `defaults`: payloads with equal content mean the
 * same.
 */
export function contentOf(canonical: StrategyAst): { text: string; index: ContentIndex } {
  const index = new ContentIndex();
  const { defaults: _, ...rest } = canonical.strategy;
  const strategy = index.text(rest);
  return { text: `${index.texts.join('\n')}\n${strategy}`, index };
}

/** How the texts of nodes begin that read the clock of the strategy. */
const CLOCK_READERS = VALUE_DEFINITIONS.flatMap(({ schema, ...kind }) =>
  'readsTimezone' in kind ? [`{"kind":${JSON.stringify(schema.shape.kind.value)},`] : [],
);

const hashes = new WeakMap<StrategyAst, Map<string, string>>();

/**
 * The sha256 of what a strategy does: its canonical content and the settings in effect (positions, warm-up, and the
 * time zone where one is read). Two spellings of one strategy have the same hash. It is cached by object, which must
 * not change afterwards.
 */
export function strategyHash(ast: StrategyAst, settings: Settings): string {
  const { defaults } = ast.strategy;
  const effective = JSON.stringify({
    maxConcurrentPositions: settings.maxConcurrentPositions ?? defaults?.maxConcurrentPositions ?? 1,
    warmupBars: settings.warmupPeriod ?? defaults?.warmupBars ?? null,
  });
  const known = hashes.get(ast)?.get(effective);
  if (known !== undefined) return known;
  const { text, index } = contentOf(canonicalize(ast));
  // Time windows carry their zone; `time` fields read the strategy's.
  const readsClock = index.texts.some((node) => CLOCK_READERS.some((start) => node.startsWith(start)));
  const timezone = readsClock ? (defaults?.timezone ?? 'UTC') : null;
  const hash = createHash('sha256').update(`svc.strategy/1\n${effective}\n${timezone}\n${text}`).digest('hex');
  const map = hashes.get(ast) ?? new Map<string, string>();
  hashes.set(ast, map.set(effective, hash));
  return hash;
}
