// The fill loop as semantics §2 to §4 tell it, bar by bar: market orders at the next open, levels read pessimistically.
import type { Bars, Instrument } from '../../../src/engine/columns/bars.ts';
import type { RunnableStrategy } from '../../../src/engine/language/ast.ts';
import type { ResolvedConfig } from '../../../src/engine/simulate/config.ts';
import type { ExitReason, ExitMethod } from '../../../src/engine/simulate/program.ts';
import { Account } from './account.ts';
import { stopInForce, trailingLevel, type Position, type Target } from './position.ts';

export interface ReferenceTrade {
  readonly positionId: number;
  readonly side: 1 | -1;
  readonly entryRow: number;
  readonly exitRow: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly quantity: number;
  readonly entryFee: number;
  readonly exitFee: number;
  readonly pnl: number;
  readonly maePct: number;
  readonly mfePct: number;
  readonly exitReason: ExitReason;
  readonly exitMethod: ExitMethod;
  readonly entryRule: number;
  readonly exitRule: number | null;
}

/** What the loop asks of the strategy's expressions at a close. */
export interface Signals {
  entry(rule: number, row: number, loop: Loop): boolean;
  exit(rule: number, row: number, loop: Loop, position: Position): boolean;
  /** A risk or order price, NaN where missing. */
  price(node: unknown, row: number): number;
  atr(period: number, row: number): number;
}
export interface LoopInput {
  readonly strategy: RunnableStrategy;
  readonly bars: Bars;
  readonly instrument: Instrument;
  readonly config: ResolvedConfig;
  readonly start: number;
  readonly end: number;
  readonly signals: Signals;
}

interface DueExit {
  readonly position: Position;
  readonly reason: ExitReason;
  readonly rule: number | null;
  /** null: all that is left. */
  readonly quantity: ((position: Position) => number) | null;
}

export class Loop {
  readonly input: LoopInput;
  readonly account: Account;
  readonly trades: ReferenceTrade[] = [];
  readonly equity: number[] = [];
  readonly rejected: Record<string, number> = {};
  positions: Position[] = [];
  #dueExits: DueExit[] = [];
  #dueEntry: { readonly rule: number; readonly signalRow: number } | null = null;
  #lastFullExit = -Infinity;
  #nextId = 0;
  #isOver = false;

  constructor(input: LoopInput) {
    this.input = input;
    this.account = new Account(input.config);
  }

