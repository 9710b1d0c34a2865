// Bounded answers: an API answer cut to what fits an agent's context, with the places where more can be read.
import { pointerTo, valueAtPointer } from '../../engine/index.ts';
import { jsonBytes, MEMBER_BYTES } from '../http/jsonBytes.ts';

interface Bounds {
  /** RFC 6901 pointer into the answer; '' is the whole. */
  readonly path: string;
  /** The most bytes of the text in UTF-8. */
  readonly maxBytes: number;
}

/** A part that is not shown: `path` reads it in a further call. */
interface Omitted {
  readonly omitted: string;
  readonly path: string;
}

/** Members that answers are read for: where they are, and why a run or a payload did what it did. */
const READ_FIRST: ReadonlySet<string> = new Set([
  'code', 'message', 'status', 'readFirst', 'issues', 'result', 'summaryJson', 'strategyTrace', 'diagnosis', 'funnel',
  'ruleStatsSummary', 'rules', 'portfolio', 'instruments', 'verdict', 'findings',
]); // prettier-ignore
/** The share of the remaining room that those members may take together. */
const FIRST_SHARE = 0.85;

/** Below this a shortened part says nothing; it is omitted whole. */
const SMALLEST_PART_BYTES = 160;

const SHORT_TEXT_BYTES = 64;

/** The most names that a message lists. */
const MAX_NAMES = 20;

/**
 * The part of `answer` at `path`, whole if it fits, else shortened: small members stay, large ones are cut or omitted.
 */
export function boundedText(answer: unknown, { path, maxBytes }: Bounds): string {
  const part = valueAtPointer(answer, path);
  if (part === undefined) {
    return JSON.stringify({ code: 'PATH_NOT_FOUND', message: notFoundAt(answer, path) });
  }
  // The marks of omitted parts take room of their own: where they overflow, everything else gets less.
  for (let room = maxBytes; room >= SMALLEST_PART_BYTES; room = Math.floor(room * 0.8)) {
    const text = JSON.stringify(shorten(part, path, room));
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return JSON.stringify(omitted(jsonBytes(part), path));
}

/** Says that the path leads nowhere, and what there is at the nearest place that it reaches. */
function notFoundAt(answer: unknown, path: string): string {
  // From the root down, a name at a time: pointers of growing length would be read from their beginning each time.
  let reached = '';
  let part = answer;
  for (const name of path.split('/').slice(1)) {
    const next = valueAtPointer(part, `/${name}`);
    if (next === undefined) break;
    part = next;
    reached += `/${name}`;
  }
  const where = reached === '' ? 'The answer' : `"${reached}"`;
  const message = `The answer has nothing at "${path}". ${where}`;
  if (Array.isArray(part)) return `${message} has ${part.length} items, counted from 0.`;
  const names = typeof part === 'object' && part !== null ? Object.keys(part) : [];
  if (names.length === 0) return `${message} has no members.`;
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return `${message} has ${shown}${names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''}.`;
}

function shorten(value: unknown, path: string, maxBytes: number): unknown {
  const bytes = jsonBytes(value);
  if (bytes <= maxBytes) return value;
  if (maxBytes < SMALLEST_PART_BYTES) {
    const mark = omitted(bytes, path);
    // A number takes less room than the mark that would stand for it, and an id hardly more.
    return jsonBytes(mark) < bytes && !(typeof value === 'string' && bytes <= SHORT_TEXT_BYTES) ? mark : value;
  }
  if (typeof value === 'string')
    return `${value.slice(0, Math.floor(maxBytes / 4))}… (${bytes} bytes, see path ${path})`;
  if (Array.isArray(value)) return shortenList(value, path, maxBytes);
  return shortenObject(value as Readonly<Record<string, unknown>>, path, maxBytes);
}

const omitted = (bytes: number, path: string): Omitted => ({ omitted: `${bytes} bytes`, path });

/** The first items that fit, and how many there are more. */
function shortenList(items: readonly unknown[], path: string, maxBytes: number): unknown[] {
  const shown: unknown[] = [];
  let left = maxBytes - SMALLEST_PART_BYTES;
  for (const [index, item] of items.entries()) {
    const bytes = jsonBytes(item) + 1;
    if (bytes > left) {
      if (index === 0) shown.push(shorten(item, pointerTo(path, 0), left));
      break;
    }
    shown.push(item);
    left -= bytes;
  }
  const next = shown.length;
  if (next < items.length) shown.push({ omitted: `items ${next} to ${items.length - 1}`, path: pointerTo(path, next) });
  return shown;
}

/** Shortens an object, with its members in order. Members of READ_FIRST get room first, and small ones before large. */
function shortenObject(value: Readonly<Record<string, unknown>>, path: string, maxBytes: number): object {
  const members = Object.entries(value).map(([name, member]) => ({
    name,
    member,
    path: pointerTo(path, name),
    bytes: jsonBytes(member),
    isFirst: READ_FIRST.has(name),
  }));
  let left = maxBytes - members.reduce((sum, { name }) => sum + name.length + MEMBER_BYTES, 2);
  const shown = new Map<string, unknown>();
  const byUse = members.toSorted((a, b) => Number(b.isFirst) - Number(a.isFirst) || a.bytes - b.bytes);
  const firstCount = members.filter(({ isFirst }) => isFirst).length;
  for (const [index, one] of byUse.entries()) {
    const share = one.isFirst ? (left * FIRST_SHARE) / (firstCount - index) : left / (members.length - index);
    const part = shorten(one.member, one.path, Math.max(Math.floor(share), 0));
    shown.set(one.name, part);
    left -= jsonBytes(part);
  }
  return Object.fromEntries(members.map(({ name }) => [name, shown.get(name)]));
}
