// Expressions as a person would write them: rule texts, samples and explain.
import type { Node } from './stateReaders.ts';

const MAX_TEXT = 160;
const COMPARE_SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '=', neq: '≠' } as const;
const MATH_SIGNS: Readonly<Record<string, string>> = { add: ' + ', sub: ' - ', mul: ' × ', div: ' / ' };

/** At most 160 characters. */
export function describe(node: Node): string {
  const text = write(node, 0);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}

interface Placed {
  readonly timeframe?: string;
  readonly offset?: number;
  readonly instrument?: { readonly symbol: string };
}
const place = (node: Placed): string =>
  `${node.instrument ? `@${node.instrument.symbol}` : ''}${node.timeframe ? `@${node.timeframe}` : ''}${node.offset ? `[${node.offset}]` : ''}`;

/** Deeper than this a shared graph could write an exponential text. */
const MAX_DEPTH = 8;

function write(node: Node, depth: number): string {
  if (depth > MAX_DEPTH) return '…';
  const part = (child: Node): string => write(child, depth + 1);
  const inBrackets = (child: Node): string =>
    child.kind === 'math' && child.op in MATH_SIGNS ? `(${part(child)})` : part(child);
  const within = (bars: number | undefined): string => (bars === undefined || bars === 1 ? '' : ` within ${bars} bars`);
  switch (node.kind) {
    case 'const':
      return String(node.value);
    case 'market':
      return `${node.field}${place(node)}`;
    case 'series':
      return `series ${node.name}${place(node)}`;
    case 'state':
      return `${node.field}${place(node)}`;
    case 'time':
      return `time ${node.field}`;
    case 'indicator': {
      const sources = [...(node.source ? [node.source] : []), ...(node.sources ?? [])].map(part);
      const args = Object.values(node.args ?? {}).map(String);
      return `${node.indicator}(${[...sources, ...args].join(', ')})${node.output && node.output !== 'value' ? `.${node.output}` : ''}${place(node)}`;
    }
    case 'rolling':
      return `${node.op}(${part(node.source)}, ${node.period} bars)${place(node)}`;
    case 'math':
      return node.op in MATH_SIGNS && node.args.length > 1
        ? node.args.map(inBrackets).join(MATH_SIGNS[node.op])
        : `${node.op}(${node.args.map(part).join(', ')})`;
    case 'shift':
      return `${inBrackets(node.source)}[${node.offset}]`;
    case 'if':
      return `if ${part(node.cond)} then ${part(node.then)} else ${part(node.else)}`;
    case 'bars_since':
      return `bars since (${part(node.when)})`;
    case 'value_when':
      return `${part(node.value)} when (${part(node.when)})${node.occurrence ? `, ${node.occurrence} before` : ''}`;
    case 'capture':
      return `${part(node.value)} captured at (${part(node.when)})`;
    case 'pivot':
      return `pivot ${node.pivotKind}(${node.left}, ${node.right})${place(node)}`;
    case 'compare':
      return `${part(node.left)} ${COMPARE_SIGNS[node.op]} ${part(node.right)}${node.tolerance ? ` ± ${node.tolerance}` : ''}`;
    case 'cross': {
      const verb = node.op === 'cross_up' ? 'crosses above' : node.op === 'cross_down' ? 'crosses below' : 'crosses';
      return `${part(node.left)} ${verb} ${part(node.right)}${within(node.within)}`;
    }
    case 'between':
      return `${part(node.lower)} <= ${part(node.value)} <= ${part(node.upper)}`;
    case 'near':
      return `${part(node.left)} within ${node.tolerance} of ${part(node.right)}`;
    case 'rising':
    case 'falling':
      return `${part(node.source)} ${node.kind} for ${node.bars} bars`;
    case 'pattern':
      return `${node.side && node.side !== 'any' ? `${node.side} ` : ''}${node.name}${place(node)}${within(node.within)}`;
    case 'all':
    case 'and':
      return node.items
        .map((item) => (item.kind === 'any' || item.kind === 'or' ? `(${part(item)})` : part(item)))
        .join(' and ');
    case 'any':
    case 'or':
      return node.items
        .map((item) => (item.kind === 'all' || item.kind === 'and' ? `(${part(item)})` : part(item)))
        .join(' or ');
    case 'not':
      return `not (${part(node.item)})`;
    case 'time_window': {
      const hours = node.between ? `${node.between.from}–${node.between.to}` : '';
      const dates = node.dates ? `${node.dates.from ?? ''}…${node.dates.to ?? ''}` : '';
      return ['time in', node.weekdays?.join(' ') ?? '', hours, dates, node.timezone ?? '']
        .filter((word) => word !== '')
        .join(' ');
    }
    case 'session':
      return `${node.name} session`;
    case 'sequence':
      return node.steps.map((step) => part(step.expr)).join(', then ');
    case 'rolling_window':
      return `${node.mode}${node.value === undefined ? '' : ` ${node.value}`} of (${part(node.expr)}) in ${node.window} bars`;
    case 'state_machine':
      return `on from (${part(node.set)})${node.reset ? ` until (${part(node.reset)})` : ''}${node.ttlBars ? ` for ${node.ttlBars} bars` : ''}`;
  }
}
