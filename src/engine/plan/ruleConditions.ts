// The conditions of a rule in reading order, each with its role: what rule statistics list.
import type { RunnableAllocation, RunnableCondition, RunnableEntry } from '../language/grammar/ast.ts';
import type { ConditionRole } from './plan.ts';

interface RoleOfCondition {
  readonly role: ConditionRole;
  readonly condition: RunnableCondition;
}

/** The conditions of an allocation in reading order. */
export function allocationParts({ when, long, short }: RunnableAllocation): RoleOfCondition[] {
  const ofLeg = (leg: RunnableAllocation['long' | 'short']): RoleOfCondition[] => [
    ...(leg?.where === undefined ? [] : [{ role: 'where' as const, condition: leg.where }]),
    ...(leg?.require === undefined ? [] : [{ role: 'require' as const, condition: leg.require }]),
  ];
  return [{ role: 'when', condition: when }, ...ofLeg(long), ...ofLeg(short)];
}

/** The parts of an entry in reading order: setup, trigger, filters. */
export function entryParts(entry: RunnableEntry): RoleOfCondition[] {
  return [
    ...(entry.setup ? [{ role: 'setup' as const, condition: entry.setup }] : []),
    { role: 'trigger' as const, condition: entry.trigger },
    ...entry.filters.map((condition) => ({ role: 'filter' as const, condition })),
  ];
}
