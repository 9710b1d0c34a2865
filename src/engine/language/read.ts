// Reading: a payload measured, its form checked, and a graph lowered, so that what follows sees an AST and the places of its objects.
import type { Expression, StrategyAst } from './ast.ts';
import { measure, MAX_CONTAINERS, MAX_DEPTH } from './bounds.ts';
import type { IssueLog } from './issues.ts';
import { locate } from './locate.ts';
import { Lowering } from './lower.ts';
import { repaired, translationOf } from './repair.ts';
import { AST_SHAPE, GRAPH_SHAPE } from './shapes.ts';
import { Structure, type ParamUse } from './structure.ts';
import { isMembers } from './wording.ts';

/** Expressions of a graph written out as a tree, at most: its AST is stored and read back as JSON. */
const MAX_TREE_SIZE = 20_000;

/** Nodes of a graph that are looked at beyond their form: four times what the largest tier allows. */
const MAX_NODES = 4_096;

export type PayloadMember = 'strategyAst' | 'signalGraph';

/** A payload as an AST, whatever is wrong with it. */
export interface ReadPayload {
  readonly ast: StrategyAst;
  /** Pointers of its objects in the payload as sent. */
  readonly places: ReadonlyMap<object, string>;
  /** Objects with faults of their own. */
  readonly faulty: Set<object>;
  /** A graph's nodes, also those that nothing uses; null for an AST. */
  readonly nodes: readonly Expression[] | null;
  readonly paramUses: readonly ParamUse[];
}

/** Extent and form, and of a graph the AST; undefined when it is too large or too deep to look into. Faults are logged. */
export function readPayload(member: PayloadMember, payload: unknown, log: IssueLog): ReadPayload | undefined {
  const pointer = `/${member}`;
  const extent = measure(payload);
  if (extent.depth > MAX_DEPTH) {
    log.add('PAYLOAD_TOO_DEEP', pointer, {
      message: `this nests more than ${MAX_DEPTH} deep`,
      suggestion: 'flatten the expressions',
    });
  }
  if (extent.containers > MAX_CONTAINERS) {
    log.add('TIER_LIMIT_NODES', pointer, {
      message: `this holds more than ${MAX_CONTAINERS} objects`,
      suggestion: 'simplify the strategy',
    });
  }
  if (extent.depth > MAX_DEPTH || extent.containers > MAX_CONTAINERS) return undefined;
  // Objects used twice have two places; JSON has none, and neither has a copy through it.
  const sent: unknown = extent.isShared ? JSON.parse(JSON.stringify(payload)) : payload;
  const { value, structure } = checkForm(member, sent, log);
  if (!isMembers(value)) return undefined;
  const { faulty, paramUses } = structure;
  if (member === 'strategyAst') {
    return { ast: value as unknown as StrategyAst, places: locate(value, pointer), faulty, nodes: null, paramUses };
  }
  if (Array.isArray(value.nodes) && value.nodes.length > MAX_NODES) {
    log.add('TIER_LIMIT_NODES', `${pointer}/nodes`, {
      message: `this has ${value.nodes.length} nodes, and no tier allows a quarter of ${MAX_NODES}`,
      suggestion: 'simplify the strategy',
    });
    return undefined;
  }
  const lowered = new Lowering(value, log, faulty).run();
  if (lowered.depth > MAX_DEPTH) {
    log.add('PAYLOAD_TOO_DEEP', '/signalGraph/nodes', {
      message: `references nest ${lowered.depth} deep`,
      suggestion: 'flatten the graph',
    });
    return undefined;
  }
  if (lowered.treeSize > MAX_TREE_SIZE) {
    log.add('TIER_LIMIT_NODES', '/signalGraph/nodes', {
      message: `written out as a StrategyAst this has more than ${MAX_TREE_SIZE} nodes, because nodes are used many times`,
      suggestion: 'use fewer references to nodes that themselves hold many',
    });
    return undefined;
  }
  return { ...lowered, paramUses };
}

/**
 * The form checked. Where certain repairs would change what is read further (a misspelt member hides all below it), the repaired copy is
 * read instead, and the log speaks of its places from then on.
 */
function checkForm(member: PayloadMember, sent: unknown, log: IssueLog): { value: unknown; structure: Structure } {
  const shape = member === 'strategyAst' ? AST_SHAPE : GRAPH_SHAPE;
  const structure = new Structure(log);
  structure.check(shape, sent, `/${member}`);
  const { repairs } = structure;
  if (repairs.length === 0 || !log.keepsErrors || !isMembers(sent)) return { value: sent, structure };
  const copy = repaired({ [member]: sent }, repairs)[member];
  log.speakOf(translationOf(repairs));
  const again = new Structure(log);
  again.check(shape, copy, `/${member}`);
  return { value: copy, structure: again };
}
