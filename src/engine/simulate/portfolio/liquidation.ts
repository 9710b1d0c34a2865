// Liquidation of an account that holds several instruments: everything is closed, oldest position first
// (semantics §8.5).
import { liquidationExit } from '../../definitions/exitReasons/liquidationExit.ts';
import { exitFill, fillExit } from '../fills.ts';
import type { Instant } from '../instant.ts';
import { markLeaving, type Position } from '../position.ts';
import { atClose, atGap } from '../run.ts';
import { hasLaterBar, type Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';

/** Closes everything at the marks when equity is below the maintenance margin of all holdings (semantics §8.5). */
export function testLiquidation(portfolio: Portfolio, instant: number, isAtOpen: boolean): void {
  const { active, present, config } = portfolio;
  // Where no holding has a bar no price has changed, and an instrument that is not held must not ask for a test.
  if (!present.some(({ open }) => open > 0) || !isBelowMargin(portfolio)) return;
  for (const each of oldestFirst(present)) {
    portfolio.takeTurn(each.member);
    liquidate(each.member, each.position, isAtOpen);
    portfolio.endTurn(each.member);
  }
  // The remaining positions have no bar at this instant.
  for (const member of active) {
    if (member.open === 0 || !hasLaterBar(member, instant)) continue;
    member.isLiquidated = true;
    if (config.execution.orderTiming === 'next_open') member.run.positions.forEach(markLeaving);
  }
}

/** Whether equity at the marks is below the maintenance margin of all holdings. */
export function isBelowMargin(portfolio: Portfolio): boolean {
  const { activeBySymbol, config } = portfolio;
  let held = 0;
  for (const { open, quantity, mark } of activeBySymbol) if (open > 0) held += Math.abs(quantity) * mark;
  return isBelowMaintenance(portfolio.equityAtMarks(), held, config.maintenanceMarginRate);
}

/** @param held Σ |quantity| × mark */
export const isBelowMaintenance = (equity: number, held: number, rate: number): boolean =>
  held !== 0 && !(equity >= held * rate);

/** Closes all positions of a member, in its turn. */
export function liquidateMember(member: Member, isAtOpen: boolean): void {
  member.isLiquidated = false;
  for (const position of member.run.positions.slice()) liquidate(member, position, isAtOpen);
}

function liquidate({ run, row, mark }: Member, position: Position, isAtOpen: boolean): void {
  const at: Instant = isAtOpen ? atGap(run, row) : atClose(run, row);
  const role = run.input.config.execution.riskOrderRole;
  fillExit(run, position, exitFill(run, liquidationExit.reason, position.quantity, mark, role), at);
}

/** The open positions of these members, whatever their instruments. */
export function oldestFirst(members: readonly Member[]): { readonly member: Member; readonly position: Position }[] {
  const positions = members.flatMap((member) => member.run.positions.map((position) => ({ member, position })));
  return positions.sort((a, b) => a.position.id - b.position.id);
}