  run(): this {
    const { start, end, bars } = this.input;
    for (let row = start; row < end; row++) {
      if (row > start) this.#atOpen(row);
      this.#levels(row);
      this.#endOfBar(row);
      this.equity.push(this.account.equity(this.positions, bars.close[row]));
      if (this.equity.at(-1)! <= 0) this.#isOver = true;
      if (!this.#isOver && row < end) this.#readSignals(row);
    }
    const last = end - 1;
    for (const position of this.positions.slice())
      this.#close(position, last, bars.close[last], null, 'end_of_data', null, 'direct', 'exit', true);
    if (this.equity.length > 0) this.equity[this.equity.length - 1] = this.account.balance;
    return this;
  }

  #atOpen(row: number): void {
    const open = this.input.bars.open[row];
    this.account.payFunding(this.positions, this.input.bars, row);
    for (const { position, reason, rule, quantity } of this.#dueExits)
      if (position.quantity > 0)
        this.#close(position, row, open, quantity?.(position) ?? null, reason, rule, 'direct', 'exit', true);
    this.#dueExits = [];
    if (this.#dueEntry !== null) this.#enter(this.#dueEntry.rule, this.#dueEntry.signalRow, row, open);
    this.#dueEntry = null;
  }

  // Entries ------------------------------------------------------------------------------------------------------------

  #enter(rule: number, signalRow: number, row: number, open: number): void {
    const { strategy, config, instrument, signals } = this.input;
    const { action } = strategy.entries[rule];
    const side = action.side === 'long' ? 1 : -1;
    const price = this.account.slipped(open, side);
    const stop = this.#initialStop(signalRow, side, price);
    const targets = this.#targets(signalRow, side, price, stop);
    const trail = strategy.risk.trailingStop?.distanceAtr;
    const trailDistance = trail === undefined ? NaN : signals.atr(trail.period, signalRow) * trail.multiplier;
    const isMissing =
      (strategy.risk.stopLoss !== undefined && Number.isNaN(stop) && !this.#isLateStop()) ||
      targets.some(({ price: level, step }) => Number.isNaN(level) && !this.#isLateTarget(step)) ||
      (trail !== undefined && Number.isNaN(trailDistance));
    const quantity = isMissing ? NaN : this.#quantity(rule, signalRow, side, price, open, stop);
    const isVolatilityMissing = action.sizing.mode === 'volatility_target' && Number.isNaN(quantity);
    if (isMissing || isVolatilityMissing || Number.isNaN(quantity)) return this.#reject('LEVEL_MISSING');
    const notional = quantity * price;
    if (!(quantity > 0)) return this.#reject('ZERO_QTY');
    if (notional < instrument.minNotional) return this.#reject('MIN_NOTIONAL');
    const fee = notional * this.account.rate('entry');
    const free = this.account.freeCash(this.positions);
    if (notional / config.leverage + fee > free * (1 + 1e-12)) return this.#reject('INSUFFICIENT_BALANCE');
    this.account.pay('entry', notional);
    this.positions.push({
      id: this.#nextId++, rule, side, entryRow: row, entryPrice: price, initialQuantity: quantity, entryFee: fee, signalRow, quantity, stop,
      initialRisk: Number.isNaN(stop) ? null : Math.abs(price - stop), trailDistance, targets, breakevenStop: NaN, best: price,
      funding: 0, realised: 0, highest: price, lowest: price, doneExits: new Set(),
    }); // prettier-ignore
  }

  #reject(reason: string): void {
    this.rejected[reason] = (this.rejected[reason] ?? 0) + 1;
  }

  #isLateStop(): boolean {
    const { stopLoss } = this.input.strategy.risk;
    return stopLoss?.mode === 'price' && stopLoss.update === 'bar';
  }

  /** A target in R of a stop that is not known yet never fills. */
  #isLateTarget(step: number): boolean {
    return this.#isLateStop() && this.input.strategy.risk.takeProfits?.[step].triggerR !== undefined;
  }

