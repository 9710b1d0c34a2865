// The route: the view that the part of the address after # names, and the state that the view keeps there.
import { computed, signal } from '@preact/signals';

const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));

interface Route {
  /** Such as ['results', '01a2…']; empty: home. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const route = computed<Route>(() => {
  const [path, query = ''] = hash.value.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
});

/** The address of a view. */
export function linkTo(path: string, query: Readonly<Record<string, string | null | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(given).toString();
  return `#/${path}${text === '' ? '' : `?${text}`}`;
}

export const go = (address: string): void => void (location.hash = address);

/** Changes what a view remembers, without another step for the Back button. */
export function remember(changes: Readonly<Record<string, string | null>>): void {
  const { path, query } = route.value;
  const all: Record<string, string | null> = { ...Object.fromEntries(query), ...changes };
  const address = linkTo(path.map(encodeURIComponent).join('/'), all);
  history.replaceState(null, '', address);
  hash.value = address;
}
