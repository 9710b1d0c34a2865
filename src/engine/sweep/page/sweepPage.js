// The drawings of a sweep's report; runs in a browser, on the JSON in the page.
const { key, sign, isFraction, marginals, curves, first, heatmaps, cloud, names, held } = JSON.parse(
  document.getElementById('data').textContent,
);
const byId = (id) => document.getElementById(id);
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const shape = (name, attributes) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
// Drawn in the pixels there are, so that text has one size on a desktop and on a phone.
const canvas = (host, height) => {
  const width = Math.max(280, byId(host).clientWidth);
  return { width, svg: shape('svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img' }) };
};
const hint = (node, text) => {
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  title.textContent = text;
  node.append(title);
  return node;
};
const label = (x, y, text, anchor = 'middle') => {
  const made = shape('text', { x, y, 'text-anchor': anchor });
  made.textContent = text;
  return made;
};
const number = (value) =>
  value === null || value === undefined
    ? '–'
    : typeof value === 'number'
      ? Number(value.toPrecision(4)).toString()
      : String(value);
// Beside an axis, a universe is named by its place alone, and of a long text the end is shown.
const tick = (value) => {
  const text = number(value);
  const place = typeof value === 'string' ? /^\d+(?=: )/.exec(value) : null;
  if (place) return place[0];
  return text.length > 17 ? '…' + text.slice(-16) : text;
};
const widthOfTicks = (values) => 7 * Math.max(...values.map((value) => tick(value).length));
const percent = (value) => (value === null || value === undefined ? '–' : (100 * value).toFixed(1) + ' %');
const shown = (value) => (isFraction ? percent(value) : number(value));
const variants = (count) => count + (count === 1 ? ' variant' : ' variants');
// From red through yellow to green by the rank of the value, so that outliers do not wash out the others.
const colorScale = (values) => {
  const sorted = values.filter((value) => value !== null).sort((a, b) => sign * (a - b));
  return (value) => {
    if (value === null) return 'transparent';
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sign * sorted[middle] < sign * value) low = middle + 1;
      else high = middle;
    }
    const share = sorted.length < 2 ? 0.5 : low / (sorted.length - 1);
    return 'hsl(' + (Math.round(355 + share * 165) % 360) + ' 55% ' + Math.round(50 - 8 * share) + '%)';
  };
};

const drawHeatmap = (map) => {
  const left = Math.max(64, 10 + widthOfTicks(map.y.values));
  const top = 18;
  const [columns, lines] = [map.x.values.length, map.y.values.length];
  const cell = (Math.max(280, byId('heatmap').clientWidth) - left) / columns;
  const tall = Math.max(14, Math.min(cell, 420 / lines));
  const { width, svg } = canvas('heatmap', top + lines * tall + 40);
  const color = colorScale(map.mean.flat());
  map.mean.forEach((row, line) =>
    row.forEach((value, column) => {
      const y = top + (lines - 1 - line) * tall;
      const box = shape('rect', {
        x: left + column * cell,
        y,
        width: cell + 0.3,
        height: tall + 0.3,
        fill: color(value),
      });
      svg.append(
        hint(
          box,
          names[map.x.name] +
            ' ' +
            number(map.x.values[column]) +
            ', ' +
            names[map.y.name] +
            ' ' +
            number(map.y.values[line]) +
            ': mean ' +
            shown(value) +
            ', best ' +
            shown(map.best[line][column]) +
            ', ' +
            variants(map.variants[line][column]),
        ),
      );
    }),
  );
  const everyX = Math.ceil((columns * Math.max(44, 8 + widthOfTicks(map.x.values))) / (width - left));
  map.x.values.forEach((value, column) => {
    if (column % everyX === 0) svg.append(label(left + (column + 0.5) * cell, top + lines * tall + 14, tick(value)));
  });
  const everyY = Math.ceil(lines / 12);
  map.y.values.forEach((value, line) => {
    if (line % everyY === 0) svg.append(label(left - 6, top + (lines - 0.5 - line) * tall + 4, tick(value), 'end'));
  });
  svg.append(
    label(left + (width - left) / 2, top + lines * tall + 32, names[map.x.name]),
    label(0, 11, names[map.y.name], 'start'),
  );
  const means = map.mean.flat().filter((value) => value !== null);
  const [worst, best] = [Math.min, Math.max].map((extreme) => sign * extreme(...means.map((value) => sign * value)));
  const legend =
    means.length === 0
      ? 'No variant has a value.'
      : 'Mean ' + key + ' by color: teal is the best, ' + shown(best) + ', red the worst, ' + shown(worst) + '.';
  byId('heatmap').replaceChildren(element('p', legend), svg);
};
let redrawHeatmap = () => {};
if (heatmaps.length > 0) {
  const select = element('select');
  select.setAttribute('aria-label', 'Two parameters');
  heatmaps.forEach((map, index) => {
    const option = element('option', names[map.x.name] + ' and ' + names[map.y.name]);
    option.value = index;
    select.append(option);
  });
  const best = heatmaps.findIndex((map) => first && map.x.name === first[0] && map.y.name === first[1]);
  select.value = Math.max(0, best);
  redrawHeatmap = () => drawHeatmap(heatmaps[select.value]);
  select.addEventListener('change', redrawHeatmap);
  byId('pairs').append(select);
} else byId('heatmap').append(element('p', 'A heatmap needs two parameters.'));

