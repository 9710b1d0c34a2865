// The table of trades, whose rows show their trade in the charts, and the files of trades and equity that the page
// saves from its own data.
(() => {
  'use strict';
  const { byId, choosableRows, save, csv, tableRows, fileName, data } = window.kit;
  const { TRADE, showInstrument, showRange } = window.report;

  const table = document.querySelector('table.trades');
  if (table !== null && data.time.length > 0) {
    choosableRows(table, (row) => {
      for (const each of table.querySelectorAll('.chosen')) each.classList.remove('chosen');
      row.classList.add('chosen');
      const index = Number(row.dataset.trade);
      const trade = data.trades[index];
      if (data.instruments && trade[TRADE.instrument] >= 0) showInstrument(trade[TRADE.instrument]);
      const margin = Math.max(20, (trade[TRADE.exit] - trade[TRADE.entry]) * 0.6);
      showRange(trade[TRADE.entry] - margin, trade[TRADE.exit] + margin, index);
      byId('charts').scrollIntoView({ behavior: 'smooth', block: 'start' });
    });
  }
  byId('save-trades')?.addEventListener('click', () => {
    const [head, ...rows] = tableRows(table);
    const place = head.findIndex((name) => name === 'Position');
    const ascending = rows.toSorted((a, b) => Number(a[place]) - Number(b[place]));
    save(fileName('trades.csv'), csv([head, ...ascending]), 'text/csv');
  });
  byId('save-equity')?.addEventListener('click', () => {
    const { time, equity, benchmark, drawdown } = data;
    const rows = time.map((seconds, at) => [
      new Date(seconds * 1000).toISOString(),
      equity[at],
      benchmark[at],
      (drawdown[at] / 100).toPrecision(9),
    ]);
    const head = ['time', 'equity', 'benchmark', 'drawdown'];
    save(fileName('equity.csv'), csv([head, ...rows]), 'text/csv');
  });
})();
