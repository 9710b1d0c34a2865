// Large but legal bodies: the examples of every route of the OpenAPI document, grown at random places until they are as
// large as a body may be.
import { seededRandom } from '../support/scale.ts';

interface Operation {
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
  };
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: readonly object[] }>> };
}
export interface LargeBody {
  readonly method: string;
  /** As the document has it, with its parameters. */
  readonly path: string;
  readonly body: string;
}

/** Every operation that takes a body, with the examples of its schema. */
function operationsWithBody(openapi: OpenApi): { method: string; path: string; examples: readonly object[] }[] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content?.['application/json']?.schema;
      if (schema === undefined) return [];
      const inner = JSON.stringify(schema).match(/#\/components\/schemas\/(\w+)/)?.[1];
      const examples = (inner && openapi.components.schemas[inner]?.examples) || [{}];
      return [{ method: method.toUpperCase(), path, examples }];
    }),
  );
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Grow = (random: () => number, bytes: number) => Json;

/** Each of its characters is escaped in a pointer to it. */
const LONG_NAME = (bytes: number): string => '/~1'.repeat(bytes / 3);

/** What a value is replaced by, or a member gets. None is longer than about `bytes`. */
const GROWTHS: readonly Grow[] = [
  (_random, bytes) => 'x'.repeat(bytes),
  (_random, bytes) => '\u0001'.repeat(bytes / 6),
  (_random, bytes) => Array.from({ length: Math.min(400_000, bytes / 2) }, () => 1),
  (_random, bytes) => Array.from({ length: Math.min(100_000, bytes / 3) }, () => ({})),
  (_random, bytes) => Object.fromEntries(Array.from({ length: Math.min(4_900, bytes / 12) }, (_, i) => [`k${i}`, i])),
  (_random, bytes) =>
    JSON.parse('['.repeat(Math.min(2_000, bytes / 2)) + ']'.repeat(Math.min(2_000, bytes / 2))) as Json,
  // Texts on which a search for the end of a part starts again at each character.
  (_random, bytes) => `${'1'.repeat(bytes)}x`,
  (_random, bytes) => `${' '.repeat(bytes)}x`,
  (_random, bytes) => '/~1'.repeat(bytes / 3),
  (_random, bytes) => ({ [LONG_NAME(bytes)]: 1 }),
  (_random, bytes) =>
    Object.fromEntries(Array.from({ length: Math.min(4_900, bytes / 30) }, (_, i) => [`/strategy/entry/${i}`, i])),
  (_random, bytes) => Array.from({ length: bytes / 5 }, () => null),
  (random) => random() * 1e308,
  () => '9'.repeat(5_000),
  () => '/strategy'.repeat(1_000),
];

/** Bodies of `bytes` or less each, the same for the same seed. */
export function* largeBodies(openapi: OpenApi, seed: number, bytes: number): Generator<LargeBody, never, undefined> {
  const random = seededRandom(seed);
  const operations = operationsWithBody(openapi);
  for (;;) {
    const { method, path, examples } = operations[Math.floor(random() * operations.length)];
    const example = structuredClone(examples[Math.floor(random() * examples.length)]) as Json;
    const size = bytes * random();
    yield { method, path, body: textOf(grown(example, random, size), size, random) };
  }
}

function grown(body: Json, random: () => number, bytes: number): Json {
  const places: { holder: Json[] | { [name: string]: Json }; name: string }[] = [];
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const name of Object.keys(value)) {
      places.push({ holder: value, name });
      visit((value as { [name: string]: Json })[name]);
    }
  };
  visit(body);
  if (places.length === 0) return body;
  const { holder, name } = places[Math.floor(random() * places.length)];
  const value = GROWTHS[Math.floor(random() * GROWTHS.length)](random, bytes);
  const target = holder as { [name: string]: Json };
  const kind = Math.floor(random() * 5);
  if (kind === 0) target[name] = value;
  else if (kind === 1 && !Array.isArray(holder)) target.meta = { grown: value };
  else if (kind === 2 && !Array.isArray(holder)) target[`extra${Math.floor(random() * 10)}`] = value;
  else if (kind === 3 && !Array.isArray(holder)) target[LONG_NAME(bytes)] = value;
  else if (Array.isArray(target[name]) && target[name].length > 0) {
    const [item] = target[name];
    const copies = Math.min(2_000, Math.floor(bytes / JSON.stringify(item).length));
    target[name] = Array.from({ length: copies }, () => item);
  } else target[name] = value;
  return body;
}

/** A quarter is padded with spaces: legal, and as long as a body may be. */
function textOf(body: Json, bytes: number, random: () => number): string {
  const text = JSON.stringify(body);
  return random() < 0.25 ? text + ' '.repeat(Math.max(0, bytes - text.length)) : text;
}
