// Reading a payload: measure it by a loop before anything recursive reads it, check its form and lower a graph, so that
// later checks see an AST with places.
import type { Expression, StrategyAst } from '../grammar/ast.ts';
import type { IssueLog } from '../issues/issues.ts';
import { locate } from '../issues/locate.ts';
import { Lowering, type Lowered } from '../graph/lowerGraph.ts';
import { isMembers, visitObjects, type Members } from '../grammar/payloadObjects.ts';
import { firstSegment, pointerTo } from '../pointer.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { MAX_ROUNDS, placeBefore, repaired } from '../issues/repair.ts';
import { AST_SHAPE, GRAPH_SHAPE } from '../grammar/shapes.ts';
import { ownNamesOf, type ParamUse } from '../form/ownNames.ts';
import { Structure } from '../form/structure.ts';

/** The most expressions that a graph may have when written out as a tree: its AST is stored and read back as JSON. */
const MAX_TREE_SIZE = 20_000;

/** The most nodes of a graph that are checked beyond their form: four times what the largest tier allows. */
const MAX_NODES = 4_096;

export type PayloadMember = 'strategyAst' | 'signalGraph';

/** A payload as an AST, valid or not. */
export interface ReadPayload {
  readonly ast: StrategyAst;
  /** Pointers of its objects in the payload as sent. */
  readonly places: ReadonlyMap<object, string>;
  /** Objects with errors of their own. */
  readonly invalid: Set<object>;
  /** A graph's nodes, including unused ones; null for an AST. */
  readonly nodes: readonly Expression[] | null;
  /** Objects that a graph writes in short, as `{"const": 30}`. */
  readonly inline: ReadonlySet<object>;
  readonly paramUses: readonly ParamUse[];
  /** The payload that was read: as sent, or with its form repaired. */
  readonly value: Members;
}

/**
 * Reads a payload and reports its issues of size and form; undefined when it is too large or too deep to check further.
 * @param member what kind of payload it is
 * @param pointer the member of the request in which it stands
 */
export function readPayload(
  member: PayloadMember,
  payload: unknown,
  log: IssueLog,
  pointer: string,
): ReadPayload | undefined {
  const extent = measure(payload);
  if (!isWithinBounds(extent, log, pointer)) return undefined;
  // A copy through JSON holds every object once, so that every object has one place.
  const sent: unknown = extent.isShared ? JSON.parse(JSON.stringify(payload)) : payload;
  const { value, structure } = checkForm(member, sent, log, pointer);
  if (!isMembers(value)) return undefined;
  limitMeta(value, pointer, log);
  const { invalid, paramUses } = structure;
  if (member === 'signalGraph') {
    const lowered = lowerWithinBounds(value, log, invalid, pointer);
    return lowered && { ...lowered, paramUses, value };
  }
  return {
    ast: value as unknown as StrategyAst,
    places: locate(value, pointer),
    invalid,
    nodes: null,
    inline: new Set(),
    paramUses,
    value,
  };
}

/** Whether a payload is small enough to be checked further; reports it if not. */
function isWithinBounds(extent: Extent, log: IssueLog, pointer: string): boolean {
  if (extent.depth > MAX_DEPTH) {
    log.add('PAYLOAD_TOO_DEEP', pointer, {
      message: `The payload nests objects and lists more than ${MAX_DEPTH} deep.`,
      suggestion: 'Flatten the expressions.',
    });
  }
  if (extent.containers > MAX_CONTAINERS) {
    log.add('TIER_LIMIT_NODES', pointer, {
      message: `The payload holds more than ${MAX_CONTAINERS} objects and lists.`,
      suggestion: 'Simplify the strategy.',
    });
  }
  return extent.depth <= MAX_DEPTH && extent.containers <= MAX_CONTAINERS;
}

