import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../src/engine/language/check/checkStrategy.ts';
import { describeCapabilities } from '../../src/engine/language/capabilities.ts';
import { scaled } from '../support/scale.ts';

/** What a client has: the JSON, and nothing of the program. */
const capabilities = JSON.parse(JSON.stringify(describeCapabilities())) as Capabilities;
interface Field {
  name: string;
  type: string;
  required: boolean;
  enum?: (string | number)[];
  min?: number;
  max?: number;
  exclusiveMin?: true;
  minLength?: number;
  pattern?: string;
  examples?: string[];
  atMostField?: string;
  requiredWhen?: Record<string, string[]>;
  fields?: Field[];
  items?: Field[];
  variants?: Record<string, Field[]>;
  ref?: string;
}
interface Arg {
  name: string;
  type: string;
  default: unknown;
  required: boolean;
  min?: number;
  max?: number;
  values?: string[];
}
interface Capabilities {
  signalGraph: {
    nodes: {
      kind: string;
      output: 'number' | 'bool';
      inputs: { name: string; kind: string; required: boolean; cardinality: string; notOver?: string[] }[];
      fields: Field[];
    }[];
    bindings: { path: string; kind: string; required: boolean }[];
  };
  strategyAst: { sections: Field[]; rules: { path: string; exactlyOneOf?: string[] }[] };
  operators: { math: { op: string; minArgs: number; maxArgs: number }[] };
  indicators: { id: string; sourceCount: number; args: Arg[]; outputs: { name: string }[]; outputRequired: boolean }[];
  patterns: { id: string; args: Arg[]; sides: string[] }[];
}
type Json = Record<string, unknown>;

/** Draws one strategy as a client would that reads only the capabilities; `pick(n)` is a number below n. */
class Author {
  readonly nodes: Json[] = [];
  readonly #pick: (below: number) => number;
  /** Kinds that may not stand below the input being written. */
  #barred: readonly string[] = [];

