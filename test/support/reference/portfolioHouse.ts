// The account of a portfolio run, as its instruments see it at an open, inside a bar and at a close.
import type { PortfolioInput } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { Purse } from './account.ts';
import type { Position, ReferenceTrade } from './book.ts';
import { Desk } from './portfolioDesk.ts';
import { Links } from './portfolioLinks.ts';
import { Rotation } from './portfolioRotation.ts';

export interface PortfolioTrade extends ReferenceTrade {
  /** Its place in the list. */
  readonly instrument: number;
}

export class House {
  readonly purse: Purse;
  readonly slots: number | null;
  readonly desks: readonly Desk[];
  readonly links: Links;
  /** null: the strategy has rules. */
  readonly rotation: Rotation | null;
  readonly trades: PortfolioTrade[] = [];
  /** On the axis. */
  instant = 0;
  /** Which prices of this instant are known. */
  phase: 'open' | 'inside' | 'close' = 'open';
  /** Positions and pending orders are of one instrument: semantics §4.5 holds as it stands. */
  isOfOneInstrument = true;
  contestedFunds = 0;
  readonly #axis: PortfolioInput['axis'];
  #nextId = 1;

  constructor({ instruments, axis, slots, linked, config }: PortfolioInput) {
    this.#axis = axis;
    this.slots = slots;
    this.purse = { balance: config.initialBalance, fills: [] };
    this.desks = instruments.map((input, index) => new Desk(input, index, this));
    this.links = new Links(this, linked);
    const allocations = instruments.flatMap(({ allocation }) => allocation ?? []);
    this.rotation = allocations.length === 0 ? null : new Rotation(this, allocations);
  }

  nextId(): number {
    return this.#nextId++;
  }

  /** The last bar of an instrument that has begun by now, in its range; -1: none. */
  rowOf({ index, end }: Desk): number {
    let row = -1;
    for (let at = 0; at < end; at++) if (this.#axis.instants[index][at] <= this.instant) row = at;
    return row;
  }

  hasBar(desk: Desk): boolean {
    const row = this.rowOf(desk);
    return row >= 0 && this.#axis.instants[desk.index][row] === this.instant;
  }

  /** The price at which an instrument is marked: its open or close of this instant, its last close without a bar. */
  priceOf(desk: Desk): number {
    const row = this.rowOf(desk);
    const { open, close } = desk.input.bars;
    return this.hasBar(desk) && this.phase !== 'close' ? open[row] : close[row];
  }

  freeCash(): number {
    let cash = this.purse.balance;
    for (const desk of this.desks) cash -= desk.margin;
    return cash;
  }

  /** Equity with every instrument at its price of now. */
  equity(): number {
    let sum = this.purse.balance;
    for (const desk of this.desks) if (desk.positions.length > 0) sum += desk.unrealized(this.priceOf(desk));
    return sum;
  }

  openPositions(): { readonly desk: Desk; readonly position: Position }[] {
    const all = this.desks.flatMap((desk) => desk.positions.map((position) => ({ desk, position })));
    return all.toSorted((a, b) => a.position.id - b.position.id);
  }

  /** What a fill of an instrument at `raw` has to spend. */
  funds(desk: Desk, raw: number): { equity: number; freeCash: number } {
    const { positions } = desk;
    if (this.phase !== 'inside') {
      const own = positions.length > 0 ? desk.unrealized(this.priceOf(desk)) : 0;
      return { equity: this.equity() - own + desk.unrealized(raw), freeCash: this.freeCash() };
    }
    let freeCash = this.#balanceBefore + desk.inside!.balance - desk.margin;
    let equity = this.#balanceBefore + desk.inside!.balance + desk.unrealized(raw);
    for (const other of this.desks) {
      if (other === desk) continue;
      freeCash -= other.inside!.marginBefore;
      equity += other.inside!.unrealizedBefore;
      if (other.index > desk.index) continue;
      const { margin, fees, realizedLosses, lossesSinceOpen } = other.inside!;
      freeCash -= margin + fees + realizedLosses;
      equity -= fees + lossesSinceOpen;
    }
    return { equity, freeCash };
  }

  #balanceBefore = 0;

  /** From here on an instrument sees what those before it take, and not what they free. */
  beginInside(): void {
    this.phase = 'inside';
    this.#balanceBefore = this.purse.balance;
    for (const desk of this.desks)
      desk.inside = {
        balance: 0,
        margin: 0,
        fees: 0,
        realizedLosses: 0,
        lossesSinceOpen: 0,
        opened: 0,
        before: [...desk.positions],
        marginBefore: desk.margin,
        unrealizedBefore: desk.positions.length > 0 ? desk.unrealized(this.priceOf(desk)) : 0,
      };
  }

  endInside(): void {
    this.phase = 'close';
    for (const desk of this.desks) desk.inside = null;
  }

  /** @param own the slots that the instrument itself has taken. */
  hasSlot(desk: Desk, own: number): boolean {
    if (this.slots === null) return true;
    const others = this.desks.filter((other) => other !== desk);
    let [seen, actual] = [own, own];
    for (const { index, inside, positions } of others) {
      actual += positions.length;
      if (inside === null) seen += positions.length;
      else seen += inside.before.length + (index < desk.index ? inside.opened : 0);
    }
    if (seen >= this.slots && actual < this.slots) this.contestedFunds++;
    return seen < this.slots;
  }
}
