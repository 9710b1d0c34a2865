// Scripts run to their end inside this process, as programs: for command lines that are refused or explained at once.
// The modules that they share are loaded once, which is all that most of them would do in a process of their own.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';

export interface ScriptEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Marks the address of a module that is to believe that the process was started with it. */
const AS_PROGRAM = 'program';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!new URL(url).searchParams.has(AS_PROGRAM)) return loaded;
    return { ...loaded, source: `import.meta.main = true; ${(loaded.source as Buffer).toString()}` };
  },
});

let calls = 0;
let lastCall: Promise<unknown> = Promise.resolve();

/** One call after the other, since they share arguments and the console. */
export function callScript(path: string, args: readonly string[]): Promise<ScriptEnd> {
  const call = lastCall.then(() => callAlone(path, args));
  lastCall = call.catch(() => {});
  return call;
}

async function callAlone(path: string, args: readonly string[]): Promise<ScriptEnd> {
  const { argv, exitCode } = process;
  const printed = { log: '', error: '' };
  const { promise: exited, resolve } = Promise.withResolvers<ScriptEnd>();
  const end = (code: unknown): void => resolve({ code: Number(code ?? 0), stdout: printed.log, stderr: printed.error });
  const spies = [
    ...(['log', 'error'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...words) => void (printed[name] += `${format(...words)}\n`)),
    ),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      end(code);
      // Nothing after it runs in a process that has ended. Whoever catches this can say and set nothing that counts.
      throw new Error('The script has ended.');
    }),
  ];
  process.argv = [argv[0], path, ...args];
  try {
    const ran = import(`${pathToFileURL(path).href}?${AS_PROGRAM}=${++calls}`);
    await ran.then(
      () => end(process.exitCode),
      (error: unknown) => {
        printed.error += String(error);
        end(1);
      },
    );
    return await exited;
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.argv = argv;
    process.exitCode = exitCode;
  }
}
