// The catalog of templates: the files of data/templates/, one template each, read once per process and named by their
// keys.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../../config.ts';
import { TemplateFile, type Template } from './template.ts';

const FOLDER = join(ROOT, 'data', 'templates');

/** In the order of their keys. */
export const TEMPLATES: readonly Template[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .toSorted()
  .map(readTemplate);

/** @throws Error naming the file that is not a template */
function readTemplate(file: string): Template {
  const read = TemplateFile.safeParse(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
  if (!read.success) throw new Error(`data/templates/${file} is not a template: ${z.prettifyError(read.error)}`);
  return { key: basename(file, '.json'), ...read.data };
}

const byKey = new Map(TEMPLATES.map((template) => [template.key, template]));
/** Its graph is the example of a graph in the OpenAPI document and in the authoring pack. */
export const GOLDEN_CROSS = TEMPLATES.find(({ key }) => key === 'golden_cross')!;

export const findTemplate = (key: string): Template | undefined => byKey.get(key);
