// Linked instruments: their entries are taken together, and one that is closed closes the others.
import type { EntryOrder, Position } from './book.ts';
import type { Desk } from './portfolioDesk.ts';
import type { House } from './portfolioHouse.ts';

/** The orders that linked instruments made together at one close. */
export interface Legs {
  readonly legs: readonly { readonly desk: Desk; readonly order: EntryOrder }[];
  hasFilled: boolean;
  /** A position of theirs was wholly closed. */
  isClosed: boolean;
}

export class Links {
  readonly groups: readonly (readonly Desk[])[];
  readonly #house: House;
  readonly #legsOf = new Map<EntryOrder, Legs>();
  readonly #legsOfPosition = new Map<Position, Legs>();
  readonly #all: Legs[] = [];
  /** In the order of closing. */
  #closed: Legs[] = [];

  constructor(house: House, linked: readonly (readonly number[])[]) {
    this.#house = house;
    this.groups = linked.map((group) => group.map((index) => house.desks[index]));
  }

  groupOf(desk: Desk): readonly Desk[] | null {
    return this.groups.find((group) => group.includes(desk)) ?? null;
  }

  join(legs: Legs['legs']): void {
    const joined: Legs = { legs, hasFilled: false, isClosed: false };
    this.#all.push(joined);
    for (const { order } of legs) this.#legsOf.set(order, joined);
  }

  legsOf(order: EntryOrder): Legs | null {
    return this.#legsOf.get(order) ?? null;
  }

  noteFill(order: EntryOrder, position: Position): void {
    const legs = this.legsOf(order);
    if (legs === null) return;
    legs.hasFilled = true;
    this.#legsOfPosition.set(position, legs);
  }

  /** At the first fill of a leg: whether another one has no bar. */
  isLegMissing(order: EntryOrder): boolean {
    const legs = this.legsOf(order);
    return legs !== null && !legs.hasFilled && !legs.legs.every(({ desk }) => this.#house.hasBar(desk));
  }

  noteClose(position: Position): void {
    const legs = this.#legsOfPosition.get(position);
    if (legs === undefined || legs.isClosed) return;
    legs.isClosed = true;
    this.#closed.push(legs);
  }

  /**
   * "Together or not at all": while nothing has filled, all orders wait or none does; and after a position was closed
   * none may enter. Inside a bar no instrument knows what became of another's order, so this is asked before and after.
   */
  cancelOrphans(): void {
    for (const { legs, hasFilled, isClosed } of this.#all) {
      const waiting = legs.filter(isWaiting);
      if (isClosed || (!hasFilled && waiting.length < legs.length)) for (const leg of waiting) cancel(leg);
    }
  }

  /** Positions that were entered with one that is wholly closed follow at their next open. */
  orderExits(): void {
    for (const legs of this.#closed) {
      for (const { desk } of legs.legs)
        for (const position of desk.positions)
          // After its last bar nothing fills any more.
          if (this.#legsOfPosition.get(position) === legs && !desk.isAtLastRow)
            desk.dueExits.push({
              position,
              quantity: Infinity,
              reason: 'linked',
              rule: null,
              after: this.#house.instant,
            });
    }
    this.#closed = [];
  }
}

type Leg = Legs['legs'][number];

const isWaiting = ({ desk, order }: Leg): boolean => desk.dueEntry === order || desk.pending.get(order.rule) === order;

/** Ends an order that waits. */
export function cancel({ desk, order }: Leg): void {
  if (desk.dueEntry === order) desk.dueEntry = null;
  else desk.pending.delete(order.rule);
  desk.note(order, 'cancelled');
}
