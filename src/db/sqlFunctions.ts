// The functions of the database. Each file of src/db/functions/ creates the function it is named after, and the
// triggers that call it. A function is created again when its file has changed, and dropped when its file is gone.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import type { Queryable } from './connect.ts';

const FOLDER = 'src/db/functions';

/** The text of each file, by the name of its function. */
type FunctionTexts = ReadonlyMap<string, string>;

export async function readFunctionTexts(): Promise<FunctionTexts> {
  const names = (await readdir(join(ROOT, FOLDER)))
    .filter((file) => /^\w+\.sql$/.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
  const texts = names.map((name) => readFile(join(ROOT, FOLDER, `${name}.sql`), 'utf8'));
  return new Map((await Promise.all(texts)).map((text, index) => [names[index], text]));
}

/**
 * Makes the functions of the database those of `texts`. A function whose text is unchanged is left alone.
 * @param tx a transaction, so that a text that fails leaves all functions as they were
 * @returns the names of the functions that were created or dropped
 */
export async function applyFunctions(tx: Queryable, texts: FunctionTexts): Promise<string[]> {
  const stored = await readStored(tx, [...texts.keys()]);
  const isCurrent = ({ name, comment }: StoredFunction): boolean =>
    texts.has(name) && comment === commentOf(name, texts.get(name)!);
  const current = new Set(stored.filter(isCurrent).map(({ name }) => name));
  const outdated = stored.filter((found) => !isCurrent(found));
  const changed = [...texts.keys()].filter((name) => !current.has(name));
  if (changed.length === 0 && outdated.length === 0) return [];
  for (const { name, signature, triggers } of outdated) {
    const drops = [...triggers.map((trigger) => `drop trigger ${trigger}`), `drop function ${signature}`];
    await run(tx, name, drops.join(';\n'));
  }
  // A function may call one that is created after it, so the bodies are checked when all functions exist.
  await tx`set local check_function_bodies = off`;
  for (const name of changed) {
    const text = texts.get(name)!;
    await run(tx, name, `${text};\ncomment on function ${name} is '${commentOf(name, text)}'`);
  }
  await checkBodies(tx, [...texts.keys()]);
  return [...new Set([...outdated.map(({ name }) => name), ...changed])].toSorted();
}

/** The comment of a function in the database says which text it was created from. */
const commentOf = (name: string, text: string): string => `${FOLDER}/${name}.sql, sha256 ${hash('sha256', text)}`;

interface StoredFunction {
  readonly name: string;
  /** The name with the types of the arguments, as `drop function` needs it. */
  readonly signature: string;
  readonly comment: string | null;
  /** Triggers that call it, as `drop trigger` needs them. */
  readonly triggers: readonly string[];
}

/** The functions in the database that have one of the names or were created from a file that may be gone. */
const readStored = (tx: Queryable, names: readonly string[]) => tx<StoredFunction[]>`
  select p.proname as name, p.oid::regprocedure::text as signature, obj_description(p.oid, 'pg_proc') as comment, array(
    select format('%I on %s', t.tgname, t.tgrelid::regclass) from pg_trigger t where t.tgfoid = p.oid
  ) as triggers
  from pg_proc p
  where p.pronamespace = current_schema()::regnamespace and (
    p.proname = any (${names as string[]}::text[])
      or starts_with(obj_description(p.oid, 'pg_proc'), ${`${FOLDER}/`}::text))`;

/** Lets the language of each function check its body. */
async function checkBodies(tx: Queryable, names: readonly string[]): Promise<void> {
  await tx`set local check_function_bodies = on`;
  const checks = await tx<{ name: string; statement: string }[]>`
    select p.proname as name, format('select %s(%s)', l.lanvalidator::regproc, p.oid) as statement
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = current_schema()::regnamespace and p.proname = any (${names as string[]}::text[])`;
  for (const { name, statement } of checks) await run(tx, name, statement);
}

async function run(tx: Queryable, name: string, statements: string): Promise<void> {
  try {
    await tx.unsafe(statements);
  } catch (error) {
    throw new Error(`${FOLDER}/${name}.sql failed: ${(error as Error).message}`, { cause: error });
  }
}
