// The portfolio: everything one simulation of several instruments holds while it goes from instant to instant. The
// instruments share one account, and take turns with it (semantics §8.3, §8.4).
import type { Instrument } from '../../bars/bars.ts';
import { DAY_MS } from '../../bars/bars.ts';
import type { AmbiguityFallback, ResolvedConfig } from '../../config.ts';
import { nextBit, wordCount } from '../../kernels/bits.ts';
import { createFeeSchedule, type FeeSchedule } from '../costs.ts';
import { createRun } from '../createRun.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { updateMargin } from '../margin.ts';
import type { Books } from '../run.ts';
import type { TradeBudget } from '../tradeBudget.ts';
import { TradeLog } from '../tradeLog.ts';
import { candidateReader } from './candidates.ts';
import { holdingEntries } from './holdings.ts';
import { noteFills, type LinkBook } from './links.ts';
import { newMember, unrealizedOf, type Link, type Member, type Signal } from './member.ts';
import type { PortfolioInput, RebalanceCounts } from './portfolioSimulation.ts';
import { rebalancesOf, SignalCalendar } from './signalCalendar.ts';

/** An instrument whose data ends up to this long before the run does is closed with the others. */
const SAME_END_MS = 7 * DAY_MS;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Market entries that fill together or not at all: one, or those of a linked group. */
export interface MarketEntries {
  readonly members: readonly Member[];
  /** null: one that is not linked. */
  readonly link: Link | null;
}

export class Portfolio {
  readonly input: PortfolioInput;
  readonly config: ResolvedConfig;
  readonly members: readonly Member[];
  readonly membersBySymbol: readonly Member[];
  /** Whether the data of any member ends early, and whether any entry rule makes orders that wait for a price. */
  readonly hasEarlyEnds: boolean;
  readonly hasPendingOrders: boolean;
  /** For each member, the linked group that it is in; undefined: none. */
  readonly groupOf: readonly (readonly number[] | undefined)[];
  readonly calendar: SignalCalendar;
  /** Bit per instant: an allocation rebalances at its close; null: there is none. */
  readonly rebalances: Uint32Array | null;
  readonly readCandidates: ReturnType<typeof candidateReader> | null;

  readonly ledger: Ledger;
  readonly fees: FeeSchedule;
  readonly trades = new TradeLog();
  /** The member of each trade. */
  readonly tradeMembers: number[] = [];
  /** Open positions of the account. */
  openCount = 0;

  /** The members with something open, due or pending: in the order of the list, and in that of the symbols. */
  readonly active: Member[] = [];
  readonly activeBySymbol: Member[] = [];
  /** The active members that have a bar at this instant. */
  readonly present: Member[] = [];
  /** The members whose close is read at this instant, in the order of the list. */
  readonly readers: Member[] = [];
  /** The entries that they signal. */
  readonly signals: Signal[] = [];
  /** The market entries that fill at an instant, in the order of decision, then rank. */
  readonly dueEntries = new Map<number, MarketEntries[]>();
  readonly links: LinkBook = { waiting: [], closed: new Set() };

  readonly equity: Float64Array;
  readonly inPosition: Uint32Array;
  readonly grossExposure: Float64Array;
  readonly netExposure: Float64Array;
  readonly openPositions: Uint16Array;
  readonly weights: Float64Array | null;