  constructor(pick: (below: number) => number) {
    this.#pick = pick;
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[this.#pick(items.length)];
  }

  /** The id of a new node that makes a number or a truth. */
  node(output: 'number' | 'bool', depth: number): string {
    const fitting = capabilities.signalGraph.nodes.filter(
      (node) => node.output === output && node.kind !== 'param' && !this.#barred.includes(node.kind),
    );
    const chosen = this.#oneOf(
      depth > 0
        ? fitting
        : fitting.filter(
            ({ inputs, fields }) => inputs.every(({ required }) => !required) && !fields.some(hasReference),
          ),
    );
    const node: Json = { kind: chosen.kind };
    const outside = this.#barred;
    this.#barred = [...outside, ...chosen.inputs.flatMap(({ notOver = [] }) => notOver)];
    for (const field of chosen.fields) this.#member(field, node, depth);
    for (const { name, kind, required, cardinality } of chosen.inputs) {
      if (chosen.kind === 'indicator' || (!required && this.#pick(2) === 0)) continue;
      node[name] = cardinality === 'one' ? this.#ref(kind, depth) : this.#refs(chosen.kind, node, kind, depth);
    }
    if (chosen.kind === 'indicator') this.#indicator(node, depth);
    if (chosen.kind === 'cross_section')
      node.source = this.#ref(node.op === 'share' ? 'bool_ref' : 'number_ref', depth);
    if (chosen.kind === 'pattern') this.#pattern(node);
    if (chosen.kind === 'schedule') this.#schedule(node);
    this.#barred = outside;
    const id = `n${this.nodes.length}`;
    this.nodes.push({ ...node, id });
    return id;
  }

  #ref(kind: string, depth: number): Json {
    return { ref: this.node(kind === 'number_ref' ? 'number' : 'bool', depth - 1) };
  }

  #refs(kind: string, node: Json, refKind: string, depth: number): Json[] {
    const arity =
      kind === 'math' ? capabilities.operators.math.find(({ op }) => op === node.op)! : { minArgs: 1, maxArgs: 3 };
    const count = arity.minArgs + this.#pick(Math.min(arity.maxArgs - arity.minArgs, 2) + 1);
    return Array.from({ length: count }, () => this.#ref(refKind, depth));
  }

  #indicator(node: Json, depth: number): void {
    const { id, sourceCount, args, outputs, outputRequired } = this.#oneOf(capabilities.indicators);
    node.indicator = id;
    node.args = this.#args(args);
    delete node.output;
    if (outputRequired || this.#pick(2) === 0) node.output = this.#oneOf(outputs).name;
    if (sourceCount === 1 && depth > 0 && (node.args as Json).source === undefined && this.#pick(2) === 0)
      node.source = this.#ref('number_ref', depth);
    if (sourceCount > 1)
      node.sources = Array.from({ length: sourceCount }, () => this.#ref('number_ref', Math.max(depth, 1)));
  }

  #pattern(node: Json): void {
    const { id, args, sides } = this.#oneOf(capabilities.patterns);
    node.name = id;
    node.args = this.#args(args);
    node.side = this.#oneOf(['any', ...sides]);
  }

  /** `exactlyOneOf`: a period, in which every day that `on` can name by a word exists. */
  #schedule(node: Json): void {
    node.every ??= this.#oneOf(['week', 'month', 'year']);
    if (node.on !== undefined) node.on = this.#oneOf(['first', 'last', 1, -1]);
    delete node.everyBars;
  }

  #args(args: readonly Arg[]): Json {
    const given: Json = {};
    for (const arg of args) if (arg.required || this.#pick(2) === 0) given[arg.name] = this.#arg(arg);
    return given;
  }

  #arg({ type, default: byDefault, min = 1, max = 1e6, values = [] }: Arg): unknown {
    switch (type) {
      case 'choice':
        return this.#oneOf(values);
      case 'bool':
        return this.#pick(2) === 0;
      case 'int':
        return Math.min(max, Math.ceil(min) + this.#pick(10));
      default:
        return this.#oneOf([byDefault, Math.max(min, -1e6), Math.min(max, 1e6)]);
    }
  }

  #member(field: Field, owner: Json, depth: number): void {
    const { name, required, requiredWhen } = field;
    const isNeeded =
      required || Object.entries(requiredWhen ?? {}).some(([other, values]) => values.includes(owner[other] as string));
    if (isNeeded || this.#pick(3) === 0) owner[name] = this.#value(field, depth);
  }

  #value(field: Field, depth: number): unknown {
    if (field.ref !== undefined) return this.#ref(field.ref, depth);
    switch (field.type) {
      case 'enum':
        return this.#oneOf(field.enum!);
      case 'int':
        return (field.min ?? 0) + this.#pick(Math.min(field.max ?? 9, 9));
      case 'float': {
        const least = (field.min ?? 0) + (field.exclusiveMin ? 0.5 : 0);
        return Math.min(field.max ?? Infinity, least + this.#pick(20) / 20);
      }
      case 'string':
        if (field.examples !== undefined) return this.#oneOf(field.examples);
        return field.pattern === undefined ? 'name' : field.pattern.includes('d{4}') ? '2023-05-05' : '09:30';
      case 'bool':
        return this.#pick(2) === 0;
      case 'array':
        return Array.from({ length: (field.minLength ?? 0) + this.#pick(2) }, () =>
          this.#value(field.items![0], depth),
        );
      case 'map':
        return {};
      default: {
        const owner: Json = {};
        if (field.variants !== undefined)
          for (const one of field.variants[this.#oneOf(Object.keys(field.variants))]) this.#member(one, owner, depth);
        for (const one of field.fields ?? []) this.#member(one, owner, depth);
        for (const { name, atMostField: other } of field.fields ?? [])
          if (other !== undefined && (owner[name] as number) > (owner[other] as number)) delete owner[other];
        return owner;
      }
    }
  }

  strategy(): Json {
    const [entry, exits, risk] = ['entry', 'exits', 'risk'].map((name) =>
      capabilities.strategyAst.sections.find((field) => field.name === name)!,
    );
    const made: Json = { kind: 'strategy', entry: this.#value(entry, 2) };
    if (this.#pick(2) === 0) made.exits = this.#value({ ...exits, minLength: 1 }, 2);
    made.risk = this.#value(risk, 2);
    const sections = made.risk as Record<string, unknown>;
    // `exactlyOneOf`: the first stays.
    for (const { path, exactlyOneOf } of capabilities.strategyAst.rules) {
      // Every strategy made here has an entry and no allocation; nodes are made above.
      if (exactlyOneOf === undefined || !path.startsWith('strategy.')) continue;
      const owners = path.endsWith('[]')
        ? ((sections.takeProfits ?? []) as Json[])
        : sections.trailingStop === undefined
          ? []
          : [sections.trailingStop as Json];
      for (const owner of owners) {
        for (const name of exactlyOneOf) delete owner[name];
        owner[exactlyOneOf[0]] = 3;
      }
    }
    const targets = (sections.takeProfits ?? []) as Json[];
    for (const target of targets) target.closePercent = 100 / Math.max(1, targets.length);
    // `needs`: a stop for what counts in its distance.
    sections.stopLoss ??= { mode: 'percent', value: 2 };
    return made;
  }
}
const hasReference = ({ ref, fields, items }: Field): boolean =>
  ref !== undefined || [...(fields ?? []), ...(items ?? [])].some(hasReference);

describe('the list of capabilities', () => {
  it('is enough to write a valid graph', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(1_000_000)), (stream) => {
        const author = new Author((below) => (stream.next().value as number) % below);
        const strategy = author.strategy();
        const signalGraph = { protocol: 'svc.signal-graph', version: 2, nodes: author.nodes, strategy };
        for (const { kind } of author.nodes) seen.add(kind as string);
        const limits = { entryConditions: 1e6, exitConditions: 1e6, exits: 1e6, nodes: 1e6, depth: 1e6 };
        const { issues } = checkStrategy({ settings: {}, signalGraph }, { limits });
        expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
      }),
      { numRuns: scaled(3_000), seed: 20_261_124 },
    );
    expect([...seen].sort()).toEqual(
      capabilities.signalGraph.nodes
        .map(({ kind }) => kind)
        .filter((kind) => kind !== 'param')
        .sort(),
    );
  });

  it('names every node kind of the contract with its inputs, and the slots that take a reference', () => {
    const { nodes, bindings } = capabilities.signalGraph;
    const cross = nodes.find(({ kind }) => kind === 'cross')!;
    expect(cross.inputs).toEqual([
      { name: 'left', kind: 'number_ref', required: true, cardinality: 'one' },
      { name: 'right', kind: 'number_ref', required: true, cardinality: 'one' },
    ]);
    expect(bindings).toContainEqual({
      path: 'strategy.entry.trigger',
      kind: 'bool_ref',
      required: true,
      cardinality: 'one',
    });
    expect(bindings).toContainEqual({
      path: 'strategy.exits[].when',
      kind: 'bool_ref',
      required: false,
      cardinality: 'one',
    });
    const rolling = nodes.find(({ kind }) => kind === 'rolling')!;
    expect(rolling.fields.find(({ name }) => name === 'period')).toMatchObject({ type: 'int', min: 1, required: true });
  });
});
