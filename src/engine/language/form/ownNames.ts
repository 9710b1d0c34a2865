// Own names: the params and nodes of a payload, which its texts may refer to, and the places that use params.
import type { TextContext } from '../text/textMeaning.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import type { NumberShape } from '../grammar/shapes.ts';
import { isMembers } from '../grammar/payloadObjects.ts';

/** More names than a strategy may have. */
const MAX_NAMES = 4_096;

/** The names that a list of objects or a map by names gives. */
function namesIn(list: unknown, member: string): ReadonlySet<unknown> {
  if (isMembers(list)) return new Set(Object.keys(list).slice(0, MAX_NAMES));
  if (!Array.isArray(list)) return new Set();
  return new Set(list.slice(0, MAX_NAMES).map((one: unknown) => (isMembers(one) ? one[member] : undefined)));
}

/** The names of a payload, valid or not. */
export function ownNamesOf(payload?: unknown): TextContext {
  const body = isMembers(payload) ? payload : {};
  const strategy = isMembers(body.strategy) ? body.strategy : body;
  return { params: namesIn(strategy.params, 'name'), nodes: namesIn(body.nodes, 'id'), known: new Map() };
}

/** A use of a param in place of a number, to be checked once the declarations are known. */
export interface ParamUse {
  readonly name: string;
  readonly pointer: string;
  readonly shape: (NumberShape & { readonly code?: IssueCode }) | null;
}
