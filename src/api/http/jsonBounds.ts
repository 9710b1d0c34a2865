// JSON bounds: what a body may hold, counted in its bytes before anything parses it. A parser, and a schema even more,
// does work for each member and each value, and reports a fault for each: for a million of them that takes seconds.
import { pointerTo } from '../../engine/index.ts';
import type { ProblemIssue } from './problems.ts';

export interface JsonBounds {
  /** Members of one object. */
  readonly members: number;
  /** Objects and lists among the items of one list. */
  readonly containersOfList: number;
  /** Objects and lists in all. */
  readonly containers: number;
  /** Values in all: numbers, strings, objects, … */
  readonly values: number;
  /** Levels of objects and lists. */
  readonly depth: number;
  /** Bytes of a member's name, as it is written between its quotes. */
  readonly nameBytes: number;
}

/** Bodies of 16 MiB that are all that is allowed here take a tenth of a second to parse and refuse. */
export const BODY_BOUNDS: JsonBounds = {
  // The largest objects of a legitimate body are the params and overrides of a config: at most a few for each of 1,024
  // nodes.
  members: 5_000,
  // The longest list is that of the rows of tokens or nodes; a batch has 1,000 items.
  containersOfList: 5_000,
  // A pro strategy of 4 MiB has 200,000 values in 65,000 objects.
  containers: 100_000,
  values: 300_000,
  // The language refuses more than 128 levels by name; what nests thousands deep overflows the stack of some function.
  depth: 256,
  // The longest name is the pointer of an override: 32 levels of a strategy are 700 bytes. Names are compared, escaped,
  // split and repeated in messages, which for hundreds of kilobytes takes hundreds of milliseconds.
  nameBytes: 2_048,
};

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",:[\\]{}');
/** A pointer of more segments than this helps nobody, nor does a name of more characters in it. */
const MAX_SEGMENTS = 32;
const MAX_SHOWN = 60;

/** An object or list that is open. */
interface Level {
  readonly isList: boolean;
  /** Members that were begun, or items that were ended. */
  count: number;
  containers: number;
  /** Where the name of the last member begins and ends, with its quotes. */
  nameStart: number;
  nameEnd: number;
}

/** The first bound that a body exceeds; null when there is none. @param bytes JSON, which need not be valid */
export function exceededBound(bytes: Uint8Array, bounds: JsonBounds = BODY_BOUNDS): ProblemIssue | null {
  const open: Level[] = [];
  let level: Level | undefined;
  let values = 0;
  let containers = 0;
  let stringStart = 0;
  let stringEnd = 0;
  const excess = (message: string, place: readonly Level[] = open): ProblemIssue => ({
    code: 'TOO_MANY_VALUES',
    path: pathTo(bytes, place),
    message,
  });
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        stringStart = at;
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
        stringEnd = at;
        break;
      case COLON:
        if (level === undefined || level.isList) break;
        if (stringEnd - stringStart - 1 > bounds.nameBytes)
          return excess(
            `The name of a member of this object has ${stringEnd - stringStart - 1} bytes; at most ` +
              `${bounds.nameBytes} are allowed.`,
            open.slice(0, -1),
          );
        level.nameStart = stringStart;
        level.nameEnd = stringEnd + 1;
        if (++level.count > bounds.members)
          return excess(
            `This object has more than ${bounds.members} members, the most that are allowed.`,
            open.slice(0, -1),
          );
        break;
      case COMMA:
        values++;
        if (level?.isList === true) level.count++;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        values++;
        if (++containers > bounds.containers)
          return excess(`The body holds more than ${bounds.containers} objects and lists. Send less at a time.`, []);
        if (open.length >= bounds.depth)
          return excess(`The body nests objects and lists more than ${bounds.depth} deep.`, []);
        if (level?.isList === true && ++level.containers > bounds.containersOfList)
          return excess(
            `This list holds more than ${bounds.containersOfList} objects and lists, the most that are allowed.`,
            open.slice(0, -1),
          );
        level = { isList: bytes[at] === OPEN_LIST, count: 0, containers: 0, nameStart: 0, nameEnd: 0 };
        open.push(level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop();
        level = open.at(-1);
    }
    if (values > bounds.values)
      return excess(`The body holds more than ${bounds.values} values. Send less at a time.`, []);
  }
  return null;
}

/** The pointer to what is being read at the last of these levels. */
function pathTo(bytes: Uint8Array, levels: readonly Level[]): string {
  const keys = levels
    .slice(0, MAX_SEGMENTS)
    .map(({ isList, count, nameStart, nameEnd }) =>
      isList ? count : nameIn(bytes.subarray(nameStart, nameEnd)).slice(0, MAX_SHOWN),
    );
  return pointerTo('', ...keys);
}

function nameIn(quoted: Uint8Array): string {
  const text = Buffer.from(quoted).toString('utf8');
  try {
    return JSON.parse(text) as string;
  } catch {
    // The body is not valid JSON, and is refused whatever its members are called.
    return text.slice(1, -1);
  }
}
