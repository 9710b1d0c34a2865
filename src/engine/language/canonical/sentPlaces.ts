// Sent places: pointers into the payload that the author sent, for every object of the AST that is run.
import type { StrategyAst } from '../grammar/ast.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import type { Members } from '../grammar/payloadObjects.ts';
import { IssueLog } from '../issues/issues.ts';
import { locate } from '../issues/locate.ts';
import { Lowering } from '../graph/lowerGraph.ts';
import { pointerTo } from '../pointer.ts';

type Places = ReadonlyMap<object, string>;

const known = new WeakMap<StrategyAst, Places>();

/**
 * The pointer of every object and list of an AST: into the graph it was compiled from, else into the AST itself. Cached
 * by object, which must not change afterwards.
 */
export function sentPlaces(ast: StrategyAst, signalGraph: SignalGraph | undefined): Places {
  const found = known.get(ast);
  if (found !== undefined) return found;
  const places = (signalGraph && placesInGraph(ast, signalGraph)) ?? locate(ast, '/strategyAst');
  known.set(ast, places);
  return places;
}

/**
 * Walks the AST beside what the graph lowers to. Undefined when they differ: then the author sent both, and the AST is
 * the one that runs.
 */
function placesInGraph(ast: StrategyAst, signalGraph: SignalGraph): Places | undefined {
  const graph = signalGraph as unknown as Members;
  const lowered = new Lowering(graph, new IssueLog(), new Set()).run();
  const places = new Map<object, string>();
  const stack: { value: object; twin: object; pointer: string }[] = [
    { value: ast, twin: lowered.ast, pointer: '/signalGraph' },
  ];
  while (stack.length > 0) {
    const { value, twin, pointer } = stack.pop()!;
    if (places.has(value)) continue;
    places.set(value, pointer);
    const names = Object.keys(value);
    if (names.length !== Object.keys(twin).length) return undefined;
    for (const name of names) {
      const [member, other]: unknown[] = [Reflect.get(value, name), Reflect.get(twin, name)];
      const isNested = typeof member === 'object' && member !== null;
      if (isNested !== (typeof other === 'object' && other !== null)) return undefined;
      if (!isNested) continue;
      const place = lowered.places.get(other as object) ?? pointerTo(pointer, name);
      stack.push({ value: member, twin: other as object, pointer: place });
    }
  }
  return places;
}
