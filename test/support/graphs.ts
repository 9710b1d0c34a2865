// Graphs of generated strategies: the reverse of lowering, written from the grammar and not from the code that lowers.
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import type { SignalGraph } from '../../src/engine/language/grammar/graph.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS } from './strategies.ts';

const KINDS: ReadonlySet<unknown> = new Set([...ALL_VALUE_KINDS, ...ALL_CONDITION_KINDS, 'and', 'or']);
type Members = Record<string, unknown>;

/** Every expression becomes a node (equal ones the same node), constants stay in place as `{const}` now and then. */
export function graphOf(ast: StrategyAst): SignalGraph {
  const nodes: Members[] = [];
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { kind, id } = value as Members;
    if (KINDS.has(kind) && typeof id === 'string') taken.add(id);
    for (const member of Object.values(value)) collect(member);
  };
  collect(ast.strategy);
  const convert = (value: unknown, isRoot: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, isRoot));
    if (typeof value !== 'object' || value === null) return value;
    const node = value as Members;
    if (!KINDS.has(node.kind)) {
      return Object.fromEntries(
        Object.entries(node).map(([name, member]) => [
          name,
          name === 'params' || name === 'defaults' || name === 'meta' ? member : convert(member, isRoot),
        ]),
      );
    }
    if (
      node.kind === 'const' &&
      !isRoot &&
      node.id === undefined &&
      typeof node.value === 'number' &&
      nodes.length % 2 === 0
    )
      return { const: node.value };
    const made = Object.fromEntries(
      Object.entries(node).map(([name, member]) => [
        name,
        name === 'args' && node.kind !== 'math' ? member : convert(member, false),
      ]),
    );
    if (node.kind === 'indicator') made.args ??= {};
    const key = JSON.stringify(made);
    const known = ids.get(key);
    if (known !== undefined) return { ref: known };
    let fresh = node.id as string | undefined;
    for (let i = nodes.length; fresh === undefined || (fresh !== node.id && taken.has(fresh)); i++) fresh = `g${i}`;
    taken.add(fresh);
    ids.set(key, fresh);
    nodes.push({ ...made, id: fresh });
    return { ref: fresh };
  };
  const strategy = convert(ast.strategy, true) as Members;
  return { protocol: 'svc.signal-graph', version: 2, nodes, strategy } as unknown as SignalGraph;
}
