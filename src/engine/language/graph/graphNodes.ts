// The nodes of a graph: which there are, which reads which, and which are used.
import type { IssueLog } from '../issues/issues.ts';
import { shown } from '../issues/displayNames.ts';
import { nodeShapeOf, typeOfKind, type ExpressionType, type ObjectShape, type Shape } from '../grammar/shapes.ts';
import { pointerTo } from '../pointer.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/** A node, and what could be read of it. */
export interface ReadNode {
  /** The node as its author wrote it, valid or not. */
  readonly raw: Members;
  readonly id: string | undefined;
  /** What it evaluates to; undefined when its kind, and therefore its shape, is unknown. */
  readonly type: ExpressionType | undefined;
  readonly shape: ObjectShape | undefined;
  readonly pointer: string;
}

export class GraphNodes {
  readonly #log: IssueLog;
  readonly #nodes: ReadNode[] = [];
  readonly #byId = new Map<string, ReadNode>();
  readonly #used = new Set<ReadNode>();
  /** References that would close a cycle, by the pointers of the two nodes. Filled by `inOrder`. */
  readonly #cycles = new Set<string>();

  /**
   * Reports ids that several nodes have.
   * @param nodes the member of the graph, valid or not
   * @param pointer its place in the request
   */
  constructor(nodes: unknown, pointer: string, log: IssueLog) {
    this.#log = log;
    for (const [i, raw] of (Array.isArray(nodes) ? (nodes as unknown[]) : []).entries())
      if (isMembers(raw)) this.#register(raw, pointerTo(pointer, i));
  }

  #register(raw: ReadNode['raw'], pointer: string): void {
    const id = typeof raw.id === 'string' ? raw.id : undefined;
    const node = { raw, id, type: typeOfKind(raw.kind), shape: nodeShapeOf(raw.kind), pointer };
    this.#nodes.push(node);
    if (id === undefined) return;
    if (!this.#byId.has(id)) this.#byId.set(id, node);
    else
      this.#log.add('NODE_ID_DUPLICATE', `${pointer}/id`, {
        message: `Another node has the id ${shown(id)} as well.`,
        suggestion: 'Give every node its own id.',
      });
  }

  /** The first node with this id. */
  find(id: string): ReadNode | undefined {
    return this.#byId.get(id);
  }

  idsOf(type: ExpressionType): string[] {
    return this.#nodes.flatMap((node) => (node.id !== undefined && node.type === type ? [node.id] : []));
  }

  /**
   * The nodes in an order in which each comes after those it refers to. A loop, since a chain may be as long as the
   * payload. Cycles are cut.
   */
  inOrder(): ReadNode[] {
    const order: ReadNode[] = [];
    const state = new Map<ReadNode, 'open' | 'done'>();
    for (const start of this.#nodes) {
      if (state.has(start)) continue;
      const stack = [{ node: start, read: this.#readBy(start), next: 0 }];
      state.set(start, 'open');
      while (stack.length > 0) {
        const top = stack[stack.length - 1];
        if (top.next === top.read.length) {
          state.set(top.node, 'done');
          order.push(top.node);
          stack.pop();
          continue;
        }
        const target = top.read[top.next++];
        const known = state.get(target);
        if (known === 'open') {
          this.#cycles.add(`${top.node.pointer} ${target.pointer}`);
        } else if (known === undefined) {
          state.set(target, 'open');
          stack.push({ node: target, read: this.#readBy(target), next: 0 });
        }
      }
    }
    return order;
  }

  /** Whether a reference from one node to another would close a cycle. Only after `inOrder`. */
  isCycle(from: ReadNode, to: ReadNode): boolean {
    return this.#cycles.has(`${from.pointer} ${to.pointer}`);
  }

  /** Marks a node and everything it reads as used. */
  use(node: ReadNode): void {
    const stack = [node];
    while (stack.length > 0) {
      const one = stack.pop()!;
      if (this.#used.has(one)) continue;
      this.#used.add(one);
      for (const target of this.#readBy(one)) stack.push(target);
    }
  }

  /** After an error only the error is reported: a broken reference leaves nodes unused that its repair will use. */
  reportUnused(): void {
    if (this.#log.errorCount > 0) return;
    for (const node of this.#nodes) {
      const isDuplicate = node.id !== undefined && this.#byId.get(node.id) !== node;
      if (this.#used.has(node) || isDuplicate) continue;
      this.#log.add('UNUSED_NODE', node.pointer, {
        message: `Node ${shown(node.id)} is not used.`,
        suggestion: 'Refer to it, or remove it.',
      });
    }
  }

  /** The nodes that a node refers to, one for each reference. */
  #readBy(node: ReadNode): ReadNode[] {
    const read: ReadNode[] = [];
    const collect = (shape: Shape, value: unknown): void => {
      if (shape.type === 'reference' && isMembers(value) && typeof value.ref === 'string') {
        const target = this.#byId.get(value.ref);
        if (target !== undefined) read.push(target);
      } else if (shape.type === 'array' && Array.isArray(value)) {
        for (const item of value) collect(shape.item, item);
      } else if (shape.type === 'object' && isMembers(value)) {
        for (const { name, shape: field } of shape.fields.values()) collect(field, value[name]);
      }
    };
    if (node.shape !== undefined) collect(node.shape, node.raw);
    return read;
  }
}
