// The strip below the charts: on which points a position was open, and on which each condition was true.
(() => {
  'use strict';
  const ROW_PIXELS = 17;
  const MOST_LETTERS = 90;

  const isSet = (bits, point) => ((parseInt(bits[point >> 2], 16) >> (point & 3)) & 1) === 1;

  /** @param rowsOf what is shown now: {name, bits, color} of each row */
  function conditionStrip(points, colors, rowsOf) {
    let attached;
    function draw(context, { width }) {
      const scale = attached.chart.timeScale();
      const spacing = scale.options().barSpacing;
      const range = scale.getVisibleLogicalRange();
      if (range === null) return;
      const first = Math.max(0, Math.floor(range.from));
      const last = Math.min(points - 1, Math.ceil(range.to));
      rowsOf().forEach(({ name, bits, color }, row) => {
        const top = row * ROW_PIXELS + 2;
        context.fillStyle = colors().wash;
        context.fillRect(0, top, width, ROW_PIXELS - 4);
        context.fillStyle = color;
        for (let from = first; from <= last; from++) {
          if (!isSet(bits, from)) continue;
          let to = from;
          while (to < last && isSet(bits, to + 1)) to++;
          const left = scale.logicalToCoordinate(from) - spacing / 2;
          context.fillRect(left, top, Math.max(1.5, (to - from + 1) * spacing), ROW_PIXELS - 4);
          from = to;
        }
        drawName(context, name, top, width);
      });
    }

    function drawName(context, name, top, width) {
      context.font = '11px system-ui, sans-serif';
      context.textAlign = 'left';
      context.textBaseline = 'middle';
      let text = name.length > MOST_LETTERS ? name.slice(0, MOST_LETTERS - 1) + '…' : name;
      while (text.length > 8 && context.measureText(text).width > width - 12) text = text.slice(0, -9) + '…';
      context.globalAlpha = 0.82;
      context.fillStyle = colors().paper;
      context.fillRect(2, top, context.measureText(text).width + 8, ROW_PIXELS - 4);
      context.globalAlpha = 1;
      context.fillStyle = colors().ink;
      context.fillText(text, 6, top + (ROW_PIXELS - 4) / 2 + 0.5);
    }

    const view = {
      zOrder: () => 'top',
      renderer: () => ({
        draw: (target) => target.useMediaCoordinateSpace(({ context, mediaSize }) => draw(context, mediaSize)),
      }),
    };
    return {
      attached: (given) => (attached = given),
      paneViews: () => [view],
      updateAllViews: () => {},
      update: () => attached.requestUpdate(),
    };
  }

  const heightOf = (rows) => rows * ROW_PIXELS + 4;

  window.report = { ...window.report, conditionStrip, stripHeight: heightOf, isSet };
})();
