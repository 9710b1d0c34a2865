// Duplicate members: names that an object of a JSON text has more than once. JSON.parse silently keeps the last one, so
// the strategy might not be the one that its author reads.
import { pointerTo } from '../../engine/index.ts';
import type { ProblemIssue } from './problems.ts';

/** An answer lists at most this many. */
const MAX_ISSUES = 100;
/** Nothing that is accepted nests deeper, or has larger objects; beyond them, names are not remembered. */
const MAX_DEPTH = 256;
const MAX_NAMES = 5_000;
/** Characters of a name in a message or a path, and parts of a path: longer ones help nobody. */
const MAX_SHOWN = 60;
const MAX_SEGMENTS = 32;

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",:[\\]{}');

/**
 * Whether a JSON text may name a member twice: it has more colons than members. Other colons occur only in strings.
 * @param members how many members the objects have that were read from it
 */
export function mayRepeatMembers(bytes: Uint8Array, members: number): boolean {
  let colons = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === COLON) colons++;
  return colons > members;
}

/** An object or list that is open; `key` is the member or index that is being read. */
interface Level {
  readonly names: Set<string> | null;
  key: string | number;
}

/** @param text valid JSON @param root where it stands in the body */
export function duplicateMembers(text: string, root = ''): ProblemIssue[] {
  const issues = new Map<string, ProblemIssue>();
  const open: Level[] = [];
  let depth = 0;
  let string: readonly [start: number, end: number] = [0, 0];
  for (let i = 0; i < text.length && issues.size < MAX_ISSUES; i++) {
    const level = depth === open.length ? open.at(-1) : undefined;
    switch (text.charCodeAt(i)) {
      case QUOTE:
        string = [i, closingQuote(text, i)];
        i = string[1];
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth <= MAX_DEPTH) open.push(text[i] === '{' ? { names: new Set(), key: '' } : { names: null, key: 0 });
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (depth-- === open.length) open.pop();
        break;
      case COMMA:
        if (typeof level?.key === 'number') level.key++;
        break;
      case COLON: {
        if (level?.names == null) break;
        const name = nameIn(text.slice(string[0], string[1] + 1));
        level.key = name.slice(0, MAX_SHOWN);
        if (level.names.has(name)) {
          const path = pointerTo(root, ...open.slice(0, MAX_SEGMENTS).map(({ key }) => key));
          issues.set(path, repeated(level.key, path));
        } else if (level.names.size < MAX_NAMES) level.names.add(name);
      }
    }
  }
  return [...issues.values()];
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1;
  for (; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

const nameIn = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);

const repeated = (name: string, path: string): ProblemIssue => ({
  code: 'DUPLICATE_MEMBER',
  path,
  field: path.split('/')[1],
  severity: 'error',
  message: `The object names ${JSON.stringify(name)} more than once.`,
  suggestion: 'Keep one of them.',
});
