// The scatter of all variants, the equity of the best ones, and the curve of the walk-forward.
(() => {
  'use strict';
  const { data, byId, grouped } = window.kit;
  const { element, shape, canvas, label, percent, shown, axis, paint, rankOf, hint, drawHeatmap, openVariant } =
    window.sweep;
  const { cloud, curves, walk, held, keyName } = data;
  /** From this ratio of highest to lowest equity on, a linear scale would flatten most of it. */
  const WIDE_RATIO = 5;
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);

  function drawCloud() {
    if (cloud === null) {
      byId('cloud').replaceChildren(element('p', 'The rows have no drawdown: it is not among the metrics.'));
      return;
    }
    const { width, svg } = canvas('cloud', 380, 'Return against drawdown of all variants');
    const x = axis(
      cloud.map((point) => -point[0]),
      14,
      width - 62,
      width < 500 ? 3 : 6,
    );
    const y = axis(
      cloud.map((point) => point[1]),
      330,
      24,
      6,
    );
    x.ticks.forEach((value, at) =>
      svg.append(
        shape('line', { x1: x.at(value), x2: x.at(value), y1: 24, y2: 330, class: 'grid' }),
        label(x.at(value), 348, percent(value), at === 0 ? 'start' : 'middle'),
      ),
    );
    for (const value of y.ticks)
      svg.append(
        shape('line', { x1: 14, x2: width - 62, y1: y.at(value), y2: y.at(value), class: 'grid' }),
        label(width - 56, y.at(value) + 4, percent(value), 'start'),
      );
    const share = rankOf(cloud.map((point) => point[2]));
    for (const [drawdown, gain, value, isTop, variant, ...values] of cloud.toSorted((a, b) => a[3] - b[3])) {
      const dot = shape('circle', {
        cx: x.at(-drawdown),
        cy: y.at(gain),
        r: isTop ? 5 : 3,
        fill: value === null ? '#98a2b3' : paint(share(value)),
        class: isTop ? 'point top' : 'point',
      });
      hint(dot, `return ${percent(gain)}, drawdown ${percent(-drawdown)}, ${keyName} ${shown(value)}`);
      if (values.length > 0) dot.addEventListener('click', () => openVariant(variant, values));
      svg.append(dot);
    }
    svg.append(label(0, 14, 'Return', 'start'), label((width - 62) / 2, 370, 'Deepest drawdown'));
    const rank = `Colored by the rank of ${keyName}, yellow the best.`;
    const text = `${rank} The best variants are outlined; a click opens one.`;
    byId('cloud').replaceChildren(element('p', text, 'key-text'), svg);
  }

  /** Curves over time: the first one last, so that it lies on top. `marks`: times with a line. */
  function drawCurves(host, text, named, marks = []) {
    const { width, svg } = canvas(host, 340, text);
    const points = named.flatMap((curve) => curve.points);
    const equity = points.map((point) => point[1]);
    const [low, high] = [equity.reduce((a, b) => Math.min(a, b)), equity.reduce((a, b) => Math.max(a, b))];
    const isLog = low > 0 && high > WIDE_RATIO * low;
    const times = points.map((point) => point[0]);
    const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    const x = (time) => 6 + ((time - first) / Math.max(1, last - first)) * (width - 76);
    const y = axis(equity, 306, 12, 6, isLog);
    for (const value of y.ticks)
      svg.append(
        shape('line', { x1: 6, x2: width - 70, y1: y.at(value), y2: y.at(value), class: 'grid' }),
        label(width - 64, y.at(value) + 4, grouped(value, 0), 'start'),
      );
    for (const time of marks) svg.append(shape('line', { x1: x(time), x2: x(time), y1: 12, y2: 306, class: 'fold' }));
    for (const { name, kind, points: of } of named.toReversed()) {
      const line = shape('polyline', {
        points: of.map(([time, value]) => `${x(time).toFixed(1)},${y.at(value).toFixed(1)}`).join(' '),
        class: `curve ${kind}`,
      });
      svg.append(hint(line, name));
    }
    for (const [time, anchor] of [
      [first, 'start'],
      [(first + last) / 2, 'middle'],
      [last, 'end'],
    ])
      svg.append(label(x(time), 328, day(time), anchor));
    byId(host).replaceChildren(element('p', text + (isLog ? ' The scale is logarithmic.' : ''), 'key-text'), svg);
  }

  function drawFan() {
    if (curves.length === 0) {
      byId('fan').replaceChildren(element('p', 'No variant has an equity to draw.'));
      return;
    }
    const benchmark = curves[0].points.map(([time], index) => [time, curves[0].benchmark[index]]);
    const named = curves.map(({ variant, points }, at) => ({
      name: at === 0 ? `the best: variant ${variant}` : `variant ${variant}`,
      kind: at === 0 ? 'best-curve' : 'next',
      points,
    }));
    drawCurves('fan', `Blue: the best variant, pale: the next ones. Gray: ${held}.`, [
      ...named,
      { name: held, kind: 'held', points: benchmark },
    ]);
  }

  function drawWalk() {
    if (walk === null || walk.equity.length < 2) return;
    const text = 'Equity out of sample: the test windows one after the other. A line begins each window.';
    drawCurves('walk', text, [{ name: 'out of sample', kind: 'best-curve', points: walk.equity }], walk.starts);
  }

  const drawAll = () => {
    drawHeatmap();
    drawCloud();
    drawFan();
    drawWalk();
  };
  drawAll();
  let drawnWidth = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== drawnWidth) drawAll();
    drawnWidth = innerWidth;
  });
})();
