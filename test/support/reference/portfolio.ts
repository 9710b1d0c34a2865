// A portfolio run as its rules tell it: every instant of the axis, every instrument, every step.
import type { PortfolioInput } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { Instant } from './account.ts';
import { directOf, fillExits, playInsideBar, settlePassedOrders } from './bar.ts';
import type { Book, Decision, DueExit, Position } from './book.ts';
import { readExits, readTimeStops, updateStops, type Left } from './close.ts';
import type { Desk } from './portfolioDesk.ts';
import { fillAllEntries, readAllEntries, type RankedOut } from './portfolioEntries.ts';
import { House, type PortfolioTrade } from './portfolioHouse.ts';
import type { Rotation } from './portfolioRotation.ts';
import { settleOpen } from './settle.ts';
import { sliceOf } from './slice.ts';
import { endOf } from '../timeGrid.ts';

const DAY_MS = 86_400_000;

export interface ReferencePortfolio {
  readonly trades: readonly PortfolioTrade[];
  /** Per instant from the start of the run on. */
  readonly equity: readonly number[];
  readonly grossExposure: readonly number[];
  readonly netExposure: readonly number[];
  readonly openPositions: readonly number[];
  readonly weights: readonly (readonly number[])[];
  readonly finalBalance: number;
  readonly rankedOut: RankedOut;
  readonly contestedFunds: number;
  /** null: the strategy has rules. */
  readonly rebalancing: Rotation['counts'] | null;
  readonly byInstrument: readonly {
    readonly rankedOut: number;
    readonly counts: Book['counts'];
    readonly orders: Book['orders'];
  }[];
}

export function referencePortfolio(input: PortfolioInput): ReferencePortfolio {
  const house = new House(input);
  const run = new PortfolioRun(house, input);
  for (let instant = input.start; instant < input.end; instant++) run.play(instant);
  return {
    ...run.marks,
    trades: house.trades,
    finalBalance: house.purse.balance,
    rankedOut: run.rankedOut,
    contestedFunds: house.contestedFunds,
    rebalancing: house.rotation?.counts ?? null,
    byInstrument: house.desks.map(({ rankedOut, counts, orders }) => ({ rankedOut, counts, orders })),
  };
}

class PortfolioRun {
  readonly marks = {
    equity: [] as number[],
    grossExposure: [] as number[],
    netExposure: [] as number[],
    openPositions: [] as number[],
    weights: [] as number[][],
  };
  readonly rankedOut: RankedOut = { count: 0, largestLost: null, smallestTaken: null, isUnranked: false };
  readonly #house: House;
  readonly #input: PortfolioInput;

  constructor(house: House, input: PortfolioInput) {
    this.#house = house;
    this.#input = input;
  }

