// The request around a strategy: payloads and settings in the wrong place, under another name or as a text, each with
// the patch that moves or converts them. These patches come before all others.
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { readingOf } from '../hints/hintTable.ts';
import { shown } from '../issues/displayNames.ts';
import { plain } from '../issues/nearest.ts';
import { addMember, moveMember, replaceMember, type PatchOperation } from '../issues/patch.ts';
import { repaired } from '../issues/repair.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { pointerTo } from '../pointer.ts';
import type { PayloadMember } from './readPayload.ts';

interface RequestFault {
  readonly code: IssueCode;
  readonly path: string;
  readonly message: string;
  readonly suggestion: string;
  readonly patch?: readonly PatchOperation[];
}
type Repair = (body: Members) => readonly RequestFault[];

/** Names of the members of a request on other platforms and in other spellings. */
const NAMES = readingOf({
  strategyAst: 'strategyast ast strategy strategypayload payload definition strategydefinition strategyjson',
  signalGraph: 'signalgraph graph strategygraph',
  settings: 'settings setting strategysettings',
});
const PAYLOADS = ['strategyAst', 'signalGraph'] as const;
/** Members of the request that are no part of a strategy. */
const OF_REQUEST = new Set([
  ...PAYLOADS,
  'settings',
  'name',
  'description',
  'ignoreWarnings',
  'version',
  'forkedFromVersionId',
]);
const SECTIONS = ['entry', 'entries', 'exits', 'exit', 'risk', 'allocation', 'params', 'defaults'];

const hasPayload = (body: Members): boolean => PAYLOADS.some((name) => body[name] != null);

/** The faults of a request in the order of their patches, and the request once these are applied. */
export function requestFaults(sent: Members): { readonly faults: readonly RequestFault[]; readonly body: Members } {
  const faults: RequestFault[] = [];
  let body = sent;
  for (const repair of REPAIRS) {
    const found = repair(body);
    for (const one of found) faults.push(one);
    body = found.reduce<Members>((copy, { patch = [] }) => repaired(copy, patch), body);
  }
  return { faults, body };
}

const REPAIRS: readonly Repair[] = [
  barePayload,
  bareSections,
  misnamed,
  texts,
  inOtherMember,
  settingsInside,
  noSettings,
];

/** The payload is the body: its members stand beside the settings. */
function barePayload(body: Members): RequestFault[] {
  if (hasPayload(body)) return [];
  const isBare =
    (typeof body.protocol === 'string' && isMembers(body.strategy)) ||
    (Array.isArray(body.nodes) && isMembers(body.strategy));
  if (!isBare) return [];
  const member: PayloadMember = body.nodes === undefined ? 'strategyAst' : 'signalGraph';
  const names = Object.keys(body).filter((name) => !OF_REQUEST.has(name) || name === 'version');
  return [wrapped(member, [], {}, names)];
}

/** The sections of a strategy are the body. */
function bareSections(body: Members): RequestFault[] {
  if (
    hasPayload(body) ||
    isMembers(body.strategy) ||
    !SECTIONS.some((name) => name.startsWith('e') && body[name] !== undefined)
  )
    return [];
  if (Object.keys(body).some((name) => body[name] != null && NAMES.has(plain(name)) && name !== 'settings')) return [];
  const names = Object.keys(body).filter((name) => !OF_REQUEST.has(name));
  const envelope = { protocol: 'svc.strategy', version: 1, strategy: {} };
  return [wrapped('strategyAst', ['strategy'], envelope, names)];
}

function wrapped(
  member: PayloadMember,
  inside: readonly string[],
  value: object,
  names: readonly string[],
): RequestFault {
  return {
    code: 'PAYLOAD_REQUIRED',
    path: '',
    message: 'The request has neither strategyAst nor signalGraph; the members of one stand beside the settings.',
    suggestion: `Move them into ${[member, ...inside].join('.')}.`,
    patch: [addMember('', member, value), ...names.map((name) => moveMember('', name, member, ...inside, name))],
  };
}

