// The child slots of an expression, in reading order: for whoever walks a tree without caring what its nodes do.
import type { Concrete, Condition, Expression, Value } from '../language/ast.ts';

export type Node = Concrete<Expression>;
export interface Child {
  /** RFC 6901 segments from the parent. */
  readonly pointer: string;
  readonly node: Concrete<Value> | Concrete<Condition>;
}

export function childrenOf(node: Node): Child[] {
  switch (node.kind) {
    case 'const':
    case 'market':
    case 'state':
    case 'series':
    case 'pivot':
    case 'time':
    case 'pattern':
    case 'time_window':
    case 'session':
      return [];
    case 'indicator': {
      const sources = (node.sources ?? []).map((source, index) => ({ pointer: `/sources/${index}`, node: source }));
      return node.source ? [{ pointer: '/source', node: node.source }, ...sources] : sources;
    }
    case 'rolling':
    case 'shift':
    case 'rising':
    case 'falling':
      return [{ pointer: '/source', node: node.source }];
    case 'math':
      return node.args.map((arg, index) => ({ pointer: `/args/${index}`, node: arg }));
    case 'if':
      return [
        { pointer: '/cond', node: node.cond },
        { pointer: '/then', node: node.then },
        { pointer: '/else', node: node.else },
      ];
    case 'bars_since':
      return [{ pointer: '/when', node: node.when }];
    case 'value_when':
    case 'capture':
      return [
        { pointer: '/value', node: node.value },
        { pointer: '/when', node: node.when },
      ];
    case 'compare':
    case 'cross':
    case 'near':
      return [
        { pointer: '/left', node: node.left },
        { pointer: '/right', node: node.right },
      ];
    case 'between':
      return [
        { pointer: '/value', node: node.value },
        { pointer: '/lower', node: node.lower },
        { pointer: '/upper', node: node.upper },
      ];
    case 'all':
    case 'and':
    case 'any':
    case 'or':
      return node.items.map((item, index) => ({ pointer: `/items/${index}`, node: item }));
    case 'not':
      return [{ pointer: '/item', node: node.item }];
    case 'sequence':
      return node.steps.map((step, index) => ({ pointer: `/steps/${index}/expr`, node: step.expr }));
    case 'rolling_window':
      return [{ pointer: '/expr', node: node.expr }];
    case 'state_machine':
      return [{ pointer: '/set', node: node.set }, ...(node.reset ? [{ pointer: '/reset', node: node.reset }] : [])];
  }
}

/** Whether an expression reads position or account state; each object is looked at once. */
export class StateReaders {
  readonly #known = new Map<object, boolean>();

  has(node: Node): boolean {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const reads = node.kind === 'state' || childrenOf(node).some((child) => this.has(child.node));
    this.#known.set(node, reads);
    return reads;
  }
}
