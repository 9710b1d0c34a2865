// What bench:profile makes of a CPU profile that is given.
import type { Profiler } from 'node:inspector';
import { describe, expect, it } from 'vitest';
import { flameGraph, hottest } from '../../bench/flameGraph.ts';

const node = (id: number, functionName: string, url: string, children: number[] = []): Profiler.ProfileNode => ({
  id,
  callFrame: { functionName, url, lineNumber: 41, columnNumber: 0, scriptId: '1' },
  children,
});

/** A program that calls `fills` and `report`, and the profiler's own call. */
const profileOf = (samples: number[], timeDeltas: number[]): Profiler.Profile => ({
  nodes: [
    node(1, '(root)', '', [2, 5]),
    node(2, '', 'file:///src/engine/backtest.ts', [3, 4]),
    node(3, 'fills<&"', 'file:///src/engine/simulate/fills.ts'),
    node(4, 'report', 'file:///src/engine/report/summary.ts'),
    node(5, 'post', 'node:inspector'),
  ],
  startTime: 0,
  endTime: 0,
  samples,
  timeDeltas,
});

describe('the hottest functions of a profile', () => {
  it('are those with the most samples, without those of the profiler', () => {
    const profile = profileOf([5, 5, 5, 3, 4, 3, 3], [200, 200, 200, 200, 200, 200, 200]);
    expect(hottest(profile, 2)).toEqual([
      { name: 'fills<&"', place: 'simulate/fills.ts:42', share: 0.75 },
      { name: 'report', place: 'report/summary.ts:42', share: 0.25 },
    ]);
  });

  it('do not owe their share to a pause of the profiler', () => {
    const profile = profileOf([3, 3, 3, 4], [200, 200, 200, 240_000]);
    expect(hottest(profile, 1)).toEqual([{ name: 'fills<&"', place: 'simulate/fills.ts:42', share: 0.75 }]);
  });

  it('have no share of a profile without samples', () => {
    expect(hottest(profileOf([], []), 9).map(({ share }) => share)).toEqual([0, 0, 0, 0]);
  });
});

describe('a flame graph', () => {
  const svg = flameGraph(profileOf([3, 4, 3, 3], [200, 200, 200, 200]), 'fills/<all>/1');

  it('has a box for each function, as wide as its samples and above its caller', () => {
    const boxes = [...svg.matchAll(/<g data-x="(.*?)" data-w="(.*?)" data-d="(.*?)" data-name="(.*?)">/g)];
    expect(boxes.map((box) => box.slice(1))).toEqual([
      ['0.00', '1200.00', '0', '(root)'],
      ['0.00', '1200.00', '1', '(anonymous)'],
      ['0.00', '900.00', '2', 'fills&lt;&amp;&quot;'],
      ['900.00', '300.00', '2', 'report'],
    ]);
    expect(svg).toContain('<title>report report/summary.ts:42 (25.0 %, itself 25.0 %)</title>');
  });

  it('says what it is of, with names that cannot break it', () => {
    expect(svg).toContain('fills/&lt;all>/1: 4 samples;');
    expect(svg.replace(/<script>.*<\/script>/s, '')).not.toMatch(/&(?!amp;|lt;|quot;)|NaN/);
  });
});
