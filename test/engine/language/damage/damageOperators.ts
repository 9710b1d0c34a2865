// Damage: what an author with habits of other platforms does to a sound strategy, as operators on its JSON. A seed
// chooses the strategy, the operators and their places.
import { seededRandom } from '../../../support/scale.ts';

type Json = Record<string, unknown>;
/** Damages one object of a body in place; false: there is nothing here that it damages. */
type Operator = (node: Json, random: () => number) => boolean;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const pick = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)];

function rename(node: Json, from: string, to: string): boolean {
  if (node[from] === undefined || node[to] !== undefined) return false;
  node[to] = node[from];
  delete node[from];
  return true;
}
const renamed =
  (kinds: readonly string[], from: string, names: readonly string[]): Operator =>
  (node, random) =>
    (kinds.length === 0 || kinds.includes(String(node.kind))) && rename(node, from, pick(names, random));
const inMember =
  (name: string, change: (value: unknown, random: () => number) => unknown): Operator =>
  (node, random) => {
    const made = node[name] === undefined ? undefined : change(node[name], random);
    if (made === undefined) return false;
    node[name] = made;
    return true;
  };
const snake = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (word: string): string => word.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const SIGNS: Json = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '==', neq: '!=' };
const DAYS: Json = {
  mon: 'Monday', tue: 'Tuesday', wed: 'Wednesday', thu: 'Thursday', fri: 'Friday', sat: 'Saturday', sun: 'Sunday',
}; // prettier-ignore

/** A field, a constant or an indicator of one length as text; undefined for what has more members. */
function textOf(node: unknown): string | undefined {
  if (!isObject(node)) return undefined;
  const members = Object.keys(node)
    .filter((name) => name !== 'id' && name !== 'label')
    .toSorted()
    .join();
  if (node.kind === 'const' && members === 'kind,value') return String(node.value);
  if (node.kind === 'market' && members === 'field,kind') return String(node.field);
  if (node.kind === 'market' && members === 'field,kind,offset' && typeof node.offset === 'number')
    return `${String(node.field)}[${node.offset}]`;
  const args = isObject(node.args) ? node.args : {};
  const isPlain =
    node.kind === 'indicator' && members === 'args,indicator,kind' && Object.keys(args).join() === 'length';
  if (isPlain && typeof args.length === 'number') return `${String(node.indicator)}(${args.length})`;
  if (node.kind !== 'compare' || members !== 'kind,left,op,right') return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left && right && `${left} ${String(SIGNS[String(node.op)])} ${right}`;
}
const asText =
  (member: string): Operator =>
  (node) => {
    const text = textOf(node[member]);
    if (text === undefined) return false;
    node[member] = text;
    return true;
  };

