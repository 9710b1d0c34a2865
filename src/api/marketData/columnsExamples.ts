// Example bodies of the columns route, shown in the OpenAPI document and sent to the route by a test.

const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } } as const;

export const COLUMNS_EXAMPLES = [
  { symbol: 'SPX', timeframe: '1d', columns: { close: { kind: 'market', field: 'close' }, rsi }, last: 5 },
  {
    symbol: 'SPX',
    timeframe: '1d',
    columns: { rsi, oversold: { kind: 'compare', op: 'lt', left: rsi, right: { kind: 'const', value: 30 } } },
    where: 'oversold',
    range: { start: '2018-01-01', end: '2019-01-01' },
  },
];
