// Lowering: from a SignalGraph to the StrategyAst that means the same, with the id and the place of every node.
import type { Expression, StrategyAst } from '../grammar/ast.ts';
import type { IssueLog } from '../issues/issues.ts';
import { nearestOwnName, suggestionFor } from '../issues/nearest.ts';
import { pointerTo } from '../pointer.ts';
import { GRAPH_SHAPE, optionOf, type ExpressionType, type PlaceType, type Shape } from '../grammar/shapes.ts';
import { numericText, shown } from '../issues/displayNames.ts';
import { expressionMeant } from '../form/misplaced.ts';
import { GraphNodes, type ReadNode } from './graphNodes.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/** A payload as an AST, which may lack its invalid parts, and the places of its objects in the payload as sent. */
export interface Lowered {
  readonly ast: StrategyAst;
  /** Pointers of the objects of `ast` in the payload as sent. */
  readonly places: Map<object, string>;
  /** Objects of `ast` with errors of their own. */
  readonly invalid: Set<object>;
  /** Every node, including unused ones. */
  readonly nodes: readonly Expression[];
  /** The nesting of the deepest expression, computed without walking the tree. */
  readonly depth: number;
  /** The number of expressions when written out as a tree, counting every use of a node. */
  readonly treeSize: number;
  /** Objects of `ast` that the graph writes in short, as `{"const": 30}` or `{"param": "level"}`. */
  readonly inline: ReadonlySet<object>;
}

interface LoweredNode {
  readonly expression: Expression;
  readonly depth: number;
  readonly treeSize: number;
}

/** The lowering of one graph, valid or not. */
export class Lowering {
  readonly #graph: Members;
  readonly #log: IssueLog;
  readonly #invalidPayload: ReadonlySet<object>;
  readonly #nodes: GraphNodes;
  readonly #made = new Map<ReadNode, LoweredNode>();
  readonly #places = new Map<object, string>();
  readonly #invalid = new Set<object>();
  readonly #inline = new Set<object>();
  readonly #root: string;
  /** Ids of the nodes that patches add. */
  readonly #added = new Set<string>();
  /** The depth and size of what the object being copied contains. */
  #depth = 0;
  #treeSize = 0;

  /**
   * @param invalid objects of the graph whose form is not valid
   * @param root the place of the graph in the request
   */
  constructor(graph: Members, log: IssueLog, invalid: ReadonlySet<object>, root = '/signalGraph') {
    this.#root = root;
    this.#graph = graph;
    this.#log = log;
    this.#invalidPayload = invalid;
    this.#nodes = new GraphNodes(graph.nodes, `${root}/nodes`, log);
  }