/** What is done → the operator that does it to one object. */
export const OPERATORS: Readonly<Record<string, Operator>> = {
  'type for kind': renamed([], 'kind', ['type']),
  'another word for op': renamed(['compare', 'cross'], 'op', ['operator', 'operation', 'comparison']),
  'other sides': (node) =>
    ['compare', 'cross'].includes(String(node.kind)) && rename(node, 'left', 'lhs') && rename(node, 'right', 'rhs'),
  'a sign': (node) => node.kind === 'compare' && inMember('op', (op) => SIGNS[String(op)])(node, Math.random),
  'a cross in words': (node) =>
    node.kind === 'cross' &&
    inMember('op', (op) => ({ cross_up: 'crosses above', cross_down: 'crosses below' })[String(op)])(node, Math.random),
  'a number as text': (node) => node.kind === 'const' && inMember('value', String)(node, Math.random),
  'arguments as text': (node) =>
    isObject(node.args) && typeof node.args.length === 'number' && inMember('length', String)(node.args, Math.random),
  'a period': (node, random) =>
    node.kind === 'indicator' &&
    isObject(node.args) &&
    rename(node.args, 'length', pick(['period', 'timeperiod', 'window'], random)),
  'arguments beside the indicator': (node) => {
    if (node.kind !== 'indicator' || !isObject(node.args) || typeof node.args.length !== 'number') return false;
    node.period = node.args.length;
    delete node.args.length;
    return Object.keys(node.args).length > 0 || delete node.args;
  },
  'an indicator in capitals': (node) =>
    node.kind === 'indicator' && inMember('indicator', (name) => String(name).toUpperCase())(node, Math.random),
  'an indicator with a module': (node) =>
    node.kind === 'indicator' && inMember('indicator', (name) => `ta.${String(name)}`)(node, Math.random),
  'an indicator as its kind': (node) => {
    if (node.kind !== 'indicator') return false;
    node.kind = node.indicator;
    return delete node.indicator;
  },
  'camel and snake case': (node, random) => {
    const names = Object.keys(node).filter(
      (name) => (snake(name) !== name || camel(name) !== name) && name !== 'strategyAst' && name !== 'signalGraph',
    );
    if (names.length === 0) return false;
    const name = pick(names, random);
    return rename(node, name, snake(name) === name ? camel(name) : snake(name));
  },
  'the left side as text': asText('left'),
  'the right side as text': asText('right'),
  'a trigger as text': asText('trigger'),
  'a condition as text': asText('when'),
  'the first item as text': (node) =>
    Array.isArray(node.items) &&
    isObject(node.items[0]) &&
    textOf(node.items[0]) !== undefined &&
    ((node.items[0] = textOf(node.items[0])), true),
  'a list of conditions': (node) => {
    const name = ['trigger', 'setup', 'when', 'expr', 'item'].find(
      (one) => isObject(node[one]) && node[one].kind === 'all',
    );
    const all = name === undefined ? undefined : (node[name] as Json);
    if (all === undefined || Object.keys(all).length > 2 || !Array.isArray(all.items) || all.items.length < 2)
      return false;
    node[name!] = all.items;
    return true;
  },
  'and as a key': (node, random) => {
    if ((node.kind !== 'all' && node.kind !== 'any') || Object.keys(node).length > 2) return false;
    const key = pick(node.kind === 'all' ? ['and', 'all', 'AND'] : ['or', 'any', 'OR'], random);
    node[key] = node.items;
    delete node.items;
    return delete node.kind;
  },
  'whole weekdays': inMember('weekdays', (days) => (days as string[]).map((day) => DAYS[day])),
  'an hour of one digit': (node) =>
    typeof node.from === 'string' && /^0\d:/.test(node.from) && ((node.from = node.from.slice(1)), true),
  'hours as text': inMember('between', (hours) =>
    isObject(hours) ? `${String(hours.from)}-${String(hours.to)}` : undefined,
  ),
  'a bare stop': inMember('stopLoss', (stop) =>
    isObject(stop) && stop.mode === 'percent' && typeof stop.value === 'number' && stop.value >= 1
      ? stop.value
      : undefined,
  ),
  'a stop in snake case': (node) => rename(node, 'stopLoss', 'stop_loss'),
  'a bare size': inMember('sizing', (size) =>
    isObject(size) &&
    size.mode === 'percent_equity' &&
    typeof size.value === 'number' &&
    size.value > 1 &&
    size.value <= 100
      ? size.value
      : undefined,
  ),
  'a size in percent': inMember('sizing', (size) =>
    isObject(size) && size.mode === 'percent_equity' && typeof size.value === 'number' ? `${size.value}%` : undefined,
  ),
  'the only target as an object': (node) => {
    const targets = node.takeProfits;
    if (!Array.isArray(targets) || targets.length !== 1) return false;
    node.takeProfit = targets[0];
    return delete node.takeProfits;
  },
  'a bare trailing stop': inMember('trailingStop', (stop) =>
    isObject(stop) && Object.keys(stop).join() === 'distancePercent' && Number(stop.distancePercent) >= 1
      ? stop.distancePercent
      : undefined,
  ),
  'a bare time stop': inMember('timeStop', (stop) =>
    isObject(stop) && Object.keys(stop).join() === 'maxBars' ? stop.maxBars : undefined,
  ),
  'exits as conditions': (node) =>
    Array.isArray(node.exits) &&
    node.exits.length > 0 &&
    node.exits.every((one) => isObject(one) && Object.keys(one).toSorted().join() === 'kind,when') &&
    ((node.exits = (node.exits as Json[]).map(({ when }) => when)), true),
  'one exit without its list': (node) =>
    Array.isArray(node.exits) && node.exits.length === 1 && ((node.exits = (node.exits as unknown[])[0]), true),
  'an action beside its trigger': (node) => {
    if (node.kind !== 'entry' || !isObject(node.action) || Object.keys(node.action).length !== 2) return false;
    Object.assign(node, node.action);
    return delete node.action;
  },
  'when for trigger': renamed(['entry'], 'trigger', ['when', 'condition', 'signal']),
  'condition for when': renamed(['exit'], 'when', ['condition', 'trigger']),
  'buy for long': inMember('side', (side) => (side === 'long' ? 'buy' : undefined)),
  'no kind of a rule': (node) => ['entry', 'exit', 'strategy'].includes(String(node.kind)) && delete node.kind,
  'a note': (node, random) =>
    ['entry', 'exit', 'strategy'].includes(String(node.kind)) &&
    node.description === undefined &&
    ((node[pick(['notes', 'rationale', '_comment'], random)] = 'Why not.'), true),
  'a null member': (node) => node.kind === 'entry' && node.setup === undefined && ((node.setup = null), true),
  'a param in short': (node) => {
    if (node.kind !== 'param' || Object.keys(node).length !== 2) return false;
    node.param = node.name;
    delete node.kind;
    return delete node.name;
  },
  'references as texts': (node) => {
    const name = ['left', 'right', 'trigger', 'when', 'source'].find(
      (one) => isObject(node[one]) && typeof node[one].ref === 'string',
    );
    if (name === undefined) return false;
    node[name] = (node[name] as Json).ref;
    return true;
  },
  'a null setting': (node) =>
    isObject(node.settings) && Object.keys(node.settings).length === 0 && ((node.settings = null), true),
  'snake case of the payload': (node) =>
    rename(node, 'strategyAst', 'strategy_ast') || rename(node, 'signalGraph', 'signal_graph'),
  'no protocol': (node) => typeof node.protocol === 'string' && delete node.protocol && delete node.version,
  'a payload as text': (node) => {
    const name = ['strategyAst', 'signalGraph'].find((one) => isObject(node[one]));
    if (name === undefined) return false;
    node[name] = JSON.stringify(node[name]);
    return true;
  },
};

/** Every object of a body, those of `meta` left out. */
function objectsIn(value: unknown, found: Json[] = []): Json[] {
  if (Array.isArray(value)) for (const item of value) objectsIn(item, found);
  else if (isObject(value)) {
    found.push(value);
    for (const [name, member] of Object.entries(value)) if (name !== 'meta') objectsIn(member, found);
  }
  return found;
}

/**
 * A sound body with one to three damages.
 * @param first the operator that is tried first, so that every one of them is used
 */
export function damaged(
  sound: Json,
  seed: number,
  first: string,
): { readonly body: Json; readonly done: readonly string[] } {
  const random = seededRandom(seed);
  const body = structuredClone(sound);
  const done: string[] = [];
  const wanted = 1 + Math.floor(random() * 3);
  const names = Object.keys(OPERATORS);
  for (let tries = 0; done.length < wanted && tries < 60; tries++) {
    const name = tries === 0 ? first : pick(names, random);
    const places = objectsIn(body);
    // From a place of chance on, the first object that the operator damages.
    const start = Math.floor(random() * places.length);
    if (places.some((_, at) => OPERATORS[name](places[(start + at) % places.length], random))) done.push(name);
  }
  return { body: JSON.parse(JSON.stringify(body)) as Json, done };
}
