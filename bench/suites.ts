// The suites of benches, by the names of their files.
import { containing, refuseTask } from './commandLine.ts';

/** Of one process and one thread, from the smallest part to the whole. */
export const ENGINE_SUITES = [
  'indicators',
  'patterns',
  'conditions',
  'compile',
  'evaluate',
  'fills',
  'inside',
  'report',
  'encode',
  'whole',
  'small',
  'basket',
  'scaling',
  'portfolio',
  'portfolioSweep',
  'sweep',
] as const;

/** Of one process. */
export const PROCESS_SUITES = [...ENGINE_SUITES, 'pool'] as const;

export const SUITES = [...PROCESS_SUITES, 'http', 'queue'] as const;

/** What every suite's file exports: its tasks, which make what they need when they are run. */
interface SuiteModule {
  suite(): { readonly tasks: readonly { readonly name: string }[] };
}

/** The names of a suite's tasks. */
export async function taskNames(suite: string): Promise<string[]> {
  const module = (await import(new URL(`${suite}.ts`, import.meta.url).href)) as SuiteModule;
  return module.suite().tasks.map(({ name }) => name);
}

/** Those of `suites` that have a task whose name contains `text`; ends the process when none has. */
export async function suitesWith(usage: string, text: string, suites: readonly string[]): Promise<string[]> {
  const all = await Promise.all(suites.map(async (suite) => ({ suite, names: await taskNames(suite) })));
  const found = all.filter(({ names }) => names.some(containing(text)));
  if (found.length > 0) return found.map(({ suite }) => suite);
  return refuseTask(
    usage,
    text,
    all.flatMap(({ names }) => names),
  );
}
