// Files of bars for tests, and the request that uploads one.
import type { ApiApp, Client, Reply } from './apiApp.ts';

export interface Day {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** Daily bars that rise and fall. @param shift moves all prices */
export function daysFrom(first: string, count: number, shift = 0): readonly Day[] {
  const start = Date.parse(first);
  return Array.from({ length: count }, (_, day) => {
    const open = 100 + shift + Math.round(10 * Math.sin(day / 5) * 100) / 100;
    const close = open + Math.round(Math.cos(day / 3) * 100) / 100;
    const [low, high] = [Math.min(open, close) - 0.5, Math.max(open, close) + 0.5];
    return { time: start + day * 86_400_000, open, high, low, close, volume: 1_000 + day };
  });
}

/** @param symbol in a column of its own; absent: the file does not say */
export function csvOf(days: readonly Day[], symbol?: string): string {
  const own = symbol === undefined ? '' : `${symbol},`;
  const head = `${symbol === undefined ? '' : 'symbol,'}time,open,high,low,close,volume\n`;
  return head + days.map((day) => `${own}${Object.values(day).join(',')}\n`).join('');
}

export const uploadTo = (
  api: ApiApp,
  { apiKey }: Client,
  query: string,
  payload: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Reply> =>
  api.send({
    method: 'POST',
    url: `/public/v1/market-data${query === '' ? '' : `?${query}`}`,
    headers: { 'x-api-key': apiKey, 'content-type': 'text/csv', ...headers },
    payload,
  });
