import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { lowerGraph } from '../../support/lowerGraph.ts';
import { strategyHash } from '../../../src/engine/language/canonical/content.ts';
import { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { graph, strategy, cross, indicator, market, type Json } from '../../support/builders.ts';

const lower = (payload: Json): Json => {
  const lowered = lowerGraph(payload);
  if (!lowered.ok) throw new Error(JSON.stringify(lowered.issues));
  return lowered.strategyAst;
};

describe('lowering', () => {
  it('replaces references by the nodes they refer to, and keeps the author’s node ids', () => {
    const {
      strategy: made,
      protocol,
      version,
    } = lower({ ...graph(), meta: { name: 'mine', tags: ['x'], source: { editor: 'ai', blockIds: ['1'] } } });
    expect([protocol, version]).toEqual(['svc.strategy', 1]);
    expect(made.entry.trigger).toEqual({
      id: 'up',
      kind: 'cross',
      op: 'cross_up',
      left: { id: 'close', kind: 'market', field: 'close' },
      right: {
        id: 'average',
        kind: 'indicator',
        indicator: 'sma',
        args: { length: 20 },
        source: { id: 'close', kind: 'market', field: 'close' },
      },
    });
    expect(StrategyAst.safeParse(lower(graph())).success).toBe(true);
  });

  it('gives a graph the same meaning as its AST', () => {
    const average = indicator('sma', { length: 20 });
    const ast = strategy(cross(market(), 'cross_up', average), {
      exits: [{ kind: 'exit', when: cross(market(), 'cross_down', average) }],
    });
    expect(strategyHash(lower(graph()), {})).toBe(strategyHash(ast, {}));
    const { valid, compiled } = checkStrategy({ settings: {}, strategyAst: ast, signalGraph: graph() });
    expect(valid).toBe(true);
    expect(compiled!.strategyHash).toBe(strategyHash(ast, {}));
  });

  it('accepts numbers and parameters in the place of a value reference', () => {
    const payload = graph();
    payload.nodes[2].right = { const: 30 };
    payload.nodes[3].right = { param: 'level' };
    payload.nodes.splice(1, 1);
    payload.strategy.params = [{ name: 'level', type: 'float', default: 70 }];
    const made = lower(payload).strategy;
    expect(made.entry.trigger.right).toEqual({ kind: 'const', value: 30 });
    expect(made.exits[0].when.right).toEqual({ kind: 'param', name: 'level' });
  });

  it('keeps a node that is used in several places one object, so that sharing costs nothing', () => {
    const made = lower(graph()).strategy;
    expect(made.entry.trigger.left).toBe(made.exits[0].when.left);
    expect(made.entry.trigger.left).toBe(made.entry.trigger.right.source);
  });

  it('accepts references in sequence steps, order prices, stops and take-profits', () => {
    const payload = graph();
    payload.nodes.push({
      id: 'seq',
      kind: 'sequence',
      steps: [{ expr: { ref: 'down' } }, { expr: { ref: 'up' }, maxBars: 9 }],
    });
    payload.strategy.entry.trigger = { ref: 'seq' };
    payload.strategy.entry.action.order = { type: 'limit', price: { ref: 'average' }, expireBars: 3 };
    payload.strategy.risk = {
      stopLoss: { mode: 'price', value: { ref: 'average' } },
      takeProfits: [{ triggerPrice: { const: 99 }, closePercent: 100 }],
    };
    const made = lower(payload).strategy;
    expect(made.entry.trigger.steps[1].expr.id).toBe('up');
    expect(made.entry.action.order.price.id).toBe('average');
    expect(made.risk.stopLoss.value.id).toBe('average');
    expect(made.risk.takeProfits[0].triggerPrice).toEqual({ kind: 'const', value: 99 });
  });

  it('places issues found after lowering in the graph', () => {
    const payload = graph();
    payload.nodes[1].args = { lenght: 3 };
    payload.strategy.risk = { takeProfits: [{ closePercent: 10 }] };
    const { issues } = checkStrategy({ settings: {}, signalGraph: payload });
    expect(issues.map(({ code, path, field }) => [code, path, field])).toEqual([
      ['RISK_INVALID', '/signalGraph/strategy/risk/takeProfits/0', 'signalGraph'],
      ['UNKNOWN_INDICATOR_ARG', '/signalGraph/nodes/1/args/lenght', 'signalGraph'],
    ]);
  });

  it('says where two payloads differ', () => {
    const other = graph();
    other.nodes[1].args.length = 21;
    const ast = lower(graph());
    const { issues, compiled } = checkStrategy({
      settings: {},
      strategyAst: JSON.parse(JSON.stringify(ast)),
      signalGraph: other,
    });
    expect(issues.map(({ code }) => code)).toEqual(['PAYLOADS_DISAGREE']);
    expect(issues[0].message).toContain(
      '/strategyAst/strategy/entry/trigger/right/args/length differs from /signalGraph/nodes/1/args/length',
    );
    expect(compiled).toBeNull();
  });
});
