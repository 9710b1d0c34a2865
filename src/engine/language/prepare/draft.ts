// A draft: a changed copy of a payload, which shares what is not changed.
import { isParamRef } from '../grammar/shapes.ts';
import { valueAtPath } from '../pointer.ts';

export type Container = Record<string, unknown>;

/**
 * A changed copy of a JSON value. Each object and list is copied at most once, however many numbers in it are set, so
 * the time is linear in what is sent.
 */
export class Draft {
  readonly root: Container;
  readonly #copies = new Set<object>();

  constructor(original: Container) {
    this.root = this.#copyOf(original);
  }

  /** Replaces the number (or parameter) at the path; false when there is none. */
  replaceNumber(path: readonly string[], value: number): boolean {
    const isThere = path.length > 0 && isReplaceable(this.at(path));
    if (isThere) this.set(path, value);
    return isThere;
  }

  at(path: readonly string[]): unknown {
    return valueAtPath(this.root, path);
  }

  /** Sets a member of an object or list that is there. */
  set(path: readonly string[], value: unknown): void {
    const last = path.length - 1;
    let container = this.root;
    for (const name of path.slice(0, last)) {
      const below = container[name] as Container;
      container = container[name] = this.#copies.has(below) ? below : this.#copyOf(below);
    }
    container[path[last]] = value;
  }

  #copyOf(original: Container): Container {
    const copy = (Array.isArray(original) ? [...(original as unknown[])] : { ...original }) as Container;
    this.#copies.add(copy);
    return copy;
  }
}

const isReplaceable = (value: unknown): boolean => typeof value === 'number' || isParamRef(value);
