// Labels of a run on the command line: the options, and the member of its result.
import { InvalidArgumentError, type Command } from 'commander';
import { shortText } from './arguments.ts';

export interface LabelOptions {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly note?: string;
}

/** The bounds of the API (src/api/http/labelShapes.ts). */
const MAX_TAGS = 20;
const MAX_TAG = 40;

export const withLabelOptions = (command: Command): Command =>
  command
    .option('--name <text>', 'a name for the run, kept in its result', shortText(200))
    .option('--tags <list>', 'tags of the run, such as spx,candidate', tagList)
    .option('--note <text>', 'a note about the run, kept in its result', shortText(4_000));

function tagList(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  const isWrong = tags.length > MAX_TAGS || new Set(tags).size < tags.length;
  if (isWrong || tags.some((tag) => tag === '' || tag.length > MAX_TAG))
    throw new InvalidArgumentError(
      `Give up to ${MAX_TAGS} different tags of 1 to ${MAX_TAG} characters, separated by commas.`,
    );
  return tags;
}

/** The member of a result; none without labels. */
export function labelsMember({ name, tags, note }: LabelOptions) {
  if (name === undefined && tags === undefined && note === undefined) return {};
  return { labels: { ...(name && { name }), ...(tags && { tags }), ...(note && { note }) } };
}
