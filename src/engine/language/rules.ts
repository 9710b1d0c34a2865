// Rules about the sections as a whole: sizing that needs a stop, ladders that close too much, triggers that exclude each other.
import type { Concrete, Entry, Risk, StrategyAst } from './ast.ts';
import type { CanonicalRules } from './canonical.ts';
import type { IssueLog } from './issues.ts';
import type { PointerOf } from './runnable.ts';

const TARGET_TRIGGERS = ['triggerPercent', 'triggerR', 'triggerAtr', 'triggerPrice'] as const;
const TRAIL_DISTANCES = ['distancePercent', 'distanceAtr'] as const;
/** Ladders written as thirds add up to 99.99… or 100.00…: this much over is not a fault. */
const CLOSE_TOLERANCE = 1e-9;

/** SIZING_NEEDS_STOP, RISK_INVALID and TP_CLOSE_OVER_100 over concrete rules; places are those of the payload's own objects. */
export function checkRules(rules: CanonicalRules, ast: StrategyAst, log: IssueLog, pointerOf: PointerOf): void {
  const entries = rules.entry as unknown as readonly Concrete<Entry>[];
  const risk = rules.risk as unknown as Concrete<Risk>;
  const written = [ast.strategy.entry].flat();
  for (const [i, entry] of entries.entries()) {
    if (entry.action.sizing.mode === 'risk_percent' && risk.stopLoss === undefined) {
      log.add('SIZING_NEEDS_STOP', pointerOf(written[i], 'action', 'sizing', 'mode'), {
        message: 'risk_percent sizes by the distance to the stop, and the strategy has no risk.stopLoss',
        suggestion: 'add strategy.risk.stopLoss, or size by percent_equity',
      });
    }
  }
  if (ast.strategy.risk !== undefined)
    checkRisk(risk, entries, log, (...member) => pointerOf(ast.strategy.risk!, ...member));
}

function checkRisk(
  risk: Concrete<Risk>,
  entries: readonly Concrete<Entry>[],
  log: IssueLog,
  at: (...member: (string | number)[]) => string,
): void {
  const { stopLoss, takeProfits = [], trailingStop } = risk;
  const hasLong = entries.some(({ action }) => action.side === 'long');
  if (stopLoss?.mode === 'percent' && stopLoss.value >= 100 && hasLong) {
    log.add('RISK_INVALID', at('stopLoss', 'value'), {
      message: `a stop ${stopLoss.value} % below a long entry is at or below zero`,
      suggestion: 'percents are points: 2 means 2 %',
    });
  }
  let closed = 0;
  for (const [i, target] of takeProfits.entries()) {
    const given = TARGET_TRIGGERS.filter((name) => target[name] !== undefined);
    if (given.length !== 1) {
      log.add('RISK_INVALID', at('takeProfits', i), {
        message: `a take-profit has exactly one trigger, this one has ${given.length === 0 ? 'none' : given.join(' and ')}`,
        suggestion: `give one of ${TARGET_TRIGGERS.join(', ')}`,
      });
    }
    if (target.triggerR !== undefined && stopLoss === undefined) {
      log.add('RISK_INVALID', at('takeProfits', i, 'triggerR'), {
        message: 'triggerR counts in distances to the stop, and there is no stopLoss',
        suggestion: 'add risk.stopLoss, or use triggerPercent',
      });
    }
    if ((target.closeBasis ?? 'initial') === 'initial') closed += target.closePercent;
  }
  if (closed > 100 + CLOSE_TOLERANCE) {
    log.add('TP_CLOSE_OVER_100', at('takeProfits'), {
      message: `the take-profits close ${closed} % of the initial position`,
      suggestion: 'lower closePercent to 100 in all, or use closeBasis "remaining"',
    });
  }
  if (trailingStop !== undefined && TRAIL_DISTANCES.filter((name) => trailingStop[name] !== undefined).length !== 1) {
    log.add('RISK_INVALID', at('trailingStop'), {
      message: 'a trailing stop has exactly one distance',
      suggestion: `give one of ${TRAIL_DISTANCES.join(', ')}`,
    });
  }
}