  play(instant: number): void {
    const house = this.#house;
    house.instant = instant;
    const present = house.desks.filter((desk) => house.hasBar(desk));
    for (const desk of present) desk.row = house.rowOf(desk);
    this.#playOpen(present);
    house.beginInside();
    for (const desk of present) playInsideBar(desk, desk.row);
    house.endInside();
    this.#closeEnded(present);
    if (!house.isOfOneInstrument) this.#liquidateBelowMaintenance();
    this.#readCloses(present);
    if (instant === this.#input.end - 1) this.#endRun();
    this.#mark();
  }

  /** Steps 1 to 4. */
  #playOpen(present: readonly Desk[]): void {
    const house = this.#house;
    house.phase = 'open';
    for (const desk of present) desk.payFunding(desk.row);
    const { links } = house;
    for (const desk of present) this.#fillExits(desk, desk.input.bars.open[desk.row], false);
    links.cancelOrphans();
    house.rotation?.fill(present);
    fillAllEntries(house, present, ({ desk, order }) => this.#input.axis.instants[desk.index][order.signalRow]);
    links.cancelOrphans();
    const busy = house.desks.filter(({ positions, pending }) => positions.length + pending.size > 0);
    house.isOfOneInstrument = busy.length <= 1;
    if (!house.isOfOneInstrument) this.#liquidateBelowMaintenance();
    for (const desk of present) settleOpen(desk, sliceOf(desk.input.bars, desk.row, desk.row, null));
    links.cancelOrphans();
    for (const desk of present) settlePassedOrders(desk, sliceOf(desk.input.bars, desk.row, desk.row, null));
    links.cancelOrphans();
  }

  /** What another instrument has ordered at this very instant waits for the next open. */
  #fillExits(desk: Desk, price: number, isAtClose: boolean): void {
    const waits = ({ after }: DueExit): boolean => after !== undefined && (isAtClose || after === this.#house.instant);
    const due = desk.dueExits.filter((exit) => !waits(exit));
    desk.dueExits = desk.dueExits.filter(waits);
    fillExits(desk, due, price, desk.row, isAtClose);
  }

  /** With several instruments the account is tested at opens and closes only. */
  #liquidateBelowMaintenance(): void {
    const house = this.#house;
    const held = house.openPositions();
    let notional = 0;
    for (const { desk, position } of held) notional += position.quantity * house.priceOf(desk);
    // Bars of instruments that are not held say nothing.
    if (!held.some(({ desk }) => house.hasBar(desk))) return;
    if (!(house.equity() < this.#input.config.maintenanceMarginRate * notional)) return;
    for (const { desk, position } of held) {
      if (house.hasBar(desk)) this.#liquidate(desk, position);
      else if (!desk.isAtLastRow)
        desk.dueExits.push({
          position,
          quantity: Infinity,
          reason: 'liquidation',
          rule: null,
          after: house.instant,
        });
    }
  }

  #liquidate(desk: Desk, position: Position): void {
    const isAtClose = this.#house.phase === 'close';
    const price = this.#house.priceOf(desk);
    const decision: Decision = isAtClose ? directOf(desk) : { ...directOf(desk), method: 'gap' };
    desk.exit(position, {
      quantity: position.quantity,
      price,
      isSlipped: true,
      role: 'risk',
      reason: 'liquidation',
      rule: null,
      decision,
      instant: { row: desk.row, isAtClose },
      held: isAtClose ? [] : [price],
    });
  }

  /** Steps 7 to 9, and the fills at this close. */
  #readCloses(present: readonly Desk[]): void {
    const house = this.#house;
    for (const desk of present) desk.expirePending(desk.row);
    house.links.cancelOrphans();
    house.links.orderExits();
    for (const desk of present) updateStops(desk, desk.signals, desk.row);
    const read = present.map((desk) => {
      const left: Left = new Map(desk.positions.map((position) => [position, desk.leftOf(position)]));
      readExits(desk, desk.signals, desk.row, left);
      readTimeStops(desk, desk.row, left);
      return { desk, left };
    });
    readAllEntries(house, read, this.rankedOut);
    // Orders that wait at an instrument's last bar expire, before a new rebalance could cancel them.
    for (const desk of present) if (desk.isAtLastRow) house.rotation?.drop(desk);
    house.rotation?.decide(present);
    if (this.#input.config.execution.orderTiming !== 'bar_close') return;
    for (const desk of present) this.#fillExits(desk, desk.input.bars.close[desk.row], true);
    house.rotation?.fill(present);
    fillAllEntries(house, present, () => house.instant);
    house.links.cancelOrphans();
    house.links.orderExits();
  }

  /** Whether an instrument's bars end more than a week before the run does. */
  #endsEarly(desk: Desk): boolean {
    const { axis, end } = this.#input;
    return axis.time[end - 1] - desk.input.bars.time[desk.end - 1] > 7 * DAY_MS;
  }

  /** Instruments whose data ends here: oldest position first, as at every end. */
  #closeEnded(present: readonly Desk[]): void {
    for (const { desk, position } of this.#house.openPositions())
      if (present.includes(desk) && desk.isAtLastRow && this.#endsEarly(desk))
        this.#sellAtLastClose(desk, position, { row: desk.row, isAtClose: true });
  }

  /** Oldest first, whatever the instrument. */
  #endRun(): void {
    const { axis, end, config } = this.#input;
    const time = endOf(config.timeframe, axis.time[end - 1]);
    for (const desk of this.#house.desks) desk.endOrders();
    for (const { desk, position } of this.#house.openPositions())
      this.#sellAtLastClose(desk, position, { row: desk.end - 1, isAtClose: true, time });
  }

  #sellAtLastClose(desk: Desk, position: Position, instant: Instant): void {
    desk.exit(position, {
      quantity: position.quantity,
      price: desk.input.bars.close[instant.row],
      isSlipped: true,
      role: 'exit',
      reason: 'end_of_data',
      rule: null,
      decision: directOf(desk),
      instant,
      held: [],
    });
  }

  #mark(): void {
    const house = this.#house;
    const equity = house.equity();
    const values = house.desks.map((desk) => {
      let value = 0;
      for (const { side, quantity } of desk.positions) value += side * quantity * house.priceOf(desk);
      return value;
    });
    this.marks.equity.push(equity);
    this.marks.grossExposure.push(values.reduce((sum, value) => sum + Math.abs(value), 0));
    this.marks.netExposure.push(values.reduce((sum, value) => sum + value, 0));
    this.marks.openPositions.push(house.openPositions().length);
    this.marks.weights.push(values.map((value) => value / equity));
  }
}
