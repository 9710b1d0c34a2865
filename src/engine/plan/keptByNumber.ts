// Kept by number: what a template made with one number in a single slot, for the next runs with that number there.

/** Of each template, some hundred kilobytes. Beyond them all are forgotten. */
const MAX_KEPT = 2_048;

export class KeptByNumber {
  /** A map for each thing that is made. */
  readonly #made: Map<number, object>[] = [];
  #count = 0;

  /** Gives the place of one more thing. */
  addPlace(): number {
    return this.#made.push(new Map()) - 1;
  }

  get(place: number, number: number): object | undefined {
    // A map takes it for 0, by which other numbers are divided differently.
    return Object.is(number, -0) ? undefined : this.#made[place].get(number);
  }

  set(place: number, number: number, made: object): void {
    if (Object.is(number, -0)) return;
    if (this.#count === MAX_KEPT) {
      for (const map of this.#made) map.clear();
      this.#count = 0;
    }
    this.#made[place].set(number, made);
    this.#count++;
  }
}

/** The slot that something was made of, if it was only one; null: it was several. */
export type SoleSlot = number | null;

export const soleSlotOf = (slots: readonly SoleSlot[]): SoleSlot =>
  slots.every((slot) => slot === slots[0]) ? slots[0] : null;
