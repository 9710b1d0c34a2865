// The members of a payload, wherever they are nested: where a test damages one.
import type { Json } from './builders.ts';

export interface Place {
  readonly owner: Json;
  readonly name: string;
}

/** Every member of every object in `value`, lists' elements included. */
export function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [{ owner: value as Json, name }]),
    ...placesIn(member),
  ]);
}
