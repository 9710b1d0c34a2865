// What the report does in a browser: draws the charts, sorts the trades, and shows a trade in the charts.
(() => {
  'use strict';
  const charts = window.LightweightCharts;
  const data = JSON.parse(document.getElementById('data').textContent);
  const byId = (id) => document.getElementById(id);
  const POINTS = data.time.length;
  const OVERLAY_COLORS = ['#e08a1e', '#8a5cd6', '#1f9ed1', '#b0578d'];
  const TRADE = { entry: 0, entryPrice: 1, exit: 2, exitPrice: 3, side: 4, isWon: 5, instrument: 6 };
  /** Of several instruments, whose prices are shown; of one, all of the data. */
  let shownInstrument = 0;
  const shown = () => (data.instruments ? data.instruments[shownInstrument] : data);
  const isShown = (trade) => !data.instruments || trade[TRADE.instrument] === shownInstrument;
  let showInstrument = () => {};
  /** Below this many pixels per candle its close is drawn as a line. */
  const MIN_CANDLE_PIXELS = 2.2;
  const PANE_SHARES = { price: 6, oscillators: 2, equity: 3, drawdown: 2 };

  const isDark = matchMedia('(prefers-color-scheme: dark)');
  const isNarrow = matchMedia('(max-width: 560px)').matches;
  const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let colors;
  const readColors = () => {
    colors = Object.fromEntries(
      ['paper', 'ink', 'faint', 'line', 'accent', 'up', 'down'].map((name) => [name, cssColor('--' + name)]),
    );
  };
  readColors();

  const grouped = (value, decimals) => {
    const text = Math.abs(value).toLocaleString('en-US', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    return value < 0 && /[1-9]/.test(text) ? '−' + text : text;
  };
  const priceText = (value) => grouped(value, data.priceDecimals);
  const percentText = (value) => grouped(value, 2) + ' %';
  const moneyText = (value) => grouped(value, Math.abs(value) >= 100_000 ? 0 : data.moneyDecimals);

  const chart = POINTS === 0 ? null : charts.createChart(byId('chart'), optionsOf());
  const series = [];
  if (chart !== null) drawAll();
  document.body.dataset.ready = 'yes';

  function optionsOf() {
    return {
      autoSize: true,
      layout: {
        background: { color: 'transparent' },
        textColor: colors.faint,
        fontSize: isNarrow ? 10 : 11,
        fontFamily: 'system-ui, sans-serif',
        panes: { separatorColor: colors.line, separatorHoverColor: colors.line },
      },
      grid: { vertLines: { visible: false }, horzLines: { color: colors.line } },
      rightPriceScale: { borderVisible: false },
      timeScale: {
        borderColor: colors.line,
        timeVisible: !data.isDaily,
        secondsVisible: false,
        minBarSpacing: 0.001,
        enableConflation: false,
        rightOffset: 0,
      },
      crosshair: { mode: charts.CrosshairMode.Normal },
      localization: {
        timeFormatter: (time) => timeText(time),
      },
    };
  }

  function captionOf(text) {
    return {
      horzAlign: 'left',
      vertAlign: 'top',
      lines: [{ text, color: colors.faint, fontSize: isNarrow ? 10 : 11.5, fontFamily: 'system-ui, sans-serif' }],
    };
  }

  function timeText(seconds) {
    const text = new Date(seconds * 1000).toISOString();
    return data.isDaily ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
  }

  function add(kind, pane, options, values, colorOf) {
    const made = chart.addSeries(
      kind,
      { priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false, ...options, ...colorOf() },
      pane,
    );
    made.setData(values);
    series.push({ made, colorOf });
    return made;
  }

  function points(values) {
    return data.time.map((time, index) => (values[index] === null ? { time } : { time, value: values[index] }));
  }

  /** A point without a bar has only its time. */
  function candleValues() {
    const { open, high, low, close } = shown();
    return data.time.map((time, i) =>
      close[i] === null ? { time } : { time, open: open[i], high: high[i], low: low[i], close: close[i] },
    );
  }

  function drawAll() {
    const { CandlestickSeries, LineSeries, BaselineSeries } = charts;
    const price = { type: 'price', precision: data.priceDecimals, minMove: 10 ** -data.priceDecimals };
    const custom = (formatter, minMove) => ({ type: 'custom', formatter, minMove });
    const candles = add(
      CandlestickSeries,
      0,
      { priceFormat: custom(priceText, price.minMove), borderVisible: false },
      candleValues(),
      () => ({ upColor: colors.up, downColor: colors.down, wickUpColor: colors.up, wickDownColor: colors.down }),
    );
    const line = add(
      LineSeries,
      0,
      { priceFormat: custom(priceText, price.minMove), lineWidth: 1.5, visible: false },
      points(shown().close),
      () => ({ color: colors.faint }),
    );
    data.overlays.forEach(({ values }, index) =>
      add(LineSeries, 0, { priceFormat: custom(priceText, price.minMove), lineWidth: 1.5 }, points(values), () => ({
        color: OVERLAY_COLORS[index],
      })),
    );
    candles.attachPrimitive(tradeMarks());
    let pane = 1;
    if (data.oscillators.length > 0) {
      data.oscillators.forEach(({ values }, index) =>
        add(LineSeries, pane, { lineWidth: 1.5 }, points(values), () => ({ color: OVERLAY_COLORS[(index + 1) % 4] })),
      );
      pane++;
    }
    const equityPane = pane++;
    const money = custom(moneyText, 10 ** -data.moneyDecimals);
    add(LineSeries, equityPane, { priceFormat: money, lineWidth: 1.5 }, points(data.benchmark), () => ({
      color: colors.faint,
    }));
    const equity = add(LineSeries, equityPane, { priceFormat: money, lineWidth: 2 }, points(data.equity), () => ({
      color: colors.accent,
    }));
    const falls = add(
      BaselineSeries,
      pane,
      { priceFormat: custom(percentText, 0.01), lineWidth: 1, baseValue: { type: 'price', price: 0 } },
      points(data.drawdown),
      () => ({
        topLineColor: colors.down,
        bottomLineColor: colors.down,
        topFillColor1: 'transparent',
        topFillColor2: 'transparent',
        bottomFillColor1: colors.down + '22',
        bottomFillColor2: colors.down + '55',
      }),
    );
    const shares = [
      PANE_SHARES.price,
      ...(data.oscillators.length > 0 ? [PANE_SHARES.oscillators] : []),
      PANE_SHARES.equity,
      PANE_SHARES.drawdown,
    ];
    chart.panes().forEach((each, index) => each.setStretchFactor(shares[index]));
    const labels = [
      shown().symbol,
      ...(data.oscillators.length > 0 ? [data.oscillators.map(({ name }) => name).join(', ')] : []),
      'Equity',
      'Drawdown',
    ];
    const captions = chart.panes().map((each, index) => charts.createTextWatermark(each, captionOf(labels[index])));
    falls.priceScale().applyOptions({ scaleMargins: { top: 0.14, bottom: 0.08 } });
    chart.timeScale().fitContent();
    chart.timeScale().subscribeVisibleLogicalRangeChange(() => {
      const isLine = chart.timeScale().options().barSpacing < MIN_CANDLE_PIXELS;
      if (isLine === line.options().visible) return;
      line.applyOptions({ visible: isLine });
      const clear = 'rgba(0,0,0,0)';
      const { made, colorOf } = series[0];
      made.applyOptions(
        isLine ? { upColor: clear, downColor: clear, wickUpColor: clear, wickDownColor: clear } : colorOf(),
      );
    });
    showInstrument = (place) => {
      shownInstrument = place;
      byId('instrument').value = String(place);
      candles.setData(candleValues());
      line.setData(points(shown().close));
      labels[0] = shown().symbol;
      captions[0].applyOptions(captionOf(labels[0]));
      showLegend(POINTS - 1);
    };
    byId('instrument')?.addEventListener('change', ({ target }) => showInstrument(Number(target.value)));
    addRangeButtons();
    const setScale = () => {
      const mode = byId('log').checked ? charts.PriceScaleMode.Logarithmic : charts.PriceScaleMode.Normal;
      for (const each of [candles, equity]) each.priceScale().applyOptions({ mode });
    };
    byId('log').checked = data.isWide;
    byId('log').addEventListener('change', setScale);
    setScale();
    showLegend(POINTS - 1);
    chart.subscribeCrosshairMove(({ logical }) =>
      showLegend(logical === undefined || logical === null ? POINTS - 1 : logical),
    );
    isDark.addEventListener('change', () => {
      readColors();
      chart.applyOptions(optionsOf());
      for (const { made, colorOf } of series) made.applyOptions(colorOf());
      captions.forEach((caption, index) => caption.applyOptions(captionOf(labels[index])));
      showLegend(POINTS - 1);
    });
  }

  /** Entry, exit and the line between them, at the prices that filled. */
  function tradeMarks() {
    let attached;
    let chosen = -1;
    const draw = (target) =>
      target.useMediaCoordinateSpace(({ context, mediaSize }) => {
        const scale = attached.chart.timeScale();
        const spacing = scale.options().barSpacing;
        const size = Math.max(2.5, Math.min(5, spacing * 0.9));
        data.trades.forEach((trade, index) => {
          if (!isShown(trade)) return;
          const x1 = scale.logicalToCoordinate(trade[TRADE.entry]);
          const x2 = scale.logicalToCoordinate(trade[TRADE.exit]);
          if (x1 === null || x2 === null || x2 < -20 || x1 > mediaSize.width + 20) return;
          const y1 = attached.series.priceToCoordinate(trade[TRADE.entryPrice]);
          const y2 = attached.series.priceToCoordinate(trade[TRADE.exitPrice]);
          if (y1 === null || y2 === null) return;
          const isChosen = index === chosen;
          context.strokeStyle = context.fillStyle = trade[TRADE.isWon] ? colors.up : colors.down;
          context.globalAlpha = isChosen ? 1 : 0.85;
          context.lineWidth = isChosen ? 2.5 : 1.25;
          context.beginPath();
          context.moveTo(x1, y1);
          context.lineTo(x2, y2);
          context.stroke();
          context.fillStyle = colors.accent;
          triangle(context, x1, y1, isChosen ? size + 2 : size, trade[TRADE.side]);
          context.fillStyle = context.strokeStyle;
          context.beginPath();
          context.arc(x2, y2, isChosen ? size + 0.5 : size * 0.62, 0, 2 * Math.PI);
          context.fill();
        });
        context.globalAlpha = 1;
      });
    const view = { zOrder: () => 'top', renderer: () => ({ draw }) };
    addEventListener('trade-chosen', ({ detail }) => {
      chosen = detail;
      attached.requestUpdate();
    });
    return { attached: (given) => (attached = given), paneViews: () => [view], updateAllViews: () => {} };
  }

  /** Points up below the price for a long, down above it for a short. */
  function triangle(context, x, y, size, side) {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - size, y + side * size * 1.7);
    context.lineTo(x + size, y + side * size * 1.7);
    context.fill();
  }

  function addRangeButtons() {
    const last = data.time[POINTS - 1];
    const first = data.time[0];
    const DAY = 86_400;
    const ranges = [
      ['All', Infinity],
      ['10 y', 3652],
      ['5 y', 1826],
      ['1 y', 365],
      ['3 m', 91],
      ['1 m', 30],
    ];
    const fitting = ranges.filter(([, days]) => days === Infinity || days * DAY < last - first).slice(0, 5);
    const buttons = fitting.map(([text, days]) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = text;
      button.setAttribute('aria-pressed', String(days === Infinity));
      button.addEventListener('click', () => {
        if (days === Infinity) chart.timeScale().fitContent();
        else chart.timeScale().setVisibleLogicalRange({ from: indexAt(last - days * DAY), to: POINTS });
        for (const each of buttons) each.setAttribute('aria-pressed', String(each === button));
      });
      return button;
    });
    byId('ranges').append(...buttons);
  }

  /** The first point at or after a time. */
  function indexAt(seconds) {
    let low = 0;
    let high = POINTS;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.time[middle] < seconds) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function showLegend(logical) {
    const index = Math.max(0, Math.min(POINTS - 1, Math.round(logical)));
    const item = (name, text, color) => {
      const span = document.createElement('span');
      if (color) span.append(Object.assign(document.createElement('i'), { style: 'background:' + color }));
      const value = document.createElement('b');
      value.textContent = text;
      span.append(name + ' ', value);
      return span;
    };
    const lines = [...data.overlays, ...data.oscillators].flatMap(({ name, values }, at) => {
      const isOverlay = at < data.overlays.length;
      const color = isOverlay ? OVERLAY_COLORS[at] : OVERLAY_COLORS[(at - data.overlays.length + 1) % 4];
      return values[index] === null
        ? []
        : [item(name, isOverlay ? priceText(values[index]) : grouped(values[index], 2), color)];
    });
    const prices = () => {
      const { symbol, open, high, low, close } = shown();
      if (close[index] === null) return [item(symbol, 'no bar')];
      return [
        item('Open', priceText(open[index])),
        item('High', priceText(high[index])),
        item('Low', priceText(low[index])),
        item('Close', priceText(close[index])),
      ];
    };
    byId('legend').replaceChildren(
      item('', timeText(data.time[index])),
      ...prices(),
      ...lines,
      item('Equity', moneyText(data.equity[index]), colors.accent),
      item(data.benchmarkName ?? 'Buy and hold', moneyText(data.benchmark[index]), colors.faint),
      item('Drawdown', percentText(data.drawdown[index]), colors.down),
    );
  }

  const trades = document.querySelector('table.trades');
  if (trades !== null) {
    const [body] = trades.tBodies;
    body.addEventListener('click', ({ target }) => showTrade(target.closest('tr')));
    trades.tHead.addEventListener('click', ({ target }) => sortBy(target.closest('th')));
    // Tab reaches the headings and one row, from which the arrows go on: thousands of rows would be in the way.
    for (const heading of trades.tHead.rows[0].cells) heading.tabIndex = 0;
    body.rows[0].tabIndex = 0;
    trades.addEventListener('keydown', (event) => {
      const { key, target } = event;
      const next = target.parentNode === body ? rowAfter(target, key) : null;
      if (next) {
        target.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      } else if (key === 'Enter' || key === ' ') target.click();
      else return;
      event.preventDefault();
    });
  }

  /** The row that a key goes to; null: it is no such key, or there is no row there. */
  function rowAfter(row, key) {
    if (key === 'ArrowDown') return row.nextElementSibling;
    if (key === 'ArrowUp') return row.previousElementSibling;
    if (key === 'Home') return row.parentNode.firstElementChild;
    return key === 'End' ? row.parentNode.lastElementChild : null;
  }

  function showTrade(row) {
    if (row === null || chart === null) return;
    for (const each of trades.querySelectorAll('.chosen')) each.classList.remove('chosen');
    row.classList.add('chosen');
    for (const button of byId('ranges').children) button.setAttribute('aria-pressed', 'false');
    const index = Number(row.dataset.trade);
    const trade = data.trades[index];
    if (data.instruments && trade[TRADE.instrument] >= 0) showInstrument(trade[TRADE.instrument]);
    const margin = Math.max(20, (trade[TRADE.exit] - trade[TRADE.entry]) * 0.6);
    chart.timeScale().setVisibleLogicalRange({ from: trade[TRADE.entry] - margin, to: trade[TRADE.exit] + margin });
    dispatchEvent(new CustomEvent('trade-chosen', { detail: index }));
    byId('charts').scrollIntoView({ behavior: 'smooth', block: 'start' });
  }

  function sortBy(heading) {
    const column = heading.cellIndex;
    const isDescending = heading.getAttribute('aria-sort') !== 'descending';
    for (const each of heading.parentNode.cells) each.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
    const keyOf = (row) => {
      const text = row.cells[column].textContent.trim();
      const value = Number(text.replaceAll(',', '').replace('−', '-'));
      return Number.isNaN(value) ? text : value;
    };
    const body = trades.tBodies[0];
    const sorted = [...body.rows]
      .map((row) => ({ row, key: keyOf(row) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    if (isDescending) sorted.reverse();
    body.append(...sorted.map(({ row }) => row));
  }
})();
