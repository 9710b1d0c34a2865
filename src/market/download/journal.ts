// Download journals: the rows of a download on disk, page by page, so that a command that is killed or cut off goes on
// where it stopped.
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { SourceRow } from './barSource.ts';
import { DownloadRows } from './downloadRows.ts';

const Head = z.object({ from: z.number(), to: z.number(), columns: z.array(z.string()) });

/** The times that one download is about: [from, to), ms UTC. */
export interface DownloadRange {
  readonly from: number;
  readonly to: number;
}

/** A download that has begun, and the rows that it has. */
interface BegunDownload {
  readonly range: DownloadRange;
  readonly rows: DownloadRows;
}

/** No line is longer. */
const LINE_BYTES = 4096;
const LINE_BREAK = 0x0a;

/** The journal of one series: a line that says what is downloaded, then one line per row. */
export class JournalFile {
  readonly #path: string;
  readonly #folder: string;

  /** @param name any text; each name has a file of its own */
  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#path = join(folder, `${encodeURIComponent(name)}.rows`);
  }

  /** The download that has not ended; null if there is none, or if it is one of other columns. */
  async read(columns: readonly string[]): Promise<BegunDownload | null> {
    if (!(await this.#cutTornLine())) return null;
    let begun: BegunDownload | null = null;
    for await (const line of createInterface({ input: createReadStream(this.#path) })) {
      if (begun !== null) begun.rows.push(line.split(',').map((cell) => (cell === '' ? NaN : Number(cell))));
      else {
        const head = Head.safeParse(parsedJson(line));
        if (!head.success || head.data.columns.join() !== columns.join()) return null;
        const { from, to } = head.data;
        begun = { range: { from, to }, rows: new DownloadRows(columns) };
      }
    }
    return begun;
  }

  async begin({ from, to }: DownloadRange, columns: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeFile(this.#path, `${JSON.stringify({ from, to, columns })}\n`);
  }

  /** Keeps a page, in one write. */
  async append(rows: readonly SourceRow[]): Promise<void> {
    const lines = rows.map((row) => `${row.map((cell) => (Number.isNaN(cell) ? '' : cell)).join(',')}\n`);
    if (lines.length > 0) await appendFile(this.#path, lines.join(''));
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  /** Removes the line that was being written when the command was killed. @returns false if there is no file */
  async #cutTornLine(): Promise<boolean> {
    const file = await open(this.#path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (file === null) return false;
    try {
      const { size } = await file.stat();
      const from = Math.max(0, size - LINE_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const end = from + buffer.subarray(0, bytesRead).lastIndexOf(LINE_BREAK) + 1;
      if (end < size) await file.truncate(end);
      return true;
    } finally {
      await file.close();
    }
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
