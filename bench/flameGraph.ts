// A CPU profile for people: a flame graph, and the functions that take most of the time.
import type { Profiler } from 'node:inspector';

interface Frame {
  readonly name: string;
  readonly place: string;
  /** Samples in the function itself. */
  readonly self: number;
  /** And in what it called. */
  readonly total: number;
  readonly children: readonly Frame[];
}

const WIDTH = 1200;
const ROW = 18;
/** The width of a letter. */
const LETTER = 7.3;
/** Narrower boxes say nothing, and there are many. */
const NARROWEST = 0.3;

/**
 * One SVG, whose boxes are functions, as wide as the time in them and what they called. A click widens a box to the
 * whole width; a click on the lowest box goes back.
 */
export function flameGraph(profile: Profiler.Profile, title: string): string {
  const root = frames(profile);
  const boxes: { frame: Frame; x: number; width: number; depth: number }[] = [];
  const place = (frame: Frame, x: number, depth: number): void => {
    const width = (frame.total / root.total) * WIDTH;
    if (width < NARROWEST) return;
    boxes.push({ frame, x, width, depth });
    let next = x;
    for (const child of frame.children) {
      place(child, next, depth + 1);
      next += (child.total / root.total) * WIDTH;
    }
  };
  place(root, 0, 0);
  const height = (Math.max(...boxes.map(({ depth }) => depth)) + 3) * ROW;
  const percent = (samples: number): string => `${((100 * samples) / root.total).toFixed(1)} %`;
  const drawn = boxes.map(({ frame, x, width, depth }) => {
    const { name, place: file, self, total } = frame;
    const y = height - (depth + 1) * ROW;
    const about = escaped(`${name} ${file} (${percent(total)}, itself ${percent(self)})`);
    const label = escaped(shortened(name, width));
    return (
      `<g data-x="${x.toFixed(2)}" data-w="${width.toFixed(2)}" data-d="${depth}" data-name="${escaped(name)}">` +
      `<title>${about}</title><rect x="${x.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${ROW - 1}" ` +
      `fill="${color(name)}"/><text x="${(x + 3).toFixed(2)}" y="${y + 13}">${label}</text></g>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg"
  viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="12">
<style>rect { stroke: white; stroke-width: 0.5 } g:hover rect { stroke: black } g text { pointer-events: none }</style>
<text x="4" y="14">${escaped(title)}: ${root.total} samples; what is called lies above its caller.
  Click a box to widen it, the lowest one to go back.</text>
${drawn.join('\n')}
<script><![CDATA[
const boxes = [...document.querySelectorAll('g')].map((g) => ({
  g, x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d,
}));
function show(at) {
  for (const box of boxes) {
    const isAround = box.d < at.d && box.x <= at.x + 0.01 && box.x + box.w >= at.x + at.w - 0.01;
    const x = isAround ? 0 : (box.x - at.x) * ${WIDTH} / at.w;
    const w = isAround ? ${WIDTH} : box.w * ${WIDTH} / at.w;
    const isOut = (box.d < at.d && !isAround) || x + w < 0.01 || x > ${WIDTH} - 0.01 || w < ${NARROWEST};
    box.g.style.display = isOut ? 'none' : '';
    const [, rect, text] = box.g.children;
    rect.setAttribute('x', x);
    rect.setAttribute('width', w);
    text.setAttribute('x', x + 3);
    const letters = Math.floor((w - 6) / ${LETTER});
    text.textContent = letters < 3 ? '' : box.g.dataset.name.slice(0, letters);
  }
}
for (const box of boxes) box.g.addEventListener('click', () => show(box));
]]></script>
</svg>
`;
}

export interface HotFunction {
  readonly name: string;
  readonly place: string;
  /** Of all samples, those in the function itself. */
  readonly share: number;
}

/** The functions in which most samples were taken, not counting what they call. */
export function hottest(profile: Profiler.Profile, count: number): HotFunction[] {
  const root = frames(profile);
  const found = new Map<string, HotFunction>();
  const add = ({ name, place, self, children }: Frame): void => {
    const key = `${name} ${place}`;
    found.set(key, { name, place, share: (found.get(key)?.share ?? 0) + self / root.total });
    children.forEach(add);
  };
  add(root);
  return [...found.values()].toSorted((a, b) => b.share - a.share).slice(0, count);
}

const shortened = (name: string, width: number): string => {
  const letters = Math.floor((width - 6) / LETTER);
  return letters < 3 ? '' : name.slice(0, letters);
};

/**
 * The tree of calls, the child with the most samples first. Samples count alike, however long before them the last one
 * was taken: where the profiler does not come to take any, for up to a quarter of a second while V8 compiles or the
 * machine is busy, that time would all be of the function in which it comes back. The profiler's own calls, which start
 * and stop it, are left out.
 */
function frames({ nodes, samples = [] }: Profiler.Profile): Frame {
  const selfOf = new Map<number, number>();
  for (const id of samples) selfOf.set(id, (selfOf.get(id) ?? 0) + 1);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const frameOf = (id: number): Frame => {
    const { callFrame, children = [] } = byId.get(id)!;
    const called = children.filter((child) => !byId.get(child)!.callFrame.url.startsWith('node:inspector'));
    const below = called.map(frameOf).toSorted((a, b) => b.total - a.total);
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
  const root = frameOf(nodes[0].id);
  // Without any samples, every share is 0.
  return { ...root, total: Math.max(1, root.total) };
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Warm colors, the same for the same function. */
function color(name: string): string {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + character.charCodeAt(0)) % 997;
  return `hsl(${hash % 50} 85% ${62 + (hash % 7) * 2}%)`;
}
