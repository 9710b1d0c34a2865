// A process that answers one line with one line.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export class LineProcess implements AsyncDisposable {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  readonly #lines: AsyncIterator<string>;

  private constructor(name: string, child: ChildProcess, stdin: Writable, stdout: Readable) {
    this.#name = name;
    this.#child = child;
    this.#stdin = stdin;
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /**
   * @param signal ends the process
   * @throws Error when the command cannot be run
   */
  static async start([command, ...args]: readonly string[], name: string, signal: AbortSignal): Promise<LineProcess> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw new Error(`${command} cannot be run (${(error as Error).message}).`, { cause: error });
    }
    const stop = (): void => void child.kill('SIGKILL');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    child.once('exit', () => signal.removeEventListener('abort', stop));
    // A process that has ended is noticed where its answer is awaited.
    child.stdin.on('error', () => {});
    return new LineProcess(name, child, child.stdin, child.stdout);
  }

  /** @throws Error when the process has ended */
  async read<T>(): Promise<T> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.#name} ended before it had answered.`);
    return JSON.parse(line.value) as T;
  }

  ask<T>(command: string): Promise<T> {
    this.#stdin.write(`${command}\n`);
    return this.read();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }
}
