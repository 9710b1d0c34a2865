// An exit reason: everything that results and the report need to know about one way in which a position is closed.
export interface ExitReasonDefinition<Reason extends string = string> {
  /** The word in trade rows, files and the order log. */
  readonly reason: Reason;
  /**
   * The place in stored results, which list reasons by code. A new reason takes the next code, and a code is never used
   * again: the order of the registry does not matter.
   */
  readonly code: number;
  /** Its text in the report. */
  readonly shown: string;
  /** Whether a market order closes it, or a level of risk. Decides the order's type in the log (semantics §4.4). */
  readonly order: 'market' | 'risk';
  /** What `exitRule` of a trade row names. */
  readonly names: 'exit' | 'target' | null;
  /** Whether the position was still wanted when the data ended. */
  readonly endsWithData: boolean;
}

export const exitReason = <const Reason extends string>(
  definition: ExitReasonDefinition<Reason>,
): ExitReasonDefinition<Reason> => definition;
