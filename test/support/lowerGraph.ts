// A graph compiled by itself, without the checks of a strategy.
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import type { SignalGraph } from '../../src/engine/language/grammar/graph.ts';
import type { Members } from '../../src/engine/language/grammar/payloadObjects.ts';
import { GRAPH_SHAPE } from '../../src/engine/language/grammar/shapes.ts';
import { Structure } from '../../src/engine/language/form/structure.ts';
import { Lowering } from '../../src/engine/language/graph/lowerGraph.ts';
import { IssueLog, type ValidationIssue } from '../../src/engine/language/issues/issues.ts';

/**
 * The AST of a graph without errors, else its issues. A node that is used in several places is one object in the AST.
 */
export function lowerGraph(
  graph: SignalGraph,
):
  | { readonly ok: true; readonly strategyAst: StrategyAst }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] } {
  const log = new IssueLog();
  const structure = new Structure(log);
  structure.check(GRAPH_SHAPE, graph, '/signalGraph');
  const { ast } = new Lowering(graph as unknown as Members, log, structure.invalid).run();
  return log.errorCount > 0 ? { ok: false, issues: log.list() } : { ok: true, strategyAst: ast };
}
