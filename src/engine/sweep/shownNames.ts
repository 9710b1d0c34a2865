// The names of a sweep's parameters as people read them: a pointer is cut to the end that tells it from the others.

/** Segments that a cut pointer keeps at least: `…/stopLoss/value`, not `…/value`. */
const MIN_SEGMENTS = 2;

/** Name → what a heading shows. Names of params stay as they are. */
export function shownNames(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, shownName(name, names)]));
}

function shownName(name: string, names: readonly string[]): string {
  if (!name.startsWith('/')) return name;
  const segments = name.split('/').slice(1);
  for (let kept = MIN_SEGMENTS; kept < segments.length; kept++) {
    const end = `/${segments.slice(-kept).join('/')}`;
    if (names.every((other) => other === name || !other.endsWith(end))) return `…${end}`;
  }
  return name;
}
