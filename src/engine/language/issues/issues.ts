// Issues: everything that validation finds in a strategy, with place, message and, where certain, the patch.
import { severityOf, type IssueCode, type Severity } from '../../definitions/issueCodes.ts';
import { firstSegment } from '../pointer.ts';
import type { PatchOperation } from './patch.ts';
import { inOrder } from './repair.ts';

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

/** An issue with the round of repairs in which it was found. */
interface Kept {
  readonly issue: ValidationIssue;
  readonly round: number;
  readonly key: string;
}
/** Patches of the request are applied first: payloads are checked where they then stand. */
const REQUEST_ROUND = -1;

/**
 * Collects issues: all are counted, the first hundred of each severity are kept, and each code is kept once per place.
 *
 * What errors hide is found in rounds: the certain patches of one round are applied to a copy of the payload, which the
 * next round checks. Places are those of the payload as it was sent; patches are those of their round, so that all of
 * them can be applied in the order of the issues.
 */
export class IssueLog {
  readonly #kept: { error: Kept[]; warning: Kept[] } = { error: [], warning: [] };
  readonly #counts = { error: 0, warning: 0 };
  readonly #seen = new Set<string>();
  readonly #codes = new Set<IssueCode>();
  #round = 0;
  /** From places of each round to those of the round before. */
  #toSent: ((pointer: string) => string)[] = [];

  /** Issues added from now on are those of a payload to which the patches of this round were applied. */
  startRound(toRoundBefore: (pointer: string) => string): void {
    this.#round++;
    this.#toSent.push(toRoundBefore);
    // Warnings are found again in the repaired payload, where they are those that remain.
    for (const { key } of this.#kept.warning) this.#seen.delete(key);
    this.#kept.warning = [];
    this.#counts.warning = 0;
  }
  /** Issues added from now on are those of another payload, as it was sent. */
  startPayload(): void {
    this.#round = 0;
    this.#toSent = [];
  }
  /** The steps of the patches of the errors that were found in this round. */
  get repairs(): PatchOperation[] {
    return this.#kept.error.flatMap(({ issue, round }) => (round === this.#round ? (issue.patch ?? []) : []));
  }

  add(code: IssueCode, place: string, details: IssueDetails | (() => IssueDetails), round = this.#round): void {
    this.#codes.add(code);
    const path = this.#toSent.reduceRight((pointer, toRoundBefore) => toRoundBefore(pointer), place);
    const severity = severityOf(code);
    const kept = this.#kept[severity];
    if (kept.length >= MAX_ISSUES) {
      this.#counts[severity]++;
      return;
    }
    const { message, suggestion, patch } = typeof details === 'function' ? details() : details;
    // A later round repairs what an earlier repair of the same place has uncovered.
    const key = round > 0 && patch !== undefined ? `${code} ${path} ${round} ${place}` : `${code} ${path}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#counts[severity]++;
    // Cut between two segments: a pointer that ends within an escaped character is not one.
    const shown = path.length > MAX_POINTER_LENGTH ? path.slice(0, path.lastIndexOf('/', MAX_POINTER_LENGTH)) : path;
    const issue = {
      code,
      path: shown,
      field: firstSegment(path),
      severity,
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(patch === undefined ? {} : { patch }),
    };
    kept.push({ issue, round, key });
  }
  /** Adds an issue of the request around the payloads. */
  addOfRequest(code: IssueCode, place: string, details: IssueDetails): void {
    this.add(code, place, details, REQUEST_ROUND);
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
    const rounds = [...new Set(error.map(({ round }) => round))].toSorted((a, b) => a - b);
    const errors = rounds.flatMap((of) => {
      const found = error.filter(({ round }) => round === of);
      return of === REQUEST_ROUND ? found : inOrder(found, ({ issue }) => issue.patch ?? []);
    });
    return [...errors, ...warning].slice(0, MAX_ISSUES).map(({ issue }) => issue);
  }
}
