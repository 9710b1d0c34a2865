// docs/language.md as written: its tables name every member of the grammar, and every example trades.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { checkStrategy, createMarket, createUniverse, runBacktest, strategyHash } from '../src/engine/index.ts';
import type { BacktestConfig, Market, Settings, StrategyAst, Universe } from '../src/engine/index.ts';
import { AST_SHAPE, EXPRESSION_SHAPES, SETTINGS_SHAPE } from '../src/engine/language/grammar/shapes.ts';
import type { ObjectShape, Shape } from '../src/engine/language/grammar/shapes.ts';
import { shippedData } from './support/shippedData.ts';

const text = readFileSync(join(ROOT, 'docs', 'language.md'), 'utf8');
const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readJson = (path: string): unknown => JSON.parse(readText(path));
/** What every object may carry, and what stands for a number: the page says so once. */
const OF_EVERY_OBJECT = ['id', 'label', 'description', 'meta', 'kind', 'param'];

describe('the page’s tables of expressions', () => {
  /** Rows of the table under a heading, by each of the names in their first cell. */
  const tableUnder = (heading: string): Map<string, string[]> => {
    const [, section] = text.split(`\n${heading}\n`);
    const rows = section.split(/\n##/)[0].matchAll(/^\| (`.*) \|$/gm);
    const cells = [...rows].map(([, row]) => row.split(' | '));
    return new Map(cells.flatMap((row) => [...row[0].matchAll(/`(\w+)`/g)].map(([, name]) => [name, row])));
  };
  const kinds = new Map([...tableUnder('## Values'), ...tableUnder('## Conditions')]);
  const lacks = (cell: string) => (word: string) => !new RegExp(`\\b${word}\\b`).test(cell);

  it('lists every kind of value and condition with every member it takes', () => {
    for (const [kind, shape] of [...EXPRESSION_SHAPES.value, ...EXPRESSION_SHAPES.condition]) {
      // The row of `all` says that `and` and `or` are accepted.
      const row = kinds.get(kind === 'and' || kind === 'or' ? 'all' : kind);
      const members = [...shape.fields.keys()].filter((name) => !OF_EVERY_OBJECT.includes(name));
      expect([kind, members.filter(lacks(row?.[1] ?? ''))]).toEqual([kind, []]);
    }
  });

  /** Every closed list of words that a member of a kind takes; timeframes have a section of their own. */
  const lists = [...EXPRESSION_SHAPES.value, ...EXPRESSION_SHAPES.condition].flatMap(([kind, { fields }]) =>
    [...fields.values()].flatMap(({ name, shape }): [string, string, string[]][] => {
      const isList = shape.type === 'choice' && !OF_EVERY_OBJECT.includes(name) && name !== 'timeframe';
      return isList ? [[kind, name, shape.values.map(String)]] : [];
    }),
  );
  it('knows the closed lists of many kinds', () => {
    const known = lists.map(([kind, member]) => `${kind}.${member}`);
    expect(known).toEqual(expect.arrayContaining(['market.field', 'math.op', 'compare.op', 'pattern.side']));
    expect(known.length).toBeGreaterThan(8);
  });

  it.each(lists)('names every word of the closed list of %s.%s in its row', (kind, member, list) => {
    const row = kinds.get(kind === 'and' || kind === 'or' ? 'all' : kind)!.join(' ');
    // Two lists have a table of their own.
    const places: Record<string, () => string> = {
      'rolling.op': () => [...tableUnder('### Rolling operations').keys()].join(' '),
      'state.field': () => readText('docs/semantics.md').split('### 1.11 State fields')[1].split('\n## ')[0],
    };
    expect(list.filter(lacks(places[`${kind}.${member}`]?.() ?? row))).toEqual([]);
  });
});

/** Members and fixed words below a shape; expressions have tables of their own. */
function namesBelow(shape: Shape): string[] {
  switch (shape.type) {
    case 'object': {
      const fields = [...shape.fields.values()].filter(({ name }) => !OF_EVERY_OBJECT.includes(name));
      return fields.flatMap((field) => [field.name, ...namesBelow(field.shape)]);
    }
    case 'kinds':
      return [...shape.options].flatMap(([name, option]) => [name, ...namesBelow(option)]);
    case 'either':
      return shape.options.flatMap(namesBelow);
    case 'array':
      return namesBelow(shape.item);
    case 'choice':
      return shape.values.map(String);
    default:
      return [];
  }
}

const fieldsOf = (shape: Shape): ObjectShape['fields'] => {
  const [first] = shape.type === 'either' ? shape.options : shape.type === 'array' ? [shape.item] : [shape];
  return (first as ObjectShape).fields;
};
const strategy = fieldsOf(AST_SHAPE).get('strategy')!.shape;
const section = (name: string): Shape => fieldsOf(strategy).get(name)!.shape;
const action = fieldsOf(section('entry')).get('action')!.shape;
const [sizing, order] = ['sizing', 'order'].map((name) => fieldsOf(action).get(name)!.shape);
const ofAction = new Set([...namesBelow(sizing), ...namesBelow(order)]);

const SECTIONS: [string, readonly string[]][] = [
  ['entry', namesBelow(section('entry')).filter((name) => !ofAction.has(name))],
  ['sizing', namesBelow(sizing)],
  ['order', namesBelow(order)],
  ...['exits', 'allocation', 'risk', 'params', 'defaults'].map((name): [string, string[]] => [
    name,
    namesBelow(section(name)),
  ]),
  ['settings', namesBelow(SETTINGS_SHAPE)],
];

/** The text under `### name`, up to the next heading. */
const under = (name: string): string => text.split(`\n### ${name}\n`)[1].split(/\n##/)[0];

describe('the page’s sections', () => {
  it('lists every member of the root', () => {
    const table = text.split('\n## The sections of a strategy\n')[1].split('\n### ')[0];
    const members = [...fieldsOf(strategy).keys()].filter((name) => !OF_EVERY_OBJECT.includes(name));
    expect(members.filter((name) => !new RegExp(`\\b${name}\\b`).test(table))).toEqual([]);
  });

  it.each(SECTIONS)('names every member and word of %s', (name, names) => {
    expect(names.length).toBeGreaterThan(1);
    const prose = under(name).replaceAll(/```json.*?```/gs, '');
    expect(names.filter((word) => !new RegExp(`\\b${word}\\b`).test(prose))).toEqual([]);
  });

  it.each(SECTIONS)('shows an example of %s', (name) => {
    expect(under(name)).toMatch(/```json\n/);
  });
});

interface Body {
  readonly settings: Settings;
  readonly strategyAst?: StrategyAst;
  readonly signalGraph?: object;
}

/** An example is a part of a strategy; the rest is that of docs/examples/strategy.json. */
function bodyOf(example: Readonly<Record<string, unknown>>): Body {
  const { settings, strategyAst } = readJson('docs/examples/strategy.json') as Required<Body>;
  if ('signalGraph' in example) return { settings, signalGraph: example.signalGraph as object };
  if ('settings' in example) return { settings: example.settings as Settings, strategyAst };
  // An allocation stands in place of the rules.
  const { entry: _, exits: __, risk: ___, ...others } = strategyAst.strategy;
  if ('allocation' in example)
    return { settings, strategyAst: { ...strategyAst, strategy: { ...others, ...example } } };
  const ast = { ...strategyAst, strategy: { ...strategyAst.strategy, ...example } } as StrategyAst;
  return { settings, strategyAst: ast };
}

describe('the page’s set of examples', () => {
  const examples = [...text.matchAll(/```json\n(.*?)```/gs)].map(
    ([, json]) => JSON.parse(json) as Record<string, unknown>,
  );
  let market: Market;
  let universe: Universe;
  beforeAll(async () => {
    const catalog = await shippedData();
    market = createMarket(await catalog.snapshots('SPX', '1d'), 'SPX', '1d');
    const both = [...(await catalog.snapshots('SPX', '1d')), ...(await catalog.snapshots('NASDAQ', '1d'))];
    universe = createUniverse(both, ['SPX', 'NASDAQ'], '1d');
  });

  it('has one example per section and one graph', () => {
    expect(examples).toHaveLength(SECTIONS.length + 1);
  });

  it.each(examples.map((example) => [Object.keys(example).join(' and '), example] as const))(
    'has an example that trades and causes no warning of its own: %s',
    (_members, example) => {
      const body = bodyOf(example);
      const outcome = checkStrategy({ ...body }, { knownSymbols: new Set(['SPX']) });
      expect(outcome.issues.filter(({ code }) => code !== 'NO_EXIT_RULE')).toEqual([]);
      const strategyAst = outcome.compiled!.strategyAst;
      const config = readJson('docs/examples/config.json') as BacktestConfig;
      const { signalInstrument: _, ...common } = config;
      const task = {
        id: 'example',
        strategyAst,
        settings: body.settings,
        config:
          'allocation' in example ? { ...common, instruments: [{ symbol: 'SPX' }, { symbol: 'NASDAQ' }] } : config,
        strategyHash: strategyHash(strategyAst, body.settings),
      };
      const run = runBacktest(task, 'allocation' in example ? universe : market, {
        isCancelled: () => false,
        report: () => {},
      });
      expect(run.ok && run.trades.length).toBeGreaterThan(0);
    },
  );
});