  run(): Lowered {
    for (const node of this.#nodes.inOrder()) this.#made.set(node, this.#lowerNode(node));
    this.#depth = 0;
    this.#treeSize = 0;
    const strategyShape = GRAPH_SHAPE.fields.get('strategy')!.shape;
    const ast: Record<string, unknown> = { protocol: 'svc.strategy', version: 1 };
    if (isMembers(this.#graph.meta)) ast.meta = this.#graph.meta;
    if (isMembers(this.#graph.strategy)) {
      ast.strategy = this.#copy(strategyShape, this.#graph.strategy, `${this.#root}/strategy`, true);
    }
    this.#places.set(ast, this.#root);
    const depth = this.#depth;
    const treeSize = this.#treeSize;
    this.#nodes.reportUnused();
    return {
      ast: ast as unknown as StrategyAst,
      places: this.#places,
      invalid: this.#invalid,
      nodes: [...this.#made.values()].map(({ expression }) => expression),
      depth: [...this.#made.values()].reduce((most, made) => Math.max(most, made.depth), depth),
      treeSize,
      inline: this.#inline,
    };
  }

  #lowerNode(node: ReadNode): LoweredNode {
    this.#depth = 0;
    this.#treeSize = 0;
    const expression =
      node.shape === undefined
        ? { ...node.raw }
        : (this.#copy(node.shape, node.raw, node.pointer, false, node) as Members);
    this.#places.set(expression, node.pointer);
    if (node.shape === undefined) this.#invalid.add(expression);
    return { expression: expression as unknown as Expression, depth: this.#depth + 1, treeSize: this.#treeSize + 1 };
  }

  /**
   * A copy with references replaced by the nodes they refer to. Invalid parts are copied and marked; a reference to
   * nothing is left out.
   * @param isUse whether what it refers to is used: it stands in the strategy, not in a node
   * @param owner the node that is copied
   */
  #copy(shape: Shape, value: unknown, pointer: string, isUse: boolean, owner?: ReadNode): unknown {
    switch (shape.type) {
      case 'reference':
        return this.#refer(shape.of, value, pointer, isUse, owner);
      case 'array':
        if (!Array.isArray(value)) return value;
        return value
          .map((item, i) => this.#copy(shape.item, item, pointerTo(pointer, i), isUse, owner))
          .filter((item) => item !== undefined);
      case 'kinds': {
        const option = isMembers(value) ? shape.options.get(String(value[shape.key])) : undefined;
        return option === undefined ? value : this.#copy(option, value, pointer, isUse, owner);
      }
      case 'either': {
        const option = typeof value === 'object' ? optionOf(shape.options, value) : undefined;
        return option === undefined ? value : this.#copy(option, value, pointer, isUse, owner);
      }
      case 'object': {
        if (!isMembers(value)) return value;
        const copy: Record<string, unknown> = {};
        for (const { name, shape: field } of shape.fields.values()) {
          if (value[name] === undefined || !Object.hasOwn(value, name)) continue;
          const made = this.#copy(field, value[name], pointerTo(pointer, name), isUse, owner);
          if (made !== undefined) copy[name] = made;
          if (isMissing(field, value[name], made)) this.#invalid.add(copy);
        }
        if (this.#invalidPayload.has(value)) this.#invalid.add(copy);
        this.#places.set(copy, pointer);
        return copy;
      }
      default:
        return value;
    }
  }

  /** The expression that a reference stands for; undefined where it stands for none, which is reported. */
  #refer(
    place: PlaceType,
    value: unknown,
    pointer: string,
    isUse: boolean,
    owner: ReadNode | undefined,
  ): Expression | undefined {
    if (!isMembers(value)) return undefined;
    const of = place === 'either' ? this.#typeReferredTo(value) : place;
    if (of === 'value' && ('const' in value || 'param' in value)) return this.#inlineValue(value, pointer);
    const { ref } = value;
    if (typeof ref !== 'string') return undefined;
    const target = this.#nodes.find(ref);
    const at = `${pointer}/ref`;
    if (target === undefined) {
      this.#log.add('REF_NOT_FOUND', at, () => this.#notFound(ref, of, at));
      return undefined;
    }
    if (isUse) this.#nodes.use(target);
    if (owner !== undefined && this.#nodes.isCycle(owner, target)) {
      this.#log.add('GRAPH_CYCLE', at, {
        message: `Node ${shown(owner.id)} reads ${shown(ref)}, which itself depends on ${shown(owner.id)}.`,
        suggestion: 'Break the cycle. For a value of an earlier bar, shift a market or indicator node.',
      });
      return undefined;
    }
    if (target.type !== undefined && target.type !== of) {
      const is = target.type === 'value' ? 'a value' : 'a condition';
      this.#log.add('REF_TYPE_MISMATCH', at, {
        message: `Node ${shown(ref)} is ${is}, and this input takes ${of === 'value' ? 'a value' : 'a condition'}.`,
        suggestion: of === 'value' ? 'Turn it into a number with an `if` node.' : 'Compare it with something first.',
      });
      return undefined;
    }
    const made = this.#made.get(target);
    if (made === undefined) return undefined;
    this.#addContained(made.depth, made.treeSize);
    return target.type === undefined ? undefined : made.expression;
  }

  /** The type of the node that a reference refers to; a value where there is none. */
  #typeReferredTo({ ref }: Members): ExpressionType {
    return (typeof ref === 'string' ? this.#nodes.find(ref)?.type : undefined) ?? 'value';
  }

  /** The expression of a number or param that is written in place of a reference. */
  #inlineValue(value: Members, pointer: string): Expression {
    const inline = 'const' in value ? { kind: 'const', value: value.const } : { kind: 'param', name: value.param };
    this.#places.set(inline, pointer);
    this.#inline.add(inline);
    this.#addContained(1, 1);
    return inline as Expression;
  }

  /** The details of a reference to no node: the nearest id, or the node that its word stands for. */
  #notFound(ref: string, of: ExpressionType, path: string) {
    const ids = this.#nodes.idsOf(of);
    const nearest = nearestOwnName(ref, ids.slice(0, MAX_COMPARED_IDS));
    const message = `No node has the id ${shown(ref)}.`;
    const isWord = of === 'value' && nearest?.isCertain !== true && numericText(ref) === undefined;
    const meant = isWord ? expressionMeant('value', ref) : undefined;
    if (meant !== undefined) {
      const node = { id: ref, ...(meant.value as Members) };
      // Once, however often it is referred to.
      const patch = this.#added.has(ref) ? [] : [{ op: 'add', path: `${this.#root}/nodes/-`, value: node } as const];
      this.#added.add(ref);
      return { message, suggestion: `Add ${JSON.stringify(node)} to nodes.`, patch };
    }
    return {
      message,
      suggestion: nearest === undefined ? addNode(ids) : suggestionFor(nearest, ids),
      patch: nearest?.isCertain === true ? [{ op: 'replace', path, value: nearest.name } as const] : undefined,
    };
  }

  /** Counts an expression that the object being copied contains. */
  #addContained(depth: number, treeSize: number): void {
    this.#depth = Math.max(this.#depth, depth);
    this.#treeSize += treeSize;
  }
}

const addNode = (ids: readonly string[]): string =>
  `Add a node with this id${ids.length === 0 ? '.' : `, or ${suggestionFor(undefined, ids).replace('Use', 'use')}`}`;

/** The most ids that a misspelled reference is compared with: a hostile graph has thousands of both. */
const MAX_COMPARED_IDS = 2_000;

/** Whether an input was written and could not be lowered, so that its owner is incomplete. */
function isMissing(shape: Shape, value: unknown, made: unknown): boolean {
  if (shape.type === 'reference') return made === undefined;
  return shape.type === 'array' && Array.isArray(value) && Array.isArray(made) && made.length !== value.length;
}
