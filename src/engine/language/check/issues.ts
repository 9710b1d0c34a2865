// Issues: everything that validation finds in a strategy, with place, message and, where certain, the patch.
import { z } from 'zod';
import { firstSegment } from '../pointer.ts';
import type { PatchOperation } from './patch.ts';
import { inOrder, translatePatch, type Translation } from './repair.ts';

/** Errors: a payload with one of these is not valid. */
const ERROR_CODES = [
  'PAYLOAD_REQUIRED',
  'PAYLOADS_DISAGREE',
  'PROTOCOL_UNSUPPORTED',
  'VERSION_UNSUPPORTED',
  'UNKNOWN_FIELD',
  'MISSING_FIELD',
  'TYPE_MISMATCH',
  'OUT_OF_RANGE',
  'UNKNOWN_NODE_KIND',
  'UNKNOWN_INDICATOR',
  'UNKNOWN_INDICATOR_ARG',
  'INDICATOR_ARG_REQUIRED',
  'INDICATOR_ARG_OUT_OF_RANGE',
  'INDICATOR_OUTPUT_REQUIRED',
  'INDICATOR_OUTPUT_UNKNOWN',
  'UNKNOWN_OPERATOR',
  'UNKNOWN_PATTERN',
  'UNKNOWN_STATE_FIELD',
  'UNKNOWN_TIMEFRAME',
  'NODE_ID_DUPLICATE',
  'REF_NOT_FOUND',
  'REF_TYPE_MISMATCH',
  'GRAPH_CYCLE',
  'ENTRY_MISSING',
  'TRIGGER_MISSING',
  'SIZING_INVALID',
  'SIZING_NEEDS_STOP',
  'TIMEFRAME_BELOW_BASE',
  'RISK_INVALID',
  'TP_CLOSE_OVER_100',
  'PARAM_UNDEFINED',
  'PAYLOAD_TOO_DEEP',
  'NOT_AVAILABLE_YET',
  'TIER_LIMIT_CONDITIONS',
  'TIER_LIMIT_NODES',
  'TIER_LIMIT_EXITS',
] as const;

/** Never blocking. Only CONTRADICTION has to be acknowledged before a strategy is finalized. */
const STRATEGY_WARNING_CODES = [
  'WARMUP_TOO_SHORT',
  'SYMBOL_NOT_AVAILABLE',
  'NO_EXIT_RULE',
  'UNUSED_NODE',
  'CONSTANT_CONDITION',
  'CONTRADICTION',
  'REDUNDANT_CONDITION',
  'SIMULTANEOUS_CROSSES',
  'FLOAT_EQUALITY',
  'SELF_COMPARE_SAME_BAR',
  'STOP_TIGHTER_THAN_NOISE',
  'FRACTION_FOR_PERCENT',
  'INTRADAY_WINDOW',
  'WARMUP_EXCEEDS_DATA',
  'ALIAS_USED',
] as const;

/** Blocking issues of a backtest's config. */
export const CONFIG_ERROR_CODES = ['FEE_TIERS_ORDER', 'TICK_SIZE_UNKNOWN', 'RANGE_INVALID'] as const;
/** Warnings that need a config, and come with the result of a backtest. */
export const CONFIG_WARNING_CODES = [
  'DEFAULTS_OVERRIDDEN',
  'SIZING_UNAFFORDABLE',
  'MAKER_FILL_ASSUMED',
  'COSTS_NOT_MODELED',
  'OPTIMISTIC_FILLS',
] as const;
const WARNING_CODES = [...STRATEGY_WARNING_CODES, ...CONFIG_WARNING_CODES] as const;

export const ISSUE_CODES = [...ERROR_CODES, ...CONFIG_ERROR_CODES, ...WARNING_CODES] as const;
export const SEVERITIES = ['error', 'warning'] as const;
export type IssueCode = (typeof ISSUE_CODES)[number];
export type Severity = (typeof SEVERITIES)[number];

/**
 * Something wrong or doubtful in a strategy or config. `path` is an RFC 6901 pointer from the request body, `field` its
 * first segment, and `patch` applies to the same body.
 */
export interface ValidationIssue {
  readonly code: IssueCode;
  readonly path: string;
  readonly field: string;
  readonly severity: Severity;
  readonly message: string;
  readonly suggestion?: string;
  readonly patch?: readonly PatchOperation[];
}

/** The texts and patch of an issue. */
export interface IssueDetails {
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly patch?: readonly PatchOperation[] | undefined;
}

/** Issues kept per payload: one bad leaf in a deep tree must not produce half a megabyte of issues. */
const MAX_ISSUES = 100;
/** Pointers into a hostile payload can be as long as the payload. */
const MAX_POINTER_LENGTH = 2_000;

const WARNINGS: ReadonlySet<string> = new Set(WARNING_CODES);
export const severityOf = (code: IssueCode): Severity => (WARNINGS.has(code) ? 'warning' : 'error');

/** The issue code for values that a schema does not allow (range, choice), where it is not OUT_OF_RANGE. */
export const issueCodes = z.registry<{ readonly code: IssueCode }>();

/**
 * Collects issues: all are counted, the first hundred of each severity are kept, and each code is kept once per place.
 */
export class IssueLog {
  readonly #kept: { readonly error: ValidationIssue[]; readonly warning: ValidationIssue[] } = {
    error: [],
    warning: [],
  };
  readonly #counts = { error: 0, warning: 0 };
  readonly #seen = new Set<string>();
  readonly #codes = new Set<IssueCode>();
  #translation: Translation | null = null;

  /** Issues added from now on have places in a repaired copy of the body; null: in the body as it was sent. */
  translateFrom(translation: Translation | null): void {
    this.#translation = translation;
  }

  add(code: IssueCode, place: string, details: IssueDetails | (() => IssueDetails)): void {
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
    const { message, suggestion, patch: given } = typeof details === 'function' ? details() : details;
    // Patches of warnings are applied after those of errors, when members already have their correct names.
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

  /** False once the hundredth error is kept: further ones are only counted, and need no repair. */
  get keepsErrors(): boolean {
    return this.#kept.error.length < MAX_ISSUES;
  }
  /** Whether an issue of this code was found, kept or not. */
  has(code: IssueCode): boolean {
    return this.#codes.has(code);
  }
  get errorCount(): number {
    return this.#counts.error;
  }
  get warningCount(): number {
    return this.#counts.warning;
  }
  /** Errors first, for they are repaired first; at most MAX_ISSUES, in an order in which all patches can be applied. */
  list(): ValidationIssue[] {
    const { error, warning } = this.#kept;
    return [...inOrder(error, ({ patch }) => patch ?? []), ...warning].slice(0, MAX_ISSUES);
  }
}
