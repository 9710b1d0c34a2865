// The charts of the report: price with the strategy's lines, panes of other scales, equity, excess, drawdown, and the
// strip of conditions.
(() => {
  'use strict';
  const charts = window.LightweightCharts;
  const { data, byId, grouped, remembered } = window.kit;
  const { tradeMarks, conditionStrip, stripHeight, isSet, TRADE } = window.report;
  const POINTS = data.time.length;
  const LINE_COLORS = ['#d9822b', '#8a5cd6', '#1f9ed1', '#b0578d', '#8b9a2b'];
  /** Below this many pixels per candle its close is drawn as a line. */
  const MIN_CANDLE_PIXELS = 2.2;
  const LABEL_PIXELS = 20;
  const isNarrow = matchMedia('(max-width: 560px)').matches;
  const PIXELS = { price: isNarrow ? 270 : 340, lines: 96, equity: 150, excess: 100, drawdown: 92, times: 28 };

  const isDark = matchMedia('(prefers-color-scheme: dark)');
  const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let colors;
  const readColors = () => {
    colors = Object.fromEntries(
      ['paper', 'ink', 'faint', 'line', 'wash', 'accent', 'up', 'down', 'amber'].map((name) => [
        name,
        cssColor('--' + name),
      ]),
    );
  };
  readColors();

  /** Of several instruments, whose prices are shown; of one, all of the data. */
  let shownInstrument = 0;
  const shown = () => (data.instruments ? data.instruments[shownInstrument] : data);
  const isShown = (trade) => !data.instruments || trade[TRADE.instrument] === shownInstrument;

  const priceText = (value) => grouped(value, data.priceDecimals);
  const percentText = (value) => grouped(value, 2) + ' %';
  const shareText = (value) => grouped(value, Math.abs(value) >= 100 ? 0 : 1) + ' %';
  const moneyText = (value) => grouped(value, Math.abs(value) >= 10_000 ? 0 : data.moneyDecimals);
  /** As many decimals as the largest value of the line needs. */
  const lineFormat = (values) => {
    const most = values.reduce((found, value) => Math.max(found, Math.abs(value ?? 0)), 0);
    const decimals = most >= 1_000 ? 0 : most >= 10 ? 2 : most >= 0.1 ? 4 : 6;
    return (value) => grouped(value, decimals);
  };
  const excess = data.equity.map((value, at) => (100 * (value - data.benchmark[at])) / data.initialBalance);

  let showInstrument = () => {};
  let showRange = () => {};
  const chart = POINTS === 0 ? null : charts.createChart(byId('chart'), optionsOf());
  const series = [];
  let marks = null;

  function optionsOf() {
    return {
      autoSize: true,
      layout: {
        background: { color: 'transparent' },
        textColor: colors.faint,
        fontSize: isNarrow ? 10 : 11,
        fontFamily: 'system-ui, sans-serif',
        // The footer names the library and links to its site.
        attributionLogo: false,
        panes: { separatorColor: colors.line, separatorHoverColor: colors.line, enableResize: false },
      },
      grid: { vertLines: { visible: false }, horzLines: { color: colors.line } },
      rightPriceScale: { borderVisible: false, entireTextOnly: true },
      timeScale: {
        borderColor: colors.line,
        timeVisible: !data.isDaily,
        secondsVisible: false,
        minBarSpacing: 0.001,
        enableConflation: false,
        rightOffset: 0,
      },
      crosshair: { mode: charts.CrosshairMode.Normal },
      localization: { timeFormatter: (time) => timeText(time) },
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

  /** A point without a value has only its time. */
  function points(values) {
    return data.time.map((time, index) => (values[index] === null ? { time } : { time, value: values[index] }));
  }

  function candleValues() {
    const { open, high, low, close } = shown();
    return data.time.map((time, i) =>
      close[i] === null ? { time } : { time, open: open[i], high: high[i], low: low[i], close: close[i] },
    );
  }

  const custom = (formatter, minMove) => ({ type: 'custom', formatter, minMove });
  const colorOfLine = (index) => LINE_COLORS[index % LINE_COLORS.length];

  function drawAll() {
    const { CandlestickSeries, LineSeries } = charts;
    const priceFormat = custom(priceText, 10 ** -data.priceDecimals);
    const candles = add(CandlestickSeries, 0, { priceFormat, borderVisible: false }, candleValues(), () => ({
      upColor: colors.up,
      downColor: colors.down,
      wickUpColor: colors.up,
      wickDownColor: colors.down,
    }));
    const line = add(LineSeries, 0, { priceFormat, lineWidth: 1.5, visible: false }, points(shown().close), () => ({
      color: colors.faint,
    }));
    const lines = shown().lines.map(({ pane, values }, index) =>
      add(
        LineSeries,
        pane,
        { lineWidth: 1.5, priceFormat: pane === 0 ? priceFormat : custom(lineFormat(values), 1e-6) },
        points(values),
        () => ({ color: colorOfLine(index) }),
      ),
    );
    data.thresholds.forEach((numbers, at) => {
      const first = lines[shown().lines.findIndex(({ pane }) => pane === at + 1)];
      for (const price of numbers)
        first.createPriceLine({ price, color: colors.faint, lineWidth: 1, lineStyle: 2, axisLabelVisible: false });
    });
    marks = tradeMarks(() => colors, isShown);
    candles.attachPrimitive(marks);
    const below = data.thresholds.length + 1;
    const equity = drawAccount(below);
    const strip = drawStrip(below + 3);
    layOut(below);
    const captions = captionPanes(below);
    showRange = (from, to, trade) => {
      for (const button of byId('ranges').children) button.setAttribute('aria-pressed', 'false');
      chart.timeScale().setVisibleLogicalRange({ from, to });
      marks.choose(trade);
    };
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
      shown().lines.forEach(({ values }, index) => lines[index].setData(points(values)));
      strip.update();
      captions.update();
      showLegend(POINTS - 1);
    };
    byId('instrument')?.addEventListener('change', ({ target }) => showInstrument(Number(target.value)));
    addRangeButtons();
    rememberScale([candles, equity]);
    showLegend(POINTS - 1);
    chart.subscribeCrosshairMove(({ logical }) =>
      showLegend(logical === undefined || logical === null ? POINTS - 1 : logical),
    );
    isDark.addEventListener('change', () => {
      readColors();
      chart.applyOptions(optionsOf());
      for (const { made, colorOf } of series) made.applyOptions(colorOf());
      captions.update();
      showLegend(POINTS - 1);
    });
  }

  /** Equity with its benchmark, what it made beyond it, and how far it was below its peak. */
  function drawAccount(pane) {
    const { LineSeries, BaselineSeries } = charts;
    const priceFormat = custom(moneyText, 10 ** -data.moneyDecimals);
    add(LineSeries, pane, { priceFormat, lineWidth: 1.5 }, points(data.benchmark), () => ({ color: colors.faint }));
    const equity = add(LineSeries, pane, { priceFormat, lineWidth: 2 }, points(data.equity), () => ({
      color: colors.accent,
    }));
    const fromZero = { lineWidth: 1, baseValue: { type: 'price', price: 0 } };
    add(BaselineSeries, pane + 1, { ...fromZero, priceFormat: custom(shareText, 0.1) }, points(excess), () => ({
      topLineColor: colors.up,
      bottomLineColor: colors.down,
      topFillColor1: colors.up + '55',
      topFillColor2: colors.up + '11',
      bottomFillColor1: colors.down + '11',
      bottomFillColor2: colors.down + '55',
    }));
    const falls = add(
      BaselineSeries,
      pane + 2,
      { ...fromZero, priceFormat: custom(shareText, 0.1) },
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
    falls.priceScale().applyOptions({ scaleMargins: { top: 0.16, bottom: 0.1 } });
    return equity;
  }

  function stripRows() {
    const held = { name: 'In a position', bits: data.held, color: colors.accent };
    return [held, ...shown().conditions.map(({ name, bits }) => ({ name, bits, color: colors.amber }))];
  }

  function drawStrip(pane) {
    const strip = conditionStrip(POINTS, () => colors, stripRows);
    const host = add(
      charts.LineSeries,
      pane,
      {
        priceFormat: custom(() => '', 1),
        autoscaleInfoProvider: () => ({ priceRange: { minValue: 0, maxValue: 1 } }),
        lineVisible: false,
      },
      points(data.time.map(() => 0)),
      () => ({ color: 'transparent' }),
    );
    host.attachPrimitive(strip);
    return strip;
  }

  function layOut(below) {
    const { price, lines, equity, excess, drawdown, times } = PIXELS;
    const heights = [
      price,
      ...data.thresholds.map(() => lines),
      equity,
      excess,
      drawdown,
      stripHeight(stripRows().length),
    ];
    byId('chart').style.height = heights.reduce((sum, each) => sum + each, times + below) + 'px';
    chart.panes().forEach((each, index) => each.setStretchFactor(heights[index]));
  }

  function captionPanes() {
    const texts = () => [
      shown().symbol,
      ...data.thresholds.map((_, at) =>
        shown()
          .lines.filter(({ pane }) => pane === at + 1)
          .map(({ name }) => name)
          .join(', '),
      ),
      'Equity, and ' + data.benchmarkText,
      'Excess over ' + data.benchmarkText + ', in percent of the capital',
      'Drawdown',
    ];
    const most = isNarrow ? 40 : 110;
    const optionsAt = (index) => {
      const text = texts()[index];
      return {
        horzAlign: 'left',
        vertAlign: 'top',
        lines: [
          {
            text: text.length > most ? text.slice(0, most - 1) + '…' : text,
            color: colors.faint,
            fontSize: isNarrow ? 10 : 11.5,
            fontFamily: 'system-ui, sans-serif',
          },
        ],
      };
    };
    const panes = chart.panes().slice(0, texts().length);
    const captions = panes.map((each, index) => charts.createTextWatermark(each, optionsAt(index)));
    return { update: () => captions.forEach((caption, index) => caption.applyOptions(optionsAt(index))) };
  }

  const benchmarkName = () => data.benchmarkName ?? 'Buy and hold';

  /** Linear, unless the reader has chosen otherwise before. */
  function rememberScale(scaled) {
    const choice = remembered('scale');
    const set = () => {
      const mode = byId('log').checked ? charts.PriceScaleMode.Logarithmic : charts.PriceScaleMode.Normal;
      for (const each of scaled) each.priceScale().applyOptions({ mode });
    };
    byId('log').checked = choice.get() === 'log';
    byId('log').addEventListener('change', () => {
      choice.set(byId('log').checked ? 'log' : 'linear');
      set();
    });
    set();
  }

  /** A margin at the left leaves room for the first label of the time axis. */
  const showAllPoints = () => {
    const margin = (LABEL_PIXELS * POINTS) / Math.max(LABEL_PIXELS, byId('chart').clientWidth - 2 * LABEL_PIXELS);
    chart.timeScale().setVisibleLogicalRange({ from: -margin, to: POINTS });
  };

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
        if (days === Infinity) showAllPoints();
        else chart.timeScale().setVisibleLogicalRange({ from: indexAt(last - days * DAY), to: POINTS });
        for (const each of buttons) each.setAttribute('aria-pressed', String(each === button));
      });
      return button;
    });
    byId('ranges').append(...buttons);
    showAllPoints();
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
    const lines = shown().lines.flatMap(({ name, pane, values }, at) =>
      values[index] === null
        ? []
        : [item(name, (pane === 0 ? priceText : lineFormat(values))(values[index]), colorOfLine(at))],
    );
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
      item(benchmarkName(), moneyText(data.benchmark[index]), colors.faint),
      item('Excess', percentText(excess[index])),
      item('Drawdown', percentText(data.drawdown[index]), colors.down),
      ...(isSet(data.held, index) ? [item('', 'in a position')] : []),
    );
  }

  if (chart !== null) drawAll();
  window.report = {
    ...window.report,
    showInstrument: (place) => showInstrument(place),
    showRange: (from, to, trade) => showRange(from, to, trade),
    counts: () => marks?.counts() ?? [],
  };
})();
