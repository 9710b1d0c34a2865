// The registry of exit sizes, in the order in which capabilities list them.
import type { ExitSize } from './exitSize.ts';
import { fixedExitSize } from './fixedExitSize.ts';
import { percentPosition } from './percentPosition.ts';

export const EXIT_SIZES = [percentPosition, fixedExitSize] as const;
export type ExitSizeName = (typeof EXIT_SIZES)[number]['mode'];

const BY_NAME: ReadonlyMap<unknown, ExitSize> = new Map(EXIT_SIZES.map((each) => [each.mode, each]));

/** The size of that name. */
export const findExitSize = (name: unknown): ExitSize | undefined => BY_NAME.get(name);
export const exitSizeOf = (name: ExitSizeName): ExitSize => BY_NAME.get(name)!;
