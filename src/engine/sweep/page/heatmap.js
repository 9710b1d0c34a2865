// The heatmap of two parameters, and the effect of each alone.
(() => {
  'use strict';
  const { data, byId } = window.kit;
  const { element, shape, canvas, label, number, tick, widthOfTicks, percent, shown, axis, paint, rankOf, hint } =
    window.sweep;
  const { names, heatmaps, marginals, best, plateau } = data;
  const variants = (count) => count + (count === 1 ? ' variant' : ' variants');

  /** The cell of a variant: that of its value, or the last bin that begins at or below it. */
  const placeOf = ({ name, values, isBinned }, params) => {
    const value = params[name];
    return isBinned ? values.findLastIndex((each) => each <= value) : values.indexOf(value);
  };

  function legend(means) {
    const worst = data.sign * means.reduce((a, b) => Math.min(a, data.sign * b), Infinity);
    const top = data.sign * means.reduce((a, b) => Math.max(a, data.sign * b), -Infinity);
    const { width, svg } = canvas('heatmap', 34, 'Colors from the worst to the best mean');
    const wide = Math.min(260, width - 130);
    for (let at = 0; at < 40; at++)
      svg.append(
        shape('rect', { x: 62 + (at * wide) / 40, y: 4, width: wide / 40 + 0.5, height: 12, fill: paint(at / 39) }),
      );
    svg.append(label(56, 14, shown(worst), 'end'), label(68 + wide, 14, shown(top), 'start'));
    return svg;
  }

  function drawHeatmap(map) {
    const left = Math.max(64, 10 + widthOfTicks(map.y.values));
    const top = 18;
    const [columns, lines] = [map.x.values.length, map.y.values.length];
    const cell = (Math.max(280, byId('heatmap').clientWidth) - left) / columns;
    const tall = Math.max(14, Math.min(cell, 420 / lines));
    const text = `Mean ${data.keyName} of ${names[map.x.name]} and ${names[map.y.name]}`;
    const { width, svg } = canvas('heatmap', top + lines * tall + 40, text);
    const share = rankOf(map.mean.flat());
    const hasRoom = cell >= 46 && tall >= 17;
    const corner = (column, line) => ({ x: left + column * cell, y: top + (lines - 1 - line) * tall });
    map.mean.forEach((row, line) =>
      row.forEach((value, column) => {
        const place = corner(column, line);
        const fill = value === null ? 'transparent' : paint(share(value));
        const box = shape('rect', { ...place, width: cell + 0.3, height: tall + 0.3, fill });
        const ofX = `${names[map.x.name]} ${number(map.x.values[column])}`;
        const of = `${ofX}, ${names[map.y.name]} ${number(map.y.values[line])}`;
        const best = shown(map.best[line][column]);
        svg.append(hint(box, `${of}: mean ${shown(value)}, best ${best}, ${variants(map.variants[line][column])}`));
        if (!hasRoom || value === null) return;
        const written = label(place.x + cell / 2, place.y + tall / 2 + 4, shown(value));
        written.setAttribute('class', share(value) > 0.55 ? 'on-light' : 'on-dark');
        svg.append(written);
      }),
    );
    const outline = (params, name) => {
      const [column, line] = [placeOf(map.x, params), placeOf(map.y, params)];
      if (column < 0 || line < 0) return;
      const { x, y } = corner(column, line);
      svg.append(
        shape('rect', { x: x + 1.5, y: y + 1.5, width: cell - 3, height: tall - 3, class: `outline ${name}` }),
      );
    };
    if (plateau) outline(plateau, 'plateau');
    if (best) outline(best, 'best');
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
    const marks =
      ' Solid frame: the best variant.' + (plateau ? ' Dashed frame: the broadest plateau among the best.' : '');
    const lead =
      means.length === 0 ? 'No variant has a value.' : `Mean ${data.keyName} by color, from worst to best.${marks}`;
    byId('heatmap').replaceChildren(
      element('p', lead, 'key-text'),
      ...(means.length === 0 ? [] : [legend(means)]),
      svg,
    );
  }

  let redraw = () => {};
  if (heatmaps.length > 0) {
    const select = element('select');
    select.setAttribute('aria-label', 'Two parameters');
    heatmaps.forEach((map, index) => {
      const option = element('option', names[map.x.name] + ' and ' + names[map.y.name]);
      option.value = index;
      select.append(option);
    });
    const first = heatmaps.findIndex(
      (map) => data.first && map.x.name === data.first[0] && map.y.name === data.first[1],
    );
    select.value = Math.max(0, first);
    redraw = () => drawHeatmap(heatmaps[select.value]);
    select.addEventListener('change', redraw);
    byId('pairs').append(select);
  } else byId('heatmap').append(element('p', 'A heatmap needs two parameters.'));

  const small = element('div', undefined, 'small');
  for (const marginal of marginals) {
    const points = marginal.points.filter((point) => point.mean !== null);
    if (points.length === 0) continue;
    const box = element('div');
    box.append(
      element('strong', names[marginal.name]),
      element('span', marginal.influence === null ? '' : `, explains ${percent(marginal.influence)}`),
    );
    const svg = shape('svg', {
      viewBox: '0 0 300 150',
      role: 'img',
      'aria-label': `Effect of ${names[marginal.name]}`,
    });
    const y = axis(
      points.flatMap((point) => [point.mean, point.best]),
      120,
      10,
      4,
    );
    const x = (index) => (points.length === 1 ? 170 : 54 + (index * 234) / (points.length - 1));
    for (const value of y.ticks)
      svg.append(
        shape('line', { x1: 50, x2: 292, y1: y.at(value), y2: y.at(value), class: 'grid' }),
        label(46, y.at(value) + 4, shown(value), 'end'),
      );
    for (const name of ['best', 'mean']) {
      const path = points.map((point, index) => `${x(index)},${y.at(point[name])}`).join(' ');
      svg.append(shape('polyline', { points: path, class: `curve ${name}` }));
      points.forEach((point, index) => {
        const dot = shape('circle', { cx: x(index), cy: y.at(point[name]), r: 3, class: `dot ${name}` });
        svg.append(hint(dot, `${number(point.value)}: ${name} ${shown(point[name])}`));
      });
    }
    svg.append(
      label(54, 140, tick(points[0].value), 'start'),
      label(288, 140, tick(points[points.length - 1].value), 'end'),
    );
    box.append(svg);
    small.append(box);
  }
  byId('marginals').append(
    element('p', 'Blue: the mean over all variants with that value. Gray: the best of them.', 'key-text'),
    small,
  );
  window.sweep = { ...window.sweep, drawHeatmap: () => redraw() };
})();
