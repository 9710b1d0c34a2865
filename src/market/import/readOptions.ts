// Read options: what the owner of a file says about it where the file alone does not show it.
import type { Timeframe } from '../../engine/bars/bars.ts';
import { namedUnit, parseDateFormat } from './dateFormat.ts';
import { refuse } from './importError.ts';
import { isZoneName } from './zones.ts';

/** A member of a bar that a column can be named for. */
const COLUMN_ROLES = ['time', 'open', 'high', 'low', 'close', 'volume', 'symbol'] as const;
export type ColumnRole = (typeof COLUMN_ROLES)[number];
/** Names or 1-based numbers of columns; `Date+Time` joins two; an empty volume or symbol means that there is none. */
export type ColumnChoices = Readonly<Partial<Record<ColumnRole, string>>>;

export interface ReadOptions {
  /** Default: inferred from the commonest step. */
  readonly timeframe?: Timeframe;
  /** Used when there is a single bar and no timeframe is given. */
  readonly timeframeHint?: Timeframe;
  /** What the times of the file mean; default open, or close if the file has only close times. */
  readonly timeIs?: 'open' | 'close';
  /** Default: found by name. */
  readonly columns?: ColumnChoices;
  /** The zone of times that state none, and of the days of daily bars; default UTC. */
  readonly timezone?: string;
  /** How dates are written, such as DD/MM/YYYY; default: inferred, if only one reading is possible. */
  readonly dateFormat?: string;
  /** Puts the rows in the order of their times. */
  readonly sort?: boolean;
  /** Which row of a time that appears more than once is kept; default: such a file is refused. */
  readonly dedupe?: 'first' | 'last';
  /** Leaves out rows in which the time, a price or the volume is missing, or a price is 0. */
  readonly dropNa?: boolean;
  /** Scales the bars to the adjusted close of the file. */
  readonly adjusted?: boolean;
}

/** Reads `time=Date,open=Open`. @throws MarketDataError OPTION_INVALID */
export function parseColumns(text: string): ColumnChoices {
  const choices: Partial<Record<ColumnRole, string>> = {};
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const role = COLUMN_ROLES.find((each) => each === part.slice(0, at).trim().toLowerCase());
    const name = part.slice(at + 1).trim();
    if (at < 0 || role === undefined || (name === '' && role !== 'volume' && role !== 'symbol'))
      refuse(
        'OPTION_INVALID',
        `"${part}" does not name a column. Write pairs such as time=Date,open=Open with ${COLUMN_ROLES.join(', ')}; ` +
          'a column is given by its name or number, and time=Date+Time joins two.',
      );
    choices[role] = name;
  }
  return choices;
}

/** Checks the name of a zone. @throws MarketDataError OPTION_INVALID */
export function parseTimezone(text: string): string {
  if (isZoneName(text)) return text;
  refuse('OPTION_INVALID', `"${text}" is not a time zone. Name it as IANA does: America/New_York, Europe/Berlin, UTC.`);
}

/** Checks a date format, which stays a text. @throws MarketDataError OPTION_INVALID */
export function checkDateFormat(text: string): string {
  if (namedUnit(text) === undefined) parseDateFormat(text);
  return text;
}
