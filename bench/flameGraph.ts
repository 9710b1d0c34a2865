// A flame graph: a CPU profile as one SVG, whose boxes are functions, as wide as the time in them and what they called.
// A click widens a box to the whole width; a click on the lowest box goes back.
import type { Profiler } from 'node:inspector';

interface Frame {
  readonly name: string;
  readonly place: string;
  readonly self: number;
  readonly total: number;
  readonly children: readonly Frame[];
}

const WIDTH = 1200;
const ROW = 18;
/** Narrower boxes say nothing, and there are many. */
const NARROWEST = 0.3;

export function flameGraph(profile: Profiler.Profile, title: string): string {
  const root = frames(profile);
  const boxes: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, left: number, depth: number): void => {
    const width = (frame.total / root.total) * WIDTH;
    if (width < NARROWEST) return;
    deepest = Math.max(deepest, depth);
    const share = `${((100 * frame.total) / root.total).toFixed(1)} %, itself ${((100 * frame.self) / root.total).toFixed(1)} %`;
    const label = `${frame.name} ${frame.place} (${share})`;
    boxes.push(
      `<g data-x="${left.toFixed(2)}" data-w="${width.toFixed(2)}" data-d="${depth}"><title>${escaped(label)}</title>` +
        `<rect fill="${color(frame.name)}"/><text>${escaped(frame.name)}</text></g>`,
    );
    let next = left;
    for (const child of frame.children) {
      draw(child, next, depth + 1);
      next += (child.total / root.total) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = (deepest + 3) * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="12">
<style>rect { stroke: white; stroke-width: 0.5 } g:hover rect { stroke: black } text { pointer-events: none }</style>
<text x="4" y="14">${escaped(title)}: ${(root.total / 1e6).toFixed(1)} s of samples; what is called lies above its caller</text>
${boxes.join('\n')}
<script>
const boxes = [...document.querySelectorAll('g')].map((g) => ({
  g, x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d,
}));
function show(at) {
  for (const box of boxes) {
    const isAround = box.d < at.d && box.x <= at.x + 0.01 && box.x + box.w >= at.x + at.w - 0.01;
    const x = isAround ? 0 : (box.x - at.x) * ${WIDTH} / at.w;
    const w = isAround ? ${WIDTH} : box.w * ${WIDTH} / at.w;
    const isOut = x + w < 0.01 || x > ${WIDTH} - 0.01 || w < ${NARROWEST};
    box.g.style.display = isOut ? 'none' : '';
    const y = ${height} - (box.d + 1) * ${ROW};
    const [, rect, text] = box.g.children;
    for (const [name, value] of Object.entries({ x, y, width: w, height: ${ROW} - 1 })) rect.setAttribute(name, value);
    text.setAttribute('x', x + 3);
    text.setAttribute('y', y + 13);
    const whole = box.g.dataset.name ??= text.textContent;
    const letters = Math.floor((w - 6) / 7.3);
    text.textContent = letters < 3 ? '' : whole.slice(0, letters);
  }
}
for (const box of boxes) box.g.addEventListener('click', () => show(box));
show(boxes[0]);
</script>
</svg>
`;
}

/** The tree of calls with the time, in microseconds, in each function and in what it called; the longest child first. */
function frames({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const selfOf = new Map<number, number>();
  samples.forEach((id, index) => selfOf.set(id, (selfOf.get(id) ?? 0) + timeDeltas[index]));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const frameOf = (id: number): Frame => {
    const { callFrame, children = [] } = byId.get(id)!;
    const below = children.map(frameOf).toSorted((a, b) => b.total - a.total);
    const self = selfOf.get(id) ?? 0;
    const file = callFrame.url.split('/').slice(-2).join('/');
    return {
      name: callFrame.functionName || '(anonymous)',
      place: file === '' ? '' : `${file}:${callFrame.lineNumber + 1}`,
      self,
      total: below.reduce((sum, child) => sum + child.total, self),
      children: below,
    };
  };
  return frameOf(nodes[0].id);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Warm colors, the same for the same function. */
function color(name: string): string {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + character.charCodeAt(0)) % 997;
  return `hsl(${hash % 50} 85% ${62 + (hash % 7) * 2}%)`;
}
