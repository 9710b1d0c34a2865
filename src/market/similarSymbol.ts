// Similar symbols: the stored one that a symbol without market data was probably meant to be.
import { nearestName } from '../engine/index.ts';

interface SimilarSymbol {
  readonly symbol: string;
  /** Whether the two differ only in case, slashes and hyphens; else the similar one may be another instrument. */
  readonly isSpelling: boolean;
}

/** The stored symbol that was meant: the same in another spelling, else the nearest; undefined: none is near. */
export function similarSymbol(symbol: string, stored: readonly string[]): SimilarSymbol | undefined {
  const same = stored.find((each) => withoutSpelling(each) === withoutSpelling(symbol));
  if (same !== undefined) return { symbol: same, isSpelling: true };
  const nearest = nearestName(symbol, stored);
  return nearest && { symbol: nearest.name, isSpelling: false };
}

const withoutSpelling = (symbol: string): string => symbol.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
