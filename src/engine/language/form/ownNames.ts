// Own names: the params and nodes of a payload, which its texts may refer to.
import type { TextContext } from '../text/expressionGrammar.ts';
import { isMembers } from '../grammar/payloadObjects.ts';

/** More names than a strategy may have. */
const MAX_NAMES = 4_096;

/** The names that a list of objects or a map by names gives. */
function namesIn(list: unknown, member: string): ReadonlySet<unknown> {
  if (isMembers(list)) return new Set(Object.keys(list).slice(0, MAX_NAMES));
  if (!Array.isArray(list)) return new Set();
  return new Set(list.slice(0, MAX_NAMES).map((one: unknown) => (isMembers(one) ? one[member] : undefined)));
}

export const NO_NAMES: TextContext = { params: new Set(), nodes: new Set() };

/** The names of a payload, valid or not. */
export function ownNamesOf(payload: unknown): TextContext {
  if (!isMembers(payload)) return NO_NAMES;
  const strategy = isMembers(payload.strategy) ? payload.strategy : payload;
  return { params: namesIn(strategy.params, 'name'), nodes: namesIn(payload.nodes, 'id') };
}