  #initialStop(row: number, side: 1 | -1, fill: number): number {
    const { stopLoss } = this.input.strategy.risk;
    switch (stopLoss?.mode) {
      case undefined:
        return NaN;
      case 'percent':
        return fill * (1 - (side * stopLoss.value) / 100);
      case 'fixed':
        return fill - side * stopLoss.value;
      case 'atr':
        return fill - side * stopLoss.multiplier * this.input.signals.atr(stopLoss.period, row);
      case 'price':
        return this.input.signals.price(stopLoss.value, row);
    }
  }

  #targets(row: number, side: 1 | -1, fill: number, stop: number): Target[] {
    return (this.input.strategy.risk.takeProfits ?? []).map((target, step) => {
      const price =
        target.triggerPercent !== undefined
          ? fill * (1 + (side * target.triggerPercent) / 100)
          : target.triggerR !== undefined
            ? fill + side * target.triggerR * Math.abs(fill - stop)
            : target.triggerAtr !== undefined
              ? fill + side * target.triggerAtr.multiplier * this.input.signals.atr(target.triggerAtr.period, row)
              : this.input.signals.price(target.triggerPrice, row);
      return {
        price, step, closePercent: target.closePercent, closeBasis: target.closeBasis ?? 'initial',
        moveStopToBreakeven: target.moveStopToBreakeven ?? false, isDone: false,
      }; // prettier-ignore
    });
  }

  #quantity(rule: number, signalRow: number, side: 1 | -1, price: number, open: number, stop: number): number {
    const { strategy, config, signals, bars, instrument } = this.input;
    const { sizing } = strategy.entries[rule].action;
    const equity = this.account.equity(this.positions, open);
    const free = this.account.freeCash(this.positions);
    const share = sizing.value / 100;
    const rate = Math.max(0, this.account.rate('entry'));
    switch (sizing.mode) {
      case 'fixed':
        return this.#floored(sizing.value);
      case 'fixed_cash':
        return this.#floored(sizing.value / price);
      case 'percent_equity':
      case 'percent_balance': {
        const basis = sizing.mode === 'percent_equity' ? equity : free;
        return this.#floored((basis * share) / (price * (1 + rate * Math.max(1, share))));
      }
      case 'risk_percent': {
        const exit = this.account.slipped(stop, side === 1 ? -1 : 1);
        return this.#floored((equity * share) / (Math.abs(price - exit) + rate * (price + exit)));
      }
      case 'volatility_target': {
        const perBar = signals.atr(sizing.atrPeriod ?? 14, signalRow) / bars.close[signalRow];
        const notional = (equity * share) / (perBar * Math.sqrt(barsPerYear(bars, instrument)));
        return this.#floored(Math.min(notional, free / (1 / config.leverage + rate)) / price);
      }
    }
  }

  #floored(quantity: number): number {
    const { qtyStep } = this.input.instrument;
    return qtyStep === 0 ? quantity : Math.floor(quantity / qtyStep + 1e-9) * qtyStep;
  }

  // Exits --------------------------------------------------------------------------------------------------------------

  /** Closes `quantity` (null: all), rounded down to the step, leaving no dust. */
  #close(
    position: Position,
    row: number,
    at: number,
    quantity: number | null,
    reason: ExitReason,
    rule: number | null,
    method: ExitMethod,
    role: 'exit' | 'risk',
    isSlipped: boolean,
    isAtClose = reason === 'end_of_data',
  ): boolean {
    const { qtyStep } = this.input.instrument;
    let closed = quantity === null ? position.quantity : this.#floored(Math.min(quantity, position.quantity));
    if (closed <= 0) return false;
    const rest = position.quantity - closed;
    if (rest <= Math.max(qtyStep * (1 - 1e-9), position.initialQuantity * 1e-12)) closed = position.quantity;
    const isAll = closed === position.quantity;
    const exitPrice = isSlipped ? this.account.slipped(at, position.side === 1 ? -1 : 1) : at;
    const exitFee = this.account.pay(role, closed * exitPrice);
    const entryFee = position.entryFee * (closed / position.initialQuantity);
    const funding = isAll ? position.funding : position.funding * (closed / position.quantity);
    const gross = position.side * closed * (exitPrice - position.entryPrice);
    this.account.realise(gross);
    const pnl = gross - entryFee - exitFee + funding;
    // At the close the whole bar counts already; the price sold at always does.
    const extremes = isAtClose ? [exitPrice] : [this.input.bars.open[row], exitPrice];
    const highest = Math.max(position.highest, ...extremes);
    const lowest = Math.min(position.lowest, ...extremes);
    const [worst, best] = position.side === 1 ? [lowest, highest] : [highest, lowest];
    this.trades.push({
      positionId: position.id, side: position.side, entryRow: position.entryRow, exitRow: row, entryPrice: position.entryPrice, exitPrice,
      quantity: closed, entryFee, exitFee, pnl, exitReason: reason, exitMethod: method, entryRule: position.rule, exitRule: rule,
      maePct: (position.side * (worst - position.entryPrice)) / position.entryPrice,
      mfePct: (position.side * (best - position.entryPrice)) / position.entryPrice,
    }); // prettier-ignore
    position.funding -= funding;
    position.realised += pnl;
    position.quantity = isAll ? 0 : rest;
    if (isAll) {
      this.positions = this.positions.filter((other) => other !== position);
      this.#lastFullExit = row;
    }
    return true;
  }

  #levels(row: number): void {
    for (const position of this.positions.slice()) {
      this.#gaps(position, row);
      if (position.quantity > 0) this.#inside(position, row);
    }
  }

  /** The level the open (or the entry fill) has already passed. */
  #gaps(position: Position, row: number): void {
    const open = this.input.bars.open[row];
    const { side } = position;
    const stop = stopInForce(position, trailingLevel(position, this.input.strategy.risk.trailingStop));
    if (stop !== null && (open - stop.price) * side <= 0) {
      this.#close(position, row, open, null, stop.reason, null, 'gap', 'risk', true);
      return;
    }
    for (const target of openTargets(position))
      if ((open - target.price) * side >= 0 && position.quantity > 0) this.#take(position, target, row, open, 'gap');
  }

  /** Pessimistic: a stop touched is hit first; the outcome is decided where only one side is touched and nothing moves. */
  #inside(position: Position, row: number): void {
    const { bars, strategy } = this.input;
    const { side } = position;
    const [worst, best] = side === 1 ? [bars.low[row], bars.high[row]] : [bars.high[row], bars.low[row]];
    const stop = stopInForce(position, trailingLevel(position, strategy.risk.trailingStop));
    const touched = openTargets(position).filter((target) => (best - target.price) * side >= 0);
    const isStopHit = stop !== null && (worst - stop.price) * side <= 0;
    const bestAfter = side === 1 ? Math.max(position.best, best) : Math.min(position.best, best);
    const trailingAfter = trailingLevel({ ...position, best: bestAfter }, strategy.risk.trailingStop);
    const isBackAtEntry = (worst - position.entryPrice) * side <= 0;
    const ladder = isBackAtEntry && touched.some((target) => target.moveStopToBreakeven) ? position.entryPrice : NaN;
    const breakevenStop = tighter(side, this.#breakevenAfter(position, bestAfter), ladder);
    const after = stopInForce({ ...position, breakevenStop }, trailingAfter);
    // A trailing stop that is at work moves with every better price; another stop only where this bar tightens it.
    const moves = !Number.isNaN(trailingAfter) || after?.price !== stop?.price;
    const method = moves || (isStopHit && touched.length > 0) ? 'fallback' : 'direct';
    if (isStopHit) {
      this.#close(position, row, stop.price, null, stop.reason, null, method, 'risk', true);
      return;
    }
    for (const target of touched) if (position.quantity > 0) this.#take(position, target, row, target.price, method);
  }

  #take(position: Position, target: Target, row: number, at: number, method: ExitMethod): void {
    const basis = target.closeBasis === 'initial' ? position.initialQuantity : position.quantity;
    const closesAll =
      target.closeBasis === 'remaining'
        ? target.closePercent >= 100
        : position.targets
            .filter((one) => one.isDone || one === target)
            .reduce((sum, one) => sum + one.closePercent, 0) >= 100;
    target.isDone = true;
    this.#close(
      position,
      row,
      at,
      closesAll ? null : (basis * target.closePercent) / 100,
      'take_profit',
      target.step,
      method,
      'risk',
      false,
    );
    if (target.moveStopToBreakeven)
      position.breakevenStop = tighter(position.side, position.breakevenStop, position.entryPrice);
  }

  /** Stops move after the bar, from its best price. */
  #endOfBar(row: number): void {
    const { bars, strategy } = this.input;
    const { stopLoss } = strategy.risk;
    for (const position of this.positions) {
      const { side } = position;
      position.highest = Math.max(position.highest, bars.high[row]);
      position.lowest = Math.min(position.lowest, bars.low[row]);
      position.best = side === 1 ? Math.max(position.best, bars.high[row]) : Math.min(position.best, bars.low[row]);
      position.breakevenStop = this.#breakevenAfter(position, position.best);
      if (stopLoss?.mode === 'price' && this.#isLateStop())
        position.stop = tighter(side, position.stop, this.input.signals.price(stopLoss.value, row));
    }
  }

  #breakevenAfter({ side, entryPrice, breakevenStop }: Position, best: number): number {
    const { breakeven } = this.input.strategy.risk;
    if (breakeven === undefined) return breakevenStop;
    const start = entryPrice * (1 + (side * breakeven.activateAfterPercent) / 100);
    if ((best - start) * side < 0) return breakevenStop;
    return tighter(side, breakevenStop, entryPrice * (1 + (side * (breakeven.offsetPercent ?? 0)) / 100));
  }

  // Signals ------------------------------------------------------------------------------------------------------------

  #readSignals(row: number): void {
    const { strategy } = this.input;
    const due = this.positions.flatMap((position) => this.#exitsOf(position, row));
    const closing = new Set(due.filter(({ quantity }) => quantity === null).map(({ position }) => position));
    const staying = this.positions.filter((position) => !closing.has(position));
    // An exit acts on every position it applies to before the next one does; time stops come last.
    const order = this.#exitOrder().map(({ rule }) => rule);
    const rank = ({ rule }: DueExit): number => (rule === null ? order.length : order.indexOf(rule));
    this.#dueExits = due.toSorted((a, b) => rank(a) - rank(b));
    const truths = strategy.entries.map((_, rule) => this.input.signals.entry(rule, row, this));
    for (const [rule, entry] of strategy.entries.entries()) {
      if (!truths[rule]) continue;
      if (row - this.#lastFullExit < (entry.cooldownBars ?? 0)) continue;
      const side = entry.action.side === 'long' ? 1 : -1;
      const opposite = staying.filter((position) => position.side !== side);
      const conflict = entry.conflict ?? 'ignore';
      if (opposite.length > 0 && conflict === 'ignore') continue;
      const left = opposite.length > 0 ? 0 : staying.length;
      if (opposite.length === 0 && left >= strategy.maxConcurrentPositions) continue;
      for (const position of opposite) this.#dueExits.push({ position, reason: 'reverse', rule: null, quantity: null });
      if (opposite.length === 0 || conflict === 'reverse') this.#dueEntry = { rule, signalRow: row };
      break;
    }
  }

  #exitOrder(): { readonly exit: RunnableStrategy['exits'][number]; readonly rule: number }[] {
    const listed = this.input.strategy.exits.map((exit, rule) => ({ exit, rule }));
    return listed.toSorted((a, b) => (a.exit.priority ?? 0) - (b.exit.priority ?? 0));
  }

  #exitsOf(position: Position, row: number): DueExit[] {
    const { strategy, signals } = this.input;
    const due: DueExit[] = [];
    let left = position.quantity;
    for (const { exit, rule } of this.#exitOrder()) {
      const side = position.side === 1 ? 'long' : 'short';
      if ((exit.appliesTo ?? 'any') !== 'any' && exit.appliesTo !== side) continue;
      if (position.doneExits.has(rule) || !signals.exit(rule, row, this, position)) continue;
      const action = exit.action ?? { mode: 'percent_position' as const, value: 100 };
      const wanted = action.mode === 'fixed' ? action.value : (left * action.value) / 100;
      left -= this.#floored(Math.min(wanted, left));
      if (left < Math.max(this.input.instrument.qtyStep * (1 - 1e-9), position.initialQuantity * 1e-12)) {
        due.push({ position, reason: 'signal', rule, quantity: null });
        return due;
      }
      position.doneExits.add(rule);
      due.push({ position, reason: 'signal', rule, quantity: () => wanted });
    }
    const { timeStop } = strategy.risk;
    if (timeStop !== undefined && row + 1 - position.entryRow >= timeStop.maxBars)
      due.push({ position, reason: 'time_stop', rule: null, quantity: null });
    return due;
  }
}

const openTargets = (position: Position): Target[] =>
  position.targets
    .filter(({ isDone, price }) => !isDone && !Number.isNaN(price))
    .toSorted((a, b) => (a.price - b.price) * position.side);

/** The stop nearer the price, NaN standing for none. */
const tighter = (side: 1 | -1, a: number, b: number): number =>
  Number.isNaN(a) ? b : Number.isNaN(b) ? a : side === 1 ? Math.max(a, b) : Math.min(a, b);

/** Periods a year × the median bars of a UTC day that has bars. */
function barsPerYear({ time }: Bars, { tradesAllDay }: Instrument): number {
  const days = new Map<number, number>();
  for (const open of time) days.set(Math.floor(open / 86_400_000), (days.get(Math.floor(open / 86_400_000)) ?? 0) + 1);
  const counts = [...days.values()].toSorted((a, b) => a - b);
  const middle = counts.length >> 1;
  const median = counts.length % 2 === 1 ? counts[middle] : (counts[middle - 1] + counts[middle]) / 2;
  return (tradesAllDay ? 365 : 252) * median;
}
