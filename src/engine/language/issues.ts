// Issues: what validation says of a payload, each with its place, its meaning and, where a repair is certain, the patch.
import { z } from 'zod';
import { firstSegment } from './pointer.ts';
import { inOrder, translatePatch, type Translation } from './repair.ts';

/** Blocking: a payload with one of these is not valid. */
export const ERROR_CODES = [
  'PAYLOAD_REQUIRED', 'PAYLOADS_DISAGREE', 'PROTOCOL_UNSUPPORTED', 'VERSION_UNSUPPORTED', 'UNKNOWN_FIELD', 'MISSING_FIELD', 'TYPE_MISMATCH',
  'OUT_OF_RANGE', 'UNKNOWN_NODE_KIND', 'UNKNOWN_INDICATOR', 'UNKNOWN_INDICATOR_ARG', 'INDICATOR_ARG_REQUIRED',
  'INDICATOR_ARG_OUT_OF_RANGE', 'INDICATOR_OUTPUT_REQUIRED', 'INDICATOR_OUTPUT_UNKNOWN', 'UNKNOWN_OPERATOR', 'UNKNOWN_PATTERN',
  'UNKNOWN_STATE_FIELD', 'UNKNOWN_TIMEFRAME', 'NODE_ID_DUPLICATE', 'REF_NOT_FOUND', 'REF_TYPE_MISMATCH', 'GRAPH_CYCLE', 'ENTRY_MISSING',
  'TRIGGER_MISSING', 'SIZING_INVALID', 'SIZING_NEEDS_STOP', 'TIMEFRAME_BELOW_BASE', 'RISK_INVALID', 'TP_CLOSE_OVER_100', 'PARAM_UNDEFINED',
  'PAYLOAD_TOO_DEEP', 'NOT_AVAILABLE_YET', 'TIER_LIMIT_CONDITIONS', 'TIER_LIMIT_NODES', 'TIER_LIMIT_EXITS',
] as const; // prettier-ignore

/** Never blocking; only CONTRADICTION asks for acknowledgement. The last three need a config and come with a backtest. */
export const WARNING_CODES = [
  'WARMUP_TOO_SHORT', 'SYMBOL_NOT_AVAILABLE', 'NO_EXIT_RULE', 'UNUSED_NODE', 'CONSTANT_CONDITION', 'CONTRADICTION', 'REDUNDANT_CONDITION',
  'SIMULTANEOUS_CROSSES', 'FLOAT_EQUALITY', 'SELF_COMPARE_SAME_BAR', 'STOP_TIGHTER_THAN_NOISE', 'ALIAS_USED', 'DEFAULTS_OVERRIDDEN',
  'SIZING_UNAFFORDABLE', 'MAKER_FILL_ASSUMED',
] as const; // prettier-ignore

export const ISSUE_CODES = [...ERROR_CODES, ...WARNING_CODES] as const;
export const SEVERITIES = ['error', 'warning'] as const;
export type IssueCode = (typeof ISSUE_CODES)[number];
export type Severity = (typeof SEVERITIES)[number];

/** One step of an RFC 6902 patch of the request body. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly path: string };

/** Spec §2.7. `path` is an RFC 6901 pointer from the request body, `field` its first segment; `patch` applies to that same body. */
export interface ValidationIssue {
  readonly code: IssueCode;
  readonly path: string;
  readonly field: string;
  readonly severity: Severity;
  readonly message: string;
  readonly suggestion?: string;
  readonly patch?: readonly PatchOperation[];
}

/** What one finding says, made only when the log still keeps it. */
export interface Finding {
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly patch?: readonly PatchOperation[] | undefined;
}

/** Issues kept of one payload: one bad leaf in a deep tree must not answer with half a megabyte (design §3.4). */
export const MAX_ISSUES = 100;
/** Pointers into a hostile payload can be as long as the payload. */
const MAX_POINTER_LENGTH = 2_000;

const WARNINGS: ReadonlySet<string> = new Set(WARNING_CODES);
export const severityOf = (code: IssueCode): Severity => (WARNINGS.has(code) ? 'warning' : 'error');

/** The code that a schema's own faults (range, choice) are reported under, where it is not OUT_OF_RANGE. */
export const faultCodes = z.registry<{ readonly code: IssueCode }>();

/** Collects findings: all are counted, the first hundred of each severity are kept, the same code is said once a place. */
export class IssueLog {
  readonly #kept: { readonly error: ValidationIssue[]; readonly warning: ValidationIssue[] } = {
    error: [],
    warning: [],
  };
  readonly #counts = { error: 0, warning: 0 };
  readonly #seen = new Set<string>();
  readonly #codes = new Set<IssueCode>();
  #translation: Translation | null = null;

  /** Places said from now on are those of a repaired copy; null: of the body as it was sent. */
  speakOf(translation: Translation | null): void {
    this.#translation = translation;
  }

  add(code: IssueCode, place: string, finding: Finding | (() => Finding)): void {
    this.#codes.add(code);
    const path = this.#translation?.path(place) ?? place;
    const severity = severityOf(code);
    const kept = this.#kept[severity];
    if (kept.length >= MAX_ISSUES) {
      this.#counts[severity]++;
      return;
    }
    const key = `${code} ${path}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#counts[severity]++;
    const { message, suggestion, patch: given } = typeof finding === 'function' ? finding() : finding;
    // Patches of warnings come after all others, when members have their right names already.
    const isTranslated = this.#translation !== null && severity === 'error' && given !== undefined;
    const patch = isTranslated ? translatePatch(given, this.#translation!.patch) : given;
    const shown = path.length > MAX_POINTER_LENGTH ? path.slice(0, MAX_POINTER_LENGTH) : path;
    kept.push({
      code,
      path: shown,
      field: firstSegment(path),
      severity,
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(patch === undefined ? {} : { patch }),
    });
  }

  /** False once the hundredth error is kept: further ones are only counted, and no repair need be looked for. */
  get keepsErrors(): boolean {
    return this.#kept.error.length < MAX_ISSUES;
  }
  /** Whether such an issue was found, also where it is no longer kept. */
  has(code: IssueCode): boolean {
    return this.#codes.has(code);
  }
  get errorCount(): number {
    return this.#counts.error;
  }
  get warningCount(): number {
    return this.#counts.warning;
  }
  /** Errors first, for they are repaired first (spec §4.3.9); at most MAX_ISSUES, in an order in which all patches can be applied. */
  list(): ValidationIssue[] {
    const { error, warning } = this.#kept;
    return [...inOrder(error, ({ patch }) => patch ?? []), ...warning].slice(0, MAX_ISSUES);
  }
}
