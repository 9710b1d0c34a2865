// Every indicator with its default arguments: ns per bar at 1e4 and 1e6 bars.
import { suite } from './indicators.ts';
import { measure } from './measure.ts';

await measure(suite({ all: true }));
