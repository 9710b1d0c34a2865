// A variant of the sweep, opened by a click on its row or its point: its settings to copy, and over HTTP where its full
// backtest is queued.
(() => {
  'use strict';
  const { data, byId, choosableRows } = window.kit;

  const dialog = byId('variant');
  byId('variant-close').addEventListener('click', () => dialog.close());

  /** The settings as a config has them, as far as they are parameters and overridden numbers. */
  function settingsOf(values) {
    const found = {};
    data.dimensions.forEach(({ name, target }, at) => {
      const group = target === 'param' ? 'params' : target === 'override' ? 'overrides' : null;
      if (group === null) found[name] = values[at];
      else found[group] = { ...found[group], [name]: values[at] };
    });
    return found;
  }

  /** @param values in the order of the dimensions */
  function openVariant(variant, values) {
    byId('variant-title').textContent = `Variant ${variant}`;
    byId('variant-settings').textContent = JSON.stringify(settingsOf(values), null, 2);
    const isServed = /^https?:/.test(location.protocol) && location.pathname.endsWith('/report');
    byId('variant-way').textContent = isServed
      ? `POST ${location.pathname.replace(/report$/, `rows/${variant}/backtest`)} queues its full backtest.`
      : 'Put these into the config of a backtest to see its trades and its report.';
    const link = byId('variant-link');
    link.hidden = !isServed;
    if (isServed) link.href = location.pathname.replace(/report$/, 'results?format=json&limit=1000');
    dialog.showModal();
  }

  const table = document.querySelector('#top table');
  if (table !== null) {
    const top = new Map(data.top.map(([variant, ...values]) => [String(variant), values]));
    choosableRows(table, (row) => openVariant(row.dataset.variant, top.get(row.dataset.variant)));
  }
  window.sweep = { ...window.sweep, openVariant };
})();