  /** What is counted of rebalances; used with an allocation only. */
  readonly rebalancing: Mutable<RebalanceCounts> = {
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
  lostAtClose = 0;
  mostLostAtOnce = 0;
  largestLost = NaN;
  smallestTaken = NaN;
  isUnranked = false;

  constructor(input: PortfolioInput, policy: AmbiguityFallback, budget: TradeBudget) {
    const { instruments, axis, start, end, config, slots, linked, keepWeights } = input;
    const count = Math.max(0, end - start);
    this.input = input;
    this.config = config;
    this.groupOf = instruments.map((_, index) => linked.find((group) => group.includes(index)));
    this.ledger = createLedger(config.initialBalance, slots ?? Infinity);
    this.fees = createFeeSchedule(config.execution.feeModel);
    this.trades.clear(true, budget);
    this.equity = new Float64Array(count);
    this.inPosition = new Uint32Array(wordCount(count));
    this.grossExposure = new Float64Array(count);
    this.netExposure = new Float64Array(count);
    this.openPositions = new Uint16Array(count);
    this.weights = keepWeights ? new Float64Array(count * instruments.length) : null;
    const books: Books = { ledger: this.ledger, fees: this.fees, trades: this.trades, equity: this.equity };
    const symbolRanks = symbolRanksOf(instruments.map(({ instrument }) => instrument));
    const endsAt = end > 0 ? axis.time[end - 1] : NaN;
    this.members = instruments.map((each, index) => {
      const instants = axis.instants[index];
      const marked = { time: axis.time, start, instants };
      const entries = each.allocation ? holdingEntries(each.allocation.id, each.bars.length) : each.entries;
      const own = { ...each, config, entries, keepOrders: input.keepOrders };
      const run = createRun(own, policy, budget, { books, marked });
      const endsEarly = each.end > each.start && endsAt - each.bars.time[each.end - 1] > SAME_END_MS;
      const fixed = { index, symbolRank: symbolRanks[index], run, instants, endsEarly };
      return newMember(fixed, this.groupOf[index] !== undefined);
    });
    this.membersBySymbol = this.members.toSorted((a, b) => a.symbolRank - b.symbolRank);
    this.hasEarlyEnds = this.members.some(({ endsEarly }) => endsEarly);
    this.hasPendingOrders = this.members.some(({ run }) => run.entries.some(({ order }) => order.type !== 'market'));
    this.calendar = new SignalCalendar(this.members, axis.time.length);
    this.rebalances = rebalancesOf(this.members, axis.time.length);
    this.readCandidates = this.rebalances === null ? null : candidateReader(this.members);
  }

  /** Gives a member its turn with the account for fills that need neither funds nor equity: those that close. */
  beginTurn(member: Member): void {
    this.ledger.othersOpen = this.openCount - member.open;
  }

  /** Gives a member its turn with the account: what it sees of the others is what they hold, at their marks. */
  takeTurn(member: Member): void {
    const { ledger } = this;
    let unrealized = 0;
    let gross = 0;
    let margin = 0;
    for (const other of this.activeBySymbol) {
      if (other === member || other.open === 0) continue;
      unrealized += unrealizedOf(other);
      gross += Math.abs(other.quantity) * other.mark;
      margin += other.margin;
    }
    ledger.othersUnrealized = unrealized;
    ledger.othersGross = gross;
    ledger.othersMargin = margin;
    ledger.othersOpen = this.openCount - member.open;
    updateMargin(member.run);
  }

  /**
   * Ends a turn: takes in what the member has filled. True when it has filled anything.
   * @param hasAdded whether it has added to a position
   */
  endTurn(member: Member, hasAdded = false): boolean {
    const { trades, tradeMembers, ledger } = this;
    const { positions, ledger: _, input } = member.run;
    const first = tradeMembers.length;
    if (trades.length === first && positions.length === member.open && !hasAdded) return false;
    for (let trade = first; trade < trades.length; trade++) tradeMembers.push(member.index);
    let quantity = 0;
    let notional = 0;
    for (const position of positions) {
      quantity += position.quantity;
      notional += position.quantity * position.entryPrice;
    }
    const side = positions.length === 0 ? 0 : positions[0].side;
    this.openCount += positions.length - member.open;
    member.open = positions.length;
    member.quantity = side * quantity;
    member.cost = side * notional;
    member.margin = notional / input.config.leverage;
    if (positions.length === 0) {
      member.isLiquidated = false;
      // Orders keep their position, which is used again.
      member.linkedExits.count = 0;
    }
    if (this.openCount === 0 && !(ledger.balance > 0)) ledger.isOver = true;
    noteFills(this.links, member, trades, first);
    return true;
  }

  /**
   * Equity at the marks. The last holding is added with the same arithmetic as in a single run, so a portfolio with one
   * holding gives bit-identical equity.
   */
  equityAtMarks(): number {
    let last: Member | null = null;
    let others = 0;
    for (const member of this.activeBySymbol) {
      if (member.open === 0) continue;
      if (last !== null) others += unrealizedOf(last);
      last = member;
    }
    const { balance } = this.ledger;
    return last === null ? balance : balance + others - last.cost + last.quantity * last.mark;
  }

  /** Whether positions or pending orders exist in more than one instrument. */
  isShared(): boolean {
    let holders = 0;
    for (const { open, run } of this.active) if (open > 0 || run.pendingCount > 0) holders++;
    return holders > 1;
  }

  /** The first instant from `instant` on at which something can begin, at most `end`. */
  nextEvent(instant: number, end: number): number {
    const next = this.calendar.next(instant, end);
    return this.rebalances === null ? next : nextBit(this.rebalances, instant, next);
  }

  /** Marks the end of an instant: equity, exposure and weights. */
  markInstant(at: number): void {
    const { activeBySymbol, members, weights } = this;
    const equity = this.equityAtMarks();
    let gross = 0;
    let net = 0;
    for (const member of activeBySymbol) {
      if (member.open === 0) continue;
      const value = member.quantity * member.mark;
      const weight = value / equity;
      gross += Math.abs(value);
      net += value;
      member.instantsHeld++;
      member.weightSum += Math.abs(weight);
      member.squaredWeightSum += weight * weight;
      if (Math.abs(weight) > member.maxWeight) member.maxWeight = Math.abs(weight);
      if (weights !== null) weights[at * members.length + member.index] = weight;
    }
    this.equity[at] = equity;
    this.grossExposure[at] = gross;
    this.netExposure[at] = net;
    this.openPositions[at] = this.openCount;
  }

  /** Market entries fill at the first open of any of their instruments. */
  addDue(entries: MarketEntries): void {
    let instant = Infinity;
    for (const { instants, row } of entries.members) instant = Math.min(instant, instants[row + 1]);
    const due = this.dueEntries.get(instant);
    if (due === undefined) this.dueEntries.set(instant, [entries]);
    else due.push(entries);
  }

  /** An order of a member was made at the close of its row. */
  activate(member: Member): void {
    if (member.isActive) return;
    member.isActive = true;
    member.mark = member.run.bars.close[member.row];
    insert(this.active, member, ({ index }) => index);
    insert(this.activeBySymbol, member, ({ symbolRank }) => symbolRank);
  }

  deactivate(member: Member): void {
    member.isActive = false;
    this.active.splice(this.active.indexOf(member), 1);
    this.activeBySymbol.splice(this.activeBySymbol.indexOf(member), 1);
  }
}

function insert(members: Member[], member: Member, keyOf: (each: Member) => number): void {
  let at = members.length;
  while (at > 0 && keyOf(members[at - 1]) > keyOf(member)) at--;
  members.splice(at, 0, member);
}

function symbolRanksOf(instruments: readonly Instrument[]): number[] {
  const order = instruments.map((_, index) => index);
  order.sort((a, b) => (instruments[a].symbol < instruments[b].symbol ? -1 : 1));
  const ranks: number[] = [];
  order.forEach((index, rank) => (ranks[index] = rank));
  return ranks;
}