/** What a graph lowers to; undefined when it is too large or too deep to check further, which is then reported. */
function lowerWithinBounds(
  graph: Members,
  log: IssueLog,
  invalid: ReadonlySet<object>,
  pointer: string,
): Lowered | undefined {
  if (Array.isArray(graph.nodes) && graph.nodes.length > MAX_NODES) {
    log.add('TIER_LIMIT_NODES', `${pointer}/nodes`, {
      message: `The graph has ${graph.nodes.length} nodes, far more than any tier allows.`,
      suggestion: 'Simplify the strategy.',
    });
    return undefined;
  }
  const lowered = new Lowering(graph, log, invalid, pointer).run();
  if (lowered.depth > MAX_DEPTH) {
    log.add('PAYLOAD_TOO_DEEP', `${pointer}/nodes`, {
      message: `The references of the graph nest ${lowered.depth} deep, and at most ${MAX_DEPTH} are allowed.`,
      suggestion: 'Flatten the graph.',
    });
    return undefined;
  }
  if (lowered.treeSize > MAX_TREE_SIZE) {
    log.add('TIER_LIMIT_NODES', `${pointer}/nodes`, {
      message: `Written out as a StrategyAst, the graph has more than ${MAX_TREE_SIZE} nodes.`,
      suggestion: 'Use fewer references to nodes that contain many others.',
    });
    return undefined;
  }
  return lowered;
}

/**
 * The most characters of JSON of all `meta` of a payload together: they are stored and read with every run, though only
 * their author uses them.
 */
const MAX_META = 65_536;

/** Reports the first `meta` that goes beyond MAX_META. */
function limitMeta(payload: object, pointer: string, log: IssueLog): void {
  let total = 0;
  visitObjects(payload, (object) => {
    if (object.meta === undefined) return;
    const isWithin = total <= MAX_META;
    total += JSON.stringify(object.meta).length;
    if (isWithin && total > MAX_META)
      log.add('OUT_OF_RANGE', pointerTo(locate(payload, pointer).get(object) ?? pointer, 'meta'), {
        message: `All \`meta\` of the payload together must have at most ${MAX_META} characters of JSON.`,
        suggestion: 'Keep such data elsewhere, under the id of the strategy.',
      });
  });
}

/**
 * Checks the form. Where it can be repaired with certainty (a misspelled member hides everything below it), a repaired
 * copy is read instead, in a round of its own.
 */
function checkForm(
  member: PayloadMember,
  sent: unknown,
  log: IssueLog,
  pointer: string,
): { value: unknown; structure: Structure } {
  const shape = member === 'strategyAst' ? AST_SHAPE : GRAPH_SHAPE;
  const names = ownNamesOf(sent);
  let value = sent;
  for (let round = 1; ; round++) {
    const structure = new Structure(log, names);
    structure.check(shape, value, pointer);
    const { repairs } = structure;
    if (repairs.length === 0 || round > MAX_ROUNDS || !log.keepsErrors) return { value, structure };
    value = repairedAt(pointer, value, repairs, log);
  }
}

/** A copy of a payload with the certain patches of a round applied, which the next round of the log checks. */
export function repairedAt(pointer: string, value: unknown, steps: readonly PatchOperation[], log: IssueLog): unknown {
  const name = firstSegment(pointer);
  log.startRound(placeBefore(steps, { [name]: value }));
  return repaired({ [name]: value }, steps)[name];
}

/**
 * The deepest nesting of objects and lists that is checked further. The deepest expression of any tier (32 levels)
 * nests at most three of them per level (the step of a sequence), below half a dozen of the strategy's own. Recursion
 * is safe at ten times that.
 */
const MAX_DEPTH = 128;
/**
 * The most objects and lists that are checked further: the 1,024 nodes of the largest tier hold at most a few thousand.
 */
export const MAX_CONTAINERS = 20_000;

/** How deep and how large a JSON value is. */
interface Extent {
  readonly depth: number;
  readonly containers: number;
  /** Some object is used at two places. JSON cannot do that, but a caller in this process can. */
  readonly isShared: boolean;
}

/** Measures a JSON value as a tree; stops counting when either bound is exceeded. */
export function measure(value: unknown): Extent {
  const seen = new Set<object>();
  const stack: [value: object, depth: number][] = [];
  const push = (member: unknown, depth: number): void => {
    if (typeof member === 'object' && member !== null) stack.push([member, depth]);
  };
  let depth = 0;
  let containers = 0;
  let isShared = false;
  push(value, 1);
  while (stack.length > 0 && depth <= MAX_DEPTH && containers <= MAX_CONTAINERS) {
    const [container, level] = stack.pop()!;
    depth = Math.max(depth, level);
    containers++;
    isShared ||= seen.has(container);
    seen.add(container);
    if (Array.isArray(container)) for (const item of container) push(item, level + 1);
    else for (const name of Object.keys(container)) push((container as Record<string, unknown>)[name], level + 1);
  }
  return { depth, containers, isShared };
}
