// The shipped series, parsed once for all files that share a process: nothing changes them.
import type { Catalog } from '../../src/market/catalog.ts';
import { openShippedData } from '../../src/market/shipped.ts';

let opened: Promise<Catalog> | undefined;

export const shippedData = (): Promise<Catalog> => (opened ??= openShippedData());
