// The nearest template: the built-in strategy that is most similar to a text in natural language, as a suggestion.
import { nearestName, valueAtPointer, type ValidationIssue } from '../../engine/index.ts';
import { TEMPLATES } from './catalog.ts';

/** Words that say nothing about a strategy. */
const EMPTY = new Set(
  'a an and are at be buy by for from if in is it its my of on or sell the then to when with'.split(' '),
);
/** Fewer words are a name rather than a sentence. */
const MIN_WORDS = 3;
/** Longer texts are cut. */
const MAX_WORDS = 40;
/** Below this share of its words, a text is about something else. */
const MIN_SCORE = 0.3;

const wordsOf = (text: string): string[] =>
  [...new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? [])].filter((word) => !EMPTY.has(word));
const WORDS = TEMPLATES.map(({ key, name, description, tags, category }) => ({
  key,
  words: new Set(wordsOf([key.replaceAll('_', ' '), name, description, category, ...tags].join(' '))),
}));
const VOCABULARY = [...new Set(WORDS.flatMap(({ words }) => [...words]))];
/** A word of few templates says more than one of many. */
const WEIGHT = new Map(
  VOCABULARY.map((word) => [word, Math.log(1 + WORDS.length / WORDS.filter(({ words }) => words.has(word)).length)]),
);

/** The template that shares most of the words of a text, and its share from 0 to 1; undefined: none is near. */
export function nearestTemplate(text: string): { readonly key: string; readonly score: number } | undefined {
  const asked = wordsOf(text).slice(0, MAX_WORDS);
  if (text.trim().split(/\s+/).length < MIN_WORDS || asked.length === 0) return undefined;
  const meant = asked.map((word) => {
    const nearest = WEIGHT.has(word) ? { name: word, isCertain: true } : nearestName(word, VOCABULARY);
    return nearest?.isCertain === true ? nearest.name : word;
  });
  const rare = Math.log(1 + WORDS.length);
  const total = meant.reduce((sum, word) => sum + (WEIGHT.get(word) ?? rare), 0);
  const scored = WORDS.map(({ key, words }) => {
    const shared = meant.reduce((sum, word) => sum + (words.has(word) ? (WEIGHT.get(word) ?? 0) : 0), 0);
    return { key, score: Math.round((100 * shared) / total) / 100 };
  }).toSorted((a, b) => b.score - a.score);
  return scored[0].score >= MIN_SCORE ? scored[0] : undefined;
}

/** The most texts of an answer that are compared with templates. */
const MAX_TEXTS = 3;

/** The issues of a body, with the nearest template where a text in natural language stands for an expression. */
export function withTemplates(issues: readonly ValidationIssue[], body: unknown): ValidationIssue[] {
  let left = MAX_TEXTS;
  return issues.map((issue) => {
    const { code, path, patch } = issue;
    const text = code === 'TYPE_MISMATCH' && patch === undefined ? valueAtPointer(body, path) : undefined;
    const nearest = typeof text === 'string' && left-- > 0 ? nearestTemplate(text) : undefined;
    if (nearest === undefined) return issue;
    const { key, score } = nearest;
    const advice = `The nearest template is "${key}" (score ${score}): GET /public/v1/system-strategies/${key}.`;
    return { ...issue, suggestion: `${advice}${issue.suggestion === undefined ? '' : ` ${issue.suggestion}`}` };
  });
}