const scaleOf = (values, from, to) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return {
    low,
    high,
    at: (value) => (high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from)),
  };
};
const small = element('div', undefined, 'small');
for (const marginal of marginals) {
  const points = marginal.points.filter((point) => point.mean !== null);
  if (points.length === 0) continue;
  const box = element('div');
  box.append(
    element('strong', names[marginal.name]),
    element('span', marginal.influence === null ? '' : ', explains ' + percent(marginal.influence)),
  );
  const svg = shape('svg', { viewBox: '0 0 300 150', role: 'img' });
  const y = scaleOf(
    points.flatMap((point) => [point.mean, point.best]),
    120,
    8,
  );
  const x = (index) => (points.length === 1 ? 165 : 45 + (index * 240) / (points.length - 1));
  for (const [name, color] of [
    ['best', '#98a2b3'],
    ['mean', '#2f6fde'],
  ]) {
    svg.append(
      shape('polyline', {
        points: points.map((point, index) => x(index) + ',' + y.at(point[name])).join(' '),
        fill: 'none',
        stroke: color,
        'stroke-width': 1.5,
      }),
    );
    points.forEach((point, index) =>
      svg.append(
        hint(
          shape('circle', { cx: x(index), cy: y.at(point[name]), r: 2.5, fill: color }),
          number(point.value) + ': ' + name + ' ' + shown(point[name]),
        ),
      ),
    );
  }
  svg.append(label(40, 14, shown(y.high), 'end'), label(40, 122, shown(y.low), 'end'));
  svg.append(
    label(45, 140, tick(points[0].value), 'start'),
    label(285, 140, tick(points[points.length - 1].value), 'end'),
  );
  box.append(svg);
  small.append(box);
}
byId('marginals').append(
  element('p', 'Blue: the mean over all variants with that value. Gray: the best of them.'),
  small,
);

const drawCloud = () => {
  if (cloud === null) {
    byId('cloud').replaceChildren(element('p', 'The rows have no drawdown: maxDrawdown is not among the metrics.'));
    return;
  }
  const { width, svg } = canvas('cloud', 360);
  const x = scaleOf(
    cloud.map((point) => point[0]),
    64,
    width - 10,
  );
  const y = scaleOf(
    cloud.map((point) => point[1]),
    310,
    30,
  );
  const color = colorScale(cloud.map((point) => point[2]));
  for (const [drawdown, gain, value, isTop] of cloud.toSorted((a, b) => a[3] - b[3])) {
    const dot = shape('circle', {
      cx: x.at(drawdown),
      cy: y.at(gain),
      r: isTop ? 4 : 2,
      fill: value === null ? '#98a2b3' : color(value),
      'fill-opacity': isTop ? 1 : 0.6,
      stroke: isTop ? 'currentColor' : 'none',
    });
    svg.append(
      hint(dot, 'return ' + percent(gain) + ', drawdown ' + percent(drawdown) + ', ' + key + ' ' + shown(value)),
    );
  }
  svg.append(
    label(0, 12, 'return', 'start'),
    label(58, 34, percent(y.high), 'end'),
    label(58, 314, percent(y.low), 'end'),
    label(64, 332, percent(x.low), 'start'),
    label(width - 10, 332, percent(x.high), 'end'),
    label(64 + (width - 74) / 2, 350, 'maximum drawdown'),
  );
  byId('cloud').replaceChildren(
    element('p', 'Colored by the rank of ' + key + ', from red to teal. The best variants are outlined.'),
    svg,
  );
};

const drawFan = () => {
  if (curves.length === 0) {
    byId('fan').replaceChildren(element('p', 'No variant has an equity to draw.'));
    return;
  }
  const { width, svg } = canvas('fan', 340);
  const lines = curves.map((curve) => curve.points);
  const benchmark = curves[0].points.map(([time], index) => [time, curves[0].benchmark[index]]);
  const x = scaleOf(
    [...lines.flat(), ...benchmark].map((point) => point[0]),
    64,
    width - 10,
  );
  const y = scaleOf(
    [...lines.flat(), ...benchmark].map((point) => point[1]),
    310,
    12,
  );
  const draw = (points, color, width) =>
    svg.append(
      shape('polyline', {
        points: points.map(([time, value]) => x.at(time) + ',' + y.at(value)).join(' '),
        fill: 'none',
        stroke: color,
        'stroke-width': width,
      }),
    );
  draw(benchmark, '#98a2b3', 1.5);
  lines.slice(1).forEach((points) => draw(points, 'rgba(47,111,222,0.5)', 1));
  draw(lines[0], '#2f6fde', 2);
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  svg.append(
    label(58, 16, number(y.high), 'end'),
    label(58, 314, number(y.low), 'end'),
    label(64, 332, day(x.low), 'start'),
    label(width - 10, 332, day(x.high), 'end'),
  );
  byId('fan').replaceChildren(element('p', 'Blue: the best variant, pale: the next ones. Gray: ' + held + '.'), svg);
};

const drawAll = () => {
  redrawHeatmap();
  drawCloud();
  drawFan();
};
drawAll();
let drawnWidth = innerWidth;
addEventListener('resize', () => {
  if (innerWidth !== drawnWidth) drawAll();
  drawnWidth = innerWidth;
});
