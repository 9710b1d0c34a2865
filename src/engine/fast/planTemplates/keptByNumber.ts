// Kept by number: what a template made with one number in a single slot, for the next runs with that number there.

/** The most members that are kept per template, some hundred kilobytes; beyond that, everything is dropped. */
const MAX_KEPT_MEMBERS = 32_768;
/** What an object and its place in a map take beside its members. */
const OWN_MEMBERS = 8;

export class KeptByNumber {
  /** One map per thing that is made: from the number to the thing. */
  readonly #made: Map<number, object>[] = [];
  readonly #members: number[] = [];
  #keptMembers = 0;

  /**
   * Adds a place for one more thing, and returns it.
   * @param members of the object or list: a list may have thousands
   */
  addPlace(members: number): number {
    this.#members.push(members + OWN_MEMBERS);
    return this.#made.push(new Map()) - 1;
  }

  get(place: number, number: number): object | undefined {
    // A map takes -0 for 0, though dividing by them differs.
    return Object.is(number, -0) ? undefined : this.#made[place].get(number);
  }

  set(place: number, number: number, made: object): void {
    if (Object.is(number, -0)) return;
    const members = this.#members[place];
    if (members > MAX_KEPT_MEMBERS) return;
    if (this.#keptMembers + members > MAX_KEPT_MEMBERS) {
      for (const map of this.#made) map.clear();
      this.#keptMembers = 0;
    }
    this.#keptMembers += members;
    this.#made[place].set(number, made);
  }
}

/** The slot that something was made of, if it was only one; null: it was several. */
export type SoleSlot = number | null;

/** The slot that all of these are; null where they differ. */
export const soleSlotOf = (slots: readonly SoleSlot[]): SoleSlot =>
  slots.every((slot) => slot === slots[0]) ? slots[0] : null;
