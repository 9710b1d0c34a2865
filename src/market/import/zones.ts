// Zones of a file: what is written beside a time, and the instants of clock readings in a zone.
import { DAY_MS } from '../../engine/bars/bars.ts';
import { localTimes } from '../../engine/bars/timeZones.ts';

/**
 * Abbreviations that mean one offset, in hours. CST, IST and BST mean several, and others are the names of zones; they
 * are refused without --timezone.
 */
const ABBREVIATIONS: Readonly<Record<string, number>> = {
  z: 0, utc: 0, gmt: 0, est: -5, edt: -4, pst: -8, pdt: -7, mdt: -6, cdt: -5, cet: 1, cest: 2, eet: 2, eest: 3, jst: 9,
  hkt: 8, sgt: 8, kst: 9, aest: 10, aedt: 11,
}; // prettier-ignore
const OFFSET = /^(?:UTC|GMT)?([-+])(\d\d?):?(\d\d)?$/i;

/** Whether a text names a zone of the IANA database. */
export function isZoneName(text: string): boolean {
  try {
    return text.trim() !== '' && new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** What stands beside a time: an offset in ms, the name of a zone, or null if it is neither. */
export function readZone(text: string): number | string | null {
  const hours = ABBREVIATIONS[text.toLowerCase()];
  if (hours !== undefined) return hours * 3_600_000;
  const match = OFFSET.exec(text);
  if (match !== null) {
    const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
    return (match[1] === '-' ? -minutes : minutes) * 60_000;
  }
  // Short names of the database, such as MST, are abbreviations to the reader.
  return text.includes('/') && isZoneName(text) ? text : null;
}

/** The instants at which the clocks of a zone show something; rows of the same zone, in the order of the file. */
export class ZoneClock {
  readonly #zone: string;
  /** By day of the reading: the offset, or null if it changes near that day. */
  readonly #offsets = new Map<number, number | null>();
  #latest = -Infinity;
  /** Readings of an hour that repeats. */
  repeated = 0;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /**
   * NaN if the clocks skip that reading. Of an hour that repeats when clocks are set back, the reading that comes next
   * after the one before is meant; readings must be given oldest first.
   */
  instantOf(reading: number): number {
    const day = Math.floor(reading / DAY_MS);
    let offset = this.#offsets.get(day);
    if (offset === undefined) {
      const [before, after] = [this.#offsetAt((day - 1) * DAY_MS), this.#offsetAt((day + 2) * DAY_MS)];
      offset = before === after ? before : null;
      this.#offsets.set(day, offset);
    }
    const instant = offset === null ? this.#nearChange(reading) : reading - offset;
    if (!Number.isNaN(instant)) this.#latest = instant;
    return instant;
  }

  #nearChange(reading: number): number {
    const offsets = [this.#offsetAt(reading - DAY_MS), this.#offsetAt(reading + DAY_MS)];
    const instants = [...new Set(offsets)]
      .map((offset) => ({ offset, instant: reading - offset }))
      .filter(({ offset, instant }) => this.#offsetAt(instant) === offset)
      .map(({ instant }) => instant)
      .toSorted((a, b) => a - b);
    if (instants.length < 2) return instants[0] ?? NaN;
    this.repeated++;
    return instants.find((instant) => instant > this.#latest) ?? instants[1];
  }

  #offsetAt(instant: number): number {
    return localTimes(Float64Array.of(instant), this.#zone)[0] - instant;
  }
}

/** What the clocks of a zone show at these instants, as ms that read like UTC. */
export function clockReadings(times: Float64Array, zone: string): Float64Array {
  // localTimes looks up one offset for a stretch of ascending times.
  const ascending = times.toSorted();
  const readings = localTimes(ascending, zone);
  const offsets = new Map<number, number>();
  ascending.forEach((time, at) => offsets.set(time, readings[at] - time));
  return times.map((time) => time + (offsets.get(time) ?? 0));
}
