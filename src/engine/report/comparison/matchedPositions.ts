// Matched positions: positions that two runs have in common, and positions that only one of them has (docs/compare.md).

/** What is read of a trade row. */
interface ClosingFill {
  readonly positionId: number;
  readonly symbol?: string;
  readonly side: string;
  readonly entryTime: number;
  readonly entryPrice: number;
  readonly quantity: number;
  readonly exitTime: number;
  readonly exitPrice: number;
  readonly pnl: number;
  readonly exitReason: string;
}

/** A position with all of its closing fills: the last one says when and why it ended. */
interface ComparedPosition {
  readonly symbol: string;
  readonly side: string;
  readonly entryTime: number;
  readonly entryPrice: number;
  quantity: number;
  exitTime: number;
  exitPrice: number;
  pnl: number;
  exitReason: string;
}

/** The positions of a run, from its trade rows part by part. */
export class PositionList {
  readonly positions: ComparedPosition[] = [];
  readonly #byId = new Map<number, ComparedPosition>();
  readonly #symbol: string;

  /** @param symbol the instrument of rows that do not name theirs */
  constructor(symbol: string) {
    this.#symbol = symbol;
  }

  add(rows: readonly object[]): void {
    for (const row of rows as readonly ClosingFill[]) {
      const { positionId, quantity, exitTime, exitPrice, pnl, exitReason } = row;
      const known = this.#byId.get(positionId);
      if (known === undefined) {
        const { symbol = this.#symbol, side, entryTime, entryPrice } = row;
        const made = { symbol, side, entryTime, entryPrice, quantity, exitTime, exitPrice, pnl, exitReason };
        this.#byId.set(positionId, made);
        this.positions.push(made);
        continue;
      }
      known.quantity += quantity;
      known.pnl += pnl;
      if (exitTime >= known.exitTime) Object.assign(known, { exitTime, exitPrice, exitReason });
    }
  }
}

/** The positions of a run, and the window in which it could take some; null: it had no bar. */
export interface ComparedPositions {
  readonly positions: readonly ComparedPosition[];
  readonly window: { readonly start: number; readonly end: number } | null;
}

interface OneSided {
  readonly count: number;
  /** Of these, positions that were entered where the other run had no bars. */
  readonly outsidePeriod: number;
  readonly pnl: number;
  /** The first ones, in the order of their entries. */
  readonly rows: readonly ComparedPosition[];
}

interface MatchedPositions {
  readonly both: number;
  /** Of `both`, positions that ended at another time or with another profit. */
  readonly changed: number;
  readonly onlyA: OneSided;
  readonly onlyB: OneSided;
}

/**
 * Matches positions of the same instrument and side that were entered on the same bar; several of them in the order in
 * which they ended.
 * @param maxRows of each side
 */
export function matchPositions(a: ComparedPositions, b: ComparedPositions, maxRows: number): MatchedPositions {
  const waiting = new Map<string, ComparedPosition[]>();
  for (const position of b.positions) {
    const key = keyOf(position);
    const same = waiting.get(key);
    if (same === undefined) waiting.set(key, [position]);
    else same.push(position);
  }
  const onlyA: ComparedPosition[] = [];
  let both = 0;
  let changed = 0;
  for (const position of a.positions) {
    const other = waiting.get(keyOf(position))?.shift();
    if (other === undefined) onlyA.push(position);
    else {
      both++;
      changed += +(other.exitTime !== position.exitTime || other.pnl !== position.pnl);
    }
  }
  const onlyB = [...waiting.values()].flat();
  return { both, changed, onlyA: oneSided(onlyA, b, maxRows), onlyB: oneSided(onlyB, a, maxRows) };
}

const keyOf = ({ symbol, side, entryTime }: ComparedPosition): string => `${entryTime} ${side} ${symbol}`;

function oneSided(only: ComparedPosition[], { window }: ComparedPositions, maxRows: number): OneSided {
  const isOutside = ({ entryTime }: ComparedPosition): boolean =>
    window === null || entryTime < window.start || entryTime >= window.end;
  only.sort((one, other) => one.entryTime - other.entryTime);
  return {
    count: only.length,
    outsidePeriod: only.filter(isOutside).length,
    pnl: only.reduce((sum, { pnl }) => sum + pnl, 0),
    rows: only.slice(0, maxRows),
  };
}
