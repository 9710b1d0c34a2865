// A rotation as its rules tell it: when targets are set, and how holdings are traded to them at each open.
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import type { AllocationRule, LegRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { referenceTargets, type Standing } from './allocationTargets.ts';
import { directOf } from './bar.ts';
import type { Position } from './book.ts';
import { valueAt } from './boundRules.ts';
import { floorToStep, partialQuantity, type Side } from './levels.ts';
import { largestWithin } from './sizing.ts';
import type { Desk } from './portfolioDesk.ts';
import type { House } from './portfolioHouse.ts';

/** A difference below this part of what is held is no order, and one below it of two weights is none. */
const ROUNDING = 1e-12;
/** Cash that is this small a part of what is asked for is what rounding has left. */
const DUST = 1e-9;

export class Rotation {
  readonly #house: House;
  readonly #rules: readonly AllocationRule[];
  /** What is not traded yet: the value that each holding is to have, quote units, negative for a short. */
  readonly #targets = new Map<Desk, number>();

  readonly counts = {
    whenTrue: 0,
    undecided: 0,
    withinBand: 0,
    rebalances: 0,
    eligible: 0,
    selected: 0,
    failedRequire: 0,
    emptyPlaces: 0,
    orders: 0,
    ordersFilled: 0,
    ordersCancelled: 0,
    ordersExpired: 0,
    ordersRejected: 0,
    ordersUnneeded: 0,
  };

  constructor(house: House, rules: readonly AllocationRule[]) {
    this.#house = house;
    this.#rules = rules;
  }

  /** A holding that something else closed stays out until the next rebalance. */
  drop(desk: Desk): void {
    if (this.#targets.delete(desk)) this.counts[desk.isAtLastRow ? 'ordersExpired' : 'ordersCancelled']++;
  }

  /** At the close of an instant. */
  decide(present: readonly Desk[]): void {
    const trading = present.filter(({ row, start }) => row >= start);
    if (!trading.some((desk) => hasBit(this.#rules[desk.index].when, desk.row))) return;
    const { counts } = this;
    counts.whenTrue++;
    const [first] = trading;
    const rule = this.#rules[first.index];
    const gross = valueAt(rule.gross, first.row) / 100;
    const equity = this.#house.equity();
    if (Number.isNaN(gross) || !(equity > 0)) {
      counts.undecided++;
      return;
    }
    const standings = this.#house.desks.map((desk) => this.#standing(desk, trading.includes(desk), equity));
    const { long, short, weights, fallback, bandPercent } = rule;
    const { mode, values, maxPercent } = weights;
    const rules = { long, short, mode, values, maxPercent, fallback };
    const targets = referenceTargets(rules, standings, gross, ({ side, free, eligible, selected }) => {
      const failed = selected.filter((each) => !each[side]!.require).length;
      counts.eligible += eligible;
      counts.selected += selected.length - failed;
      counts.failedRequire += failed;
      counts.emptyPlaces += free - selected.length;
    });
    counts.ordersCancelled += this.#targets.size;
    this.#targets.clear();
    const moves = trading.map((desk) => ({ desk, target: targets[desk.index], held: standings[desk.index].weight }));
    const isOff = moves.some(({ desk, target, held }) => {
      const isEntering = held === 0 && target !== 0 && this.#isEnough(desk, Math.abs(target) * equity);
      const isLeaving = held !== 0 && target === 0;
      return isEntering || isLeaving || (held !== 0 && Math.abs(target - held) > bandPercent / 100 + ROUNDING);
    });
    counts[isOff ? 'rebalances' : 'withinBand']++;
    if (!isOff) return;
    for (const { desk, target, held } of moves) {
      if (target === 0 && held === 0) continue;
      counts.orders++;
      if (desk.isAtLastRow) counts.ordersExpired++;
      else this.#targets.set(desk, target * equity);
    }
  }

  #isEnough(desk: Desk, value: number): boolean {
    const { qtyStep, minNotional } = desk.input.instrument;
    const close = this.#house.priceOf(desk);
    const quantity = floorToStep(value / close, qtyStep);
    return quantity > 0 && quantity * close >= minNotional;
  }

  #standing(desk: Desk, isPresent: boolean, equity: number): Standing {
    const { long, short, weights } = this.#rules[desk.index];
    const leg = (rule: LegRule | null): Standing['long'] =>
      rule === null
        ? null
        : {
            by: rule.by === null ? 0 : valueAt(rule.by, desk.row),
            where: rule.where === null || hasBit(rule.where, desk.row),
            require: rule.require === null || hasBit(rule.require, desk.row),
          };
    return {
      symbol: desk.symbol,
      isPresent,
      long: leg(long),
      short: leg(short),
      weightBy: weights.by === null ? 1 : valueAt(weights.by, desk.row),
      weight: (heldOf(desk) * (desk.positions.length === 0 ? 0 : this.#house.priceOf(desk))) / equity,
    };
  }

  /** Reductions first, then additions, of the instruments that have a bar. */
  fill(present: readonly Desk[]): void {
    const house = this.#house;
    for (const desk of present) if (this.#targets.has(desk) && this.#isReduction(desk)) this.#reduce(desk);
    const waiting = house.desks.filter((desk) => this.#targets.has(desk));
    if (waiting.some((desk) => this.#isReduction(desk))) return;
    const first = waiting.find((desk) => present.includes(desk));
    if (first === undefined) return;
    const additions = waiting.map((desk) => this.#addition(desk));
    const rate = Math.max(0, first.account.rate('entry', this.#instant(first)));
    const { leverage } = first.input.config;
    const costAt = (factor: number): number =>
      additions.reduce((sum, { quantity, price }) => {
        if (quantity === 0) return sum;
        const fee = first.account.feeAt(rate, factor * quantity, price);
        return sum + (factor * quantity * price) / leverage + fee;
      }, 0);
    const affordable = largestWithin(house.freeCash(), costAt, 1);
    const factor = affordable < DUST ? 0 : affordable;
    for (const { desk, quantity, price, side } of additions) {
      if (!present.includes(desk)) continue;
      this.#targets.delete(desk);
      const { qtyStep, minNotional } = desk.input.instrument;
      const added = floorToStep(quantity * factor, qtyStep);
      if (added > 0 && added * price >= minNotional) {
        this.counts.ordersFilled++;
        this.#add(desk, side, added, price);
      } else this.counts[added > 0 || heldOf(desk) === 0 ? 'ordersRejected' : 'ordersUnneeded']++;
    }
  }

  #instant(desk: Desk): { row: number; isAtClose: boolean } {
    return { row: desk.row, isAtClose: this.#house.phase === 'close' };
  }

  #isReduction(desk: Desk): boolean {
    const value = this.#targets.get(desk)!;
    const held = heldOf(desk);
    if (held === 0) return false;
    return (
      Math.sign(value) !== Math.sign(held) ||
      Math.abs(value / this.#house.priceOf(desk)) < Math.abs(held) * (1 - ROUNDING)
    );
  }

  #reduce(desk: Desk): void {
    const [position] = desk.positions;
    const value = this.#targets.get(desk)!;
    const isClosed = Math.sign(value) !== position.side;
    if (!isClosed || value === 0) this.#targets.delete(desk);
    // A change of sign is followed by an addition.
    else this.counts.orders++;
    const raw = this.#house.priceOf(desk);
    const exitSide: Side = position.side === 1 ? -1 : 1;
    const price = desk.account.slipped(raw, exitSide, this.#instant(desk));
    const wanted = isClosed ? position.quantity : position.quantity - Math.abs(value) / price;
    const quantity = wanted > 0 ? partialQuantity(position.quantity, wanted, desk.input.instrument.qtyStep) : 0;
    this.counts[quantity === 0 ? 'ordersUnneeded' : 'ordersFilled']++;
    if (quantity === 0) return;
    const share = quantity / position.quantity;
    const { isAtClose, row } = this.#instant(desk);
    desk.exit(position, {
      quantity,
      price: raw,
      isSlipped: true,
      role: 'exit',
      reason: share < 1 ? 'rebalance' : 'dropped',
      rule: null,
      decision: directOf(desk),
      instant: { row, isAtClose },
      held: isAtClose ? [] : [raw],
    });
    Object.assign(position, {
      initialQuantity: position.quantity,
      entryFee: position.entryFee * (1 - share),
      entrySlippage: position.entrySlippage * (1 - share),
    });
  }

  #addition(desk: Desk): { desk: Desk; side: Side; price: number; quantity: number } {
    const value = this.#targets.get(desk)!;
    const side: Side = value > 0 ? 1 : -1;
    // One without a bar counts at its last close.
    const raw = this.#house.priceOf(desk);
    const price = this.#house.hasBar(desk) ? desk.account.slipped(raw, side, this.#instant(desk)) : raw;
    // At the slipped price nothing may be missing.
    const held = Math.abs(heldOf(desk));
    const missing = Math.abs(value) / price - held;
    return { desk, side, price, quantity: missing > ROUNDING * held ? missing : 0 };
  }

  #add(desk: Desk, side: Side, quantity: number, price: number): void {
    const instant = this.#instant(desk);
    const fee = desk.account.pay('entry', quantity, price, instant);
    const slippage = Math.abs(price - this.#house.priceOf(desk)) * quantity;
    const [held] = desk.positions;
    if (held !== undefined) {
      const whole = held.quantity + quantity;
      const average = (held.quantity * held.entryPrice + quantity * price) / whole;
      Object.assign(held, {
        quantity: whole,
        initialQuantity: whole,
        entryPrice: average,
        entry: side * average,
        entryFee: held.entryFee + fee,
        entrySlippage: held.entrySlippage + slippage,
        highest: Math.max(held.highest, side * price),
        lowest: Math.min(held.lowest, side * price),
      });
      return;
    }
    desk.positions.push(newHolding(desk, side, quantity, price, fee, slippage, instant));
  }
}

function newHolding(
  desk: Desk,
  side: Side,
  quantity: number,
  price: number,
  entryFee: number,
  entrySlippage: number,
  { row, isAtClose }: { readonly row: number; readonly isAtClose: boolean },
): Position {
  return {
    id: desk.nextId(),
    rule: 0,
    side,
    entryRow: row,
    firstRead: isAtClose ? row + 1 : row,
    entryPrice: price,
    entry: side * price,
    entryFee,
    entrySlippage,
    initialRisk: null,
    initialQuantity: quantity,
    quantity,
    stopLoss: -Infinity,
    targets: [],
    ladderPercent: 0,
    trailFrom: Infinity,
    trailLevel: () => -Infinity,
    breakevenFrom: Infinity,
    breakevenLevel: -Infinity,
    breakevenStop: -Infinity,
    isLadderMoveDue: false,
    best: side * price,
    highest: side * price,
    lowest: side * price,
    heldBefore: [side * price],
    funding: 0,
    realized: 0,
    doneExits: new Set(),
  };
}

/** Positive for a long, negative for a short. */
const heldOf = ({ positions }: Desk): number => positions.reduce((sum, { side, quantity }) => sum + side * quantity, 0);
