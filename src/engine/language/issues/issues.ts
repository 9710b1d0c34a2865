// Issues: everything that validation finds in a strategy, with place, message and, where certain, the patch.
import { severityOf, type IssueCode, type Severity } from '../../definitions/issueCodes.ts';
import { firstSegment } from '../pointer.ts';
import type { PatchOperation } from './patch.ts';
import { inOrder, translatePatch, type Translation } from './repair.ts';

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
    // Cut between two segments: a pointer that ends within an escaped character is not one.
    const shown = path.length > MAX_POINTER_LENGTH ? path.slice(0, path.lastIndexOf('/', MAX_POINTER_LENGTH)) : path;
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
