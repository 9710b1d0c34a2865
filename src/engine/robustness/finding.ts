// A finding: what the numbers of a robustness check mean, in plain words, and how such words are made.

export type FindingSeverity = 'error' | 'warning' | 'info';
export interface Finding {
  readonly code: string;
  readonly severity: FindingSeverity;
  readonly message: string;
}

export const percent = (fraction: number | null): string =>
  fraction === null ? 'nothing' : `${(100 * fraction).toFixed(1)} %`;
export const ratio = (value: number | null): string => (value === null ? 'nothing' : value.toFixed(2));
export const warning = (code: string, message: string): Finding => ({ code, severity: 'warning', message });
export const info = (code: string, message: string): Finding => ({ code, severity: 'info', message });
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
