// Accelerators: faster functions with the same results, which stand in for plain ones. The engine is complete without
// them. Where a plain function can be accelerated, it first asks here, and does the work itself when nothing is
// installed or when the answer is null, because the accelerator cannot take that input. src/engine/fast/ installs them.

/** What may stand in for one plain function. */
export class Accelerator<Fast> {
  #current: Fast | null = null;

  /** null: accelerators are switched off. */
  get current(): Fast | null {
    return this.#current;
  }

  /** null: switches it off. */
  install(fast: Fast | null): void {
    this.#current = fast;
  }
}
