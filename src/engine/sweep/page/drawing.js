// What the drawings of a sweep's report share: SVG shapes, axes with round ticks, texts of numbers, a palette, and the
// text beside the pointer.
(() => {
  'use strict';
  const { data, byId, grouped } = window.kit;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  /** Drawn in the pixels there are, so that text has one size on a desktop and on a phone. */
  const canvas = (host, height, label) => {
    const width = Math.max(280, byId(host).clientWidth);
    const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
    return { width, svg };
  };
  const label = (x, y, text, anchor = 'middle') => shape('text', { x, y, 'text-anchor': anchor }, text);

  const number = (value) =>
    value === null || value === undefined
      ? '–'
      : typeof value === 'number'
        ? Number(value.toPrecision(4)).toString()
        : String(value);
  /** Beside an axis, a universe is named by its place alone, and of a long text the end is shown. */
  const tick = (value) => {
    const text = number(value);
    const place = typeof value === 'string' ? /^\d+(?=: )/.exec(value) : null;
    if (place) return place[0];
    return text.length > 17 ? '…' + text.slice(-16) : text;
  };
  const widthOfTicks = (values) => 7 * Math.max(...values.map((value) => tick(value).length));
  const percent = (value) => (value === null || value === undefined ? '–' : grouped(100 * value, 1) + ' %');
  /** The objective as the report of a backtest writes it: falls are below 0. */
  const shown = (value) => {
    if (value === null || value === undefined) return '–';
    const signed = data.isFall ? -value : value;
    return data.isFraction ? percent(signed) : grouped(signed, Math.abs(value) >= 1000 ? 0 : 2);
  };

  /** Round steps around the numbers, and the place of each on the page. */
  const axis = (values, from, to, steps, isLog = false) => {
    const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const span = high - low || Math.abs(high) || 1;
    const size = 10 ** Math.floor(Math.log10(span / steps));
    const step = [1, 2, 5, 10].map((each) => each * size).find((each) => span / each <= steps);
    const first = Math.floor(low / step + 1e-9);
    const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
    const ticks = Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
    const read = isLog ? Math.log : (value) => value;
    const [start, end] = isLog ? [low, high] : [ticks[0], ticks[ticks.length - 1]];
    const at = (value) => from + ((read(value) - read(start)) / (read(end) - read(start))) * (to - from);
    return { at, ticks: ticks.filter((value) => value >= start && value <= end) };
  };

  /** Viridis: even to the eye, in print, and for readers who see no red or green. */
  const VIRIDIS = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 74, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
  ];
  const paint = (share) => {
    const place = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
    const low = Math.min(VIRIDIS.length - 2, Math.floor(place));
    const mixed = VIRIDIS[low].map((value, at) => Math.round(value + (VIRIDIS[low + 1][at] - value) * (place - low)));
    return `rgb(${mixed.join(' ')})`;
  };
  /** The share of the values that are worse: by rank, so that outliers do not wash out the others. */
  const rankOf = (values) => {
    const sorted = values.filter((value) => value !== null).sort((a, b) => data.sign * (a - b));
    return (value) => {
      if (value === null || sorted.length < 2) return 0.5;
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (data.sign * sorted[middle] < data.sign * value) low = middle + 1;
        else high = middle;
      }
      return low / (sorted.length - 1);
    };
  };

  const tip = element('div', '', 'tip');
  tip.hidden = true;
  document.body.append(tip);
  /** Shows a text beside the pointer, and to screen readers. */
  const hint = (node, text) => {
    node.append(shape('title', {}, text));
    node.addEventListener('pointermove', ({ clientX, clientY }) => {
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = Math.max(4, Math.min(innerWidth - tip.offsetWidth - 4, clientX + 12)) + 'px';
      tip.style.top = clientY + 16 + 'px';
    });
    node.addEventListener('pointerleave', () => (tip.hidden = true));
    return node;
  };

  window.sweep = {
    element, shape, canvas, label, number, tick, widthOfTicks, percent, shown, axis, paint, rankOf, hint,
  }; // prettier-ignore
})();