function misnamed(body: Members): RequestFault[] {
  const taken = new Set<string>();
  return Object.keys(body).flatMap((name) => {
    if (OF_REQUEST.has(name)) return [];
    const named = NAMES.get(plain(name));
    const isHeld = isMembers(body[name]) || typeof body[name] === 'string';
    if (named === undefined || !isHeld) return [];
    const value = body[name];
    const meant = named !== 'settings' && isMembers(value) && Array.isArray(value.nodes) ? 'signalGraph' : named;
    if (body[meant] != null || taken.has(meant)) return [];
    taken.add(meant);
    return [
      fault('UNKNOWN_FIELD', name, `Unknown member ${shown(name)}.`, `Did you mean "${meant}"?`, [
        moveMember('', name, meant),
      ]),
    ];
  });
}

/** Objects as JSON texts. */
function texts(body: Members): RequestFault[] {
  return [...PAYLOADS, 'settings'].flatMap((name) => {
    const value = parsed(body[name]);
    if (value === undefined) return [];
    const message = `${name} must be an object, not a text.`;
    return [fault('TYPE_MISMATCH', name, message, 'Send the object itself.', [replaceMember('', name, value)])];
  });
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const MEMBER_NAMES: Readonly<Record<PayloadMember, string>> = {
  strategyAst: 'a StrategyAst (a tree of expressions)',
  signalGraph: 'a signal graph (a list of nodes)',
};

/** A payload that was sent as another member than its own; it is moved there where that member is absent. */
function inOtherMember(body: Members): RequestFault[] {
  return PAYLOADS.flatMap((member) => {
    const kind = certainMember(body[member]);
    if (kind === undefined || kind === member) return [];
    const isFree = body[kind] == null;
    const message = `This is ${MEMBER_NAMES[kind]}, and ${member} takes ${MEMBER_NAMES[member]}.`;
    const suggestion = isFree ? `Send it as ${kind}.` : `Remove it: ${kind} is there as well.`;
    // Which of two payloads is meant, only the author knows.
    return [fault('TYPE_MISMATCH', member, message, suggestion, isFree ? [moveMember('', member, kind)] : undefined)];
  });
}

/** The member that a payload certainly belongs in, whatever member it was sent as; undefined when it may be either. */
export function certainMember(value: unknown): PayloadMember | undefined {
  if (!isMembers(value)) return undefined;
  if (Array.isArray(value.nodes)) return 'signalGraph';
  const { strategy } = value;
  const [entry] = isMembers(strategy) ? [strategy.entry].flat() : [];
  const allocation = isMembers(strategy) ? strategy.allocation : undefined;
  const { trigger } = isMembers(entry) ? entry : isMembers(allocation) ? { trigger: allocation.when } : {};
  if (isMembers(trigger) && typeof trigger.kind === 'string') return 'strategyAst';
  return undefined;
}

/** Settings in the payload or in its strategy. */
function settingsInside(body: Members): RequestFault[] {
  const isFree = body.settings == null || (isMembers(body.settings) && Object.keys(body.settings).length === 0);
  if (!isFree) return [];
  for (const member of PAYLOADS) {
    const payload = body[member];
    if (!isMembers(payload)) continue;
    const place = isMembers(payload.settings)
      ? [member]
      : isMembers(payload.strategy) && isMembers(payload.strategy.settings)
        ? [member, 'strategy']
        : undefined;
    if (place === undefined) continue;
    const from = pointerTo('', ...place, 'settings');
    const message = 'The settings stand beside the payload, not in it.';
    return [
      {
        code: 'UNKNOWN_FIELD',
        path: from,
        message,
        suggestion: 'Move them.',
        patch: [{ op: 'move', from, path: '/settings' }],
      },
    ];
  }
  return [];
}

function noSettings({ settings }: Members): RequestFault[] {
  if (settings !== null) return [];
  return [
    fault('TYPE_MISMATCH', 'settings', 'settings is null.', 'Send {} for the defaults.', [
      replaceMember('', 'settings', {}),
    ]),
  ];
}

const fault = (
  code: IssueCode,
  name: string,
  message: string,
  suggestion: string,
  patch?: readonly PatchOperation[],
): RequestFault => ({ code, path: pointerTo('', name), message, suggestion, ...(patch !== undefined && { patch }) });
