// Steps that give true, false or unknown per bar: how the column of each is computed.
import { conditionKind } from '../definitions/expressions/expressionRegistry.ts';
import { localTimes } from '../bars/timeZones.ts';
import { NOTHING_UNKNOWN, wordCount } from '../kernels/bits.ts';
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';
import { invert, trimUnknown } from '../kernels/compare.ts';
import { newKeptWords } from '../kernels/sharedBuffer.ts';
import { and, or, withinRows } from '../kernels/logic.ts';
import type { ConditionStep, Slot } from '../plan/plan.ts';
import { timeWindow } from '../definitions/expressions/clock.ts';
import { compareColumns, crossColumns, crossOf, movingColumn } from './leafConditions.ts';
import { isPattern, patternColumn, patternSide } from './patternColumns.ts';
import { operandOf, operandsOf, type StepInputs } from './stepInputs.ts';

/** Computes the column of a condition step: true and unknown bits, one of each per bar of the step's frame. */
export function conditionColumn(step: ConditionStep, columns: StepInputs): ConditionColumn {
  const n = columns.barsOf(step).length;
  // Not from the memory that a run gives back, because the bits may stay in use by a kept column.
  const out = newKeptWords(wordCount(n));
  const { inputs } = step;
  switch (step.op) {
    case 'compare': {
      return compareColumns(
        step.compare,
        sideOf(inputs[0], columns),
        sideOf(inputs[1], columns),
        step.tolerance,
        n,
        out,
      );
    }
    case 'cross': {
      const sides = columns.compareSides(step);
      if (sides !== null)
        return crossOf(
          step.direction,
          () => sides.greater,
          () => sides.less,
          n,
          out,
        );
      return crossColumns(step.direction, sideOf(inputs[0], columns), sideOf(inputs[1], columns), n, out);
    }
    case 'moving':
      return movingColumn(step.direction, operandOf(inputs[0], step, columns), step.bars, n, out);
    case 'pattern_side': {
      const pattern = columns.plan.steps[inputs[0]];
      if (isPattern(pattern)) return patternColumn(step, pattern, columns);
      return patternSide(step.side, columns.value(inputs[0]), n, out);
    }
    case 'within':
      return withinRows(columns.condition(inputs[0]), step.window, n);
    case 'all':
      return and(
        inputs.map((slot) => columns.condition(slot)),
        out,
      );
    case 'any':
      return or(
        inputs.map((slot) => columns.condition(slot)),
        out,
      );
    case 'not':
      return invert(columns.condition(inputs[0]), n, out);
    case 'align_condition':
      return gatherCondition(columns.condition(inputs[0]), columns.rowsOf(step), out);
    case 'time_window':
      timeWindow(localTimes(columns.barsOf(step).time, step.timezone), step.window, out);
      return { isTrue: out, isUnknown: NOTHING_UNKNOWN };
    default:
      return conditionKind({ kind: step.op }).operation!.column(step, operandsOf(step, columns));
  }
}

const sideOf = (slot: Slot, columns: StepInputs): ValueColumn | number => columns.numberAt(slot) ?? columns.value(slot);

function gatherCondition(column: ConditionColumn, rows: Int32Array, out: Uint32Array): ConditionColumn {
  const unknown = newKeptWords(out.length);
  for (let row = 0; row < rows.length; row++) {
    const from = rows[row];
    const bit = 1 << (row & 31);
    if (from < 0 || (from >>> 5 < column.isUnknown.length && (column.isUnknown[from >>> 5] >>> (from & 31)) & 1))
      unknown[row >>> 5] |= bit;
    else if ((column.isTrue[from >>> 5] >>> (from & 31)) & 1) out[row >>> 5] |= bit;
  }
  return { isTrue: out, isUnknown: trimUnknown(unknown) };
}
