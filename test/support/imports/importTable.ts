// The import table: every shape of file that the page docs/imports.md lists, with the answer that an import must give.
import type { SourceBar } from './sourceBars.ts';

export interface ImportShape {
  /** As the page names it. */
  readonly shape: string;
  readonly file: string | Uint8Array;
  /** Options of the first import. */
  readonly options?: string;
  /** The code of the refusal, if the file is refused without more options. */
  readonly refused?: string;
  /** What is then to be done: options that the refusal names, or a change of the file. */
  readonly wayOut?: { readonly options: string } | { readonly edit: string; readonly file: string | Uint8Array };
  /** The bars that the file means; per symbol if it has several. */
  readonly bars: readonly SourceBar[] | Readonly<Record<string, readonly SourceBar[]>>;
  /** What the report must say. */
  readonly says?: string;
}

export interface ImportSection {
  readonly title: string;
  readonly shapes: readonly ImportShape[];
}
