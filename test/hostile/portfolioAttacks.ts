// The attacks with many instruments: lists of a thousand symbols, links without end, and batches of portfolios.
import { astOf, CONFIG, condition, readyVersion, type Attack } from './attack.ts';

const { signalInstrument: _, ...COMMON } = CONFIG;
const SHIPPED = ['AAPL', 'MSFT', 'IBM', 'GOOG', 'SPX', 'NASDAQ'];
const listed = (symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));
const names = (count: number, prefix: string): string[] => Array.from({ length: count }, (_item, at) => prefix + at);
const portfolio = (symbols: readonly string[], more: object = {}) => ({
  ...COMMON,
  instruments: listed(symbols),
  ...more,
});

/** Bodies of a pro key, as large as they may be; what each has to be answered is a refusal. */
const REFUSED: readonly object[] = [
  // Each is compared with every stored symbol.
  portfolio(names(1_000, 'AAP')),
  portfolio(names(1_000, 'x'.repeat(90))),
  portfolio(Array.from({ length: 1_000 }, () => 'SPX')),
  portfolio(SHIPPED, { portfolio: { linked: Array.from({ length: 900 }, () => names(60, 'L')) } }),
  portfolio(SHIPPED, { portfolio: { linked: Array.from({ length: 1_000 }, () => ['SPX', 'SPX']) } }),
  portfolio(names(1_000, 'T'), { timeframe: '15m', benchmark: { symbol: 'NONE' } }),
  // More than the schema takes, and of another form.
  portfolio(names(9_000, 'M')),
  { ...COMMON, instruments: names(9_000, 'TEXT') },
];

export const PORTFOLIO_ATTACKS: readonly Attack[] = [
  {
    name: 'portfolios of a thousand wrong symbols',
    parallel: 2,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, astOf([condition(7)]));
      const bodies = REFUSED.map((config) => Buffer.from(JSON.stringify({ strategyVersionId, config })));
      let turn = 0;
      return () => send('/public/v1/backtests', { key: pro.key, body: bodies[turn++ % bodies.length] });
    },
  },
  {
    name: 'portfolios beyond the tier of a free key, and sweeps of them',
    parallel: 2,
    prepare: async (send, { free }) => {
      const strategyVersionId = await readyVersion(send, free.key, astOf([condition(7)]));
      const config = portfolio(names(1_000, 'S'));
      const backtest = Buffer.from(JSON.stringify({ strategyVersionId, config }));
      const space = { symbol: { values: names(200, 'S') } };
      const sweep = Buffer.from(JSON.stringify({ strategyVersionId, config, space, method: 'grid' }));
      let turn = 0;
      return () =>
        turn++ % 2 === 0
          ? send('/public/v1/backtests', { key: free.key, body: backtest })
          : send('/public/v1/sweeps', { key: free.key, body: sweep });
    },
  },
  {
    name: 'batches of portfolios of 50 symbols',
    parallel: 1,
    prepare: async (send, { pro }) => {
      const strategyVersionId = await readyVersion(send, pro.key, astOf([condition(7)]));
      const items = Array.from({ length: 1_000 }, (_item, at) => ({
        strategyVersionId,
        config: portfolio([...SHIPPED, ...names(44, `B${at}-`)]),
      }));
      const body = Buffer.from(JSON.stringify({ items }));
      return () => send('/public/v1/backtests/batch', { key: pro.key, body });
    },
  },
  {
    name: 'portfolios that run',
    parallel: 2,
    prepare: async (send, { free }) => {
      const strategyVersionId = await readyVersion(send, free.key, astOf([condition(20)]));
      let balance = 1_000;
      return () => {
        const config = portfolio(SHIPPED, { initialBalance: balance++, portfolio: { slots: 2 } });
        return send('/public/v1/backtests', { key: free.key, body: { strategyVersionId, config } });
      };
    },
  },
];
