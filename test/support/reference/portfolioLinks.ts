// Linked instruments: their entries are taken together, and one that is closed closes the others.
import type { EntryOrder, Position } from './book.ts';
import type { Desk } from './portfolioDesk.ts';
import type { House } from './portfolioHouse.ts';

/** The orders that linked instruments made together at one close. */
export interface Legs {
  readonly legs: readonly { readonly desk: Desk; readonly order: EntryOrder }[];
  hasFilled: boolean;
}

export class Links {
  readonly groups: readonly (readonly Desk[])[];
  readonly #house: House;
  readonly #legsOf = new Map<EntryOrder, Legs>();
  readonly #legsOfPosition = new Map<Position, Legs>();

  constructor(house: House, linked: readonly (readonly number[])[]) {
    this.#house = house;
    this.groups = linked.map((group) => group.map((index) => house.desks[index]));
  }

  groupOf(desk: Desk): readonly Desk[] | null {
    return this.groups.find((group) => group.includes(desk)) ?? null;
  }

  join(legs: Legs['legs']): void {
    const joined: Legs = { legs, hasFilled: false };
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

  /** At the first fill of a leg: whether another one has no bar; all are then cancelled. */
  isLegMissing(order: EntryOrder): boolean {
    const legs = this.legsOf(order);
    if (legs === null || legs.hasFilled) return false;
    const others = legs.legs.filter((leg) => leg.order !== order && isWaiting(leg));
    if (others.every(({ desk }) => this.#house.hasBar(desk))) return false;
    for (const leg of others) cancel(leg);
    return true;
  }

  /** A position is wholly closed: those that were entered with it follow at their next open. */
  noteClose(position: Position): void {
    const legs = this.#legsOfPosition.get(position);
    if (legs === undefined) return;
    for (const { desk } of legs.legs)
      for (const held of desk.positions)
        // After its last bar nothing fills any more.
        if (held !== position && this.#legsOfPosition.get(held) === legs && !desk.isAtLastRow)
          desk.dueExits.push({
            position: held,
            quantity: Infinity,
            reason: 'linked',
            rule: null,
            after: this.#house.instant,
          });
    for (const leg of legs.legs) if (isWaiting(leg)) cancel(leg);
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
