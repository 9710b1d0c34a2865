// The trades in the price pane: entry, exit and the line between them at the prices that filled, with the levels around
// them; where there is no room, a count of the trades in their place.
(() => {
  'use strict';
  const { data } = window.kit;
  const TRADE = { entry: 0, entryPrice: 1, exit: 2, exitPrice: 3, side: 4, isWon: 5, instrument: 6 };
  /** Trades whose entries are nearer than this many pixels are gathered into a count. */
  const GATHERED_PIXELS = 34;
  /** Levels are drawn of trades at least this wide. */
  const LEVEL_PIXELS = 14;

  /** @param isShown whether the price pane shows the instrument of a trade */
  function tradeMarks(colors, isShown) {
    let attached;
    let chosen = -1;
    let gathered = [];

    function placesOf(width) {
      const scale = attached.chart.timeScale();
      const places = [];
      data.trades.forEach((trade, index) => {
        if (!isShown(trade)) return;
        const x1 = scale.logicalToCoordinate(trade[TRADE.entry]);
        const x2 = scale.logicalToCoordinate(trade[TRADE.exit]);
        if (x1 === null || x2 === null || x2 < -20 || x1 > width + 20) return;
        const y1 = attached.series.priceToCoordinate(trade[TRADE.entryPrice]);
        const y2 = attached.series.priceToCoordinate(trade[TRADE.exitPrice]);
        if (y1 !== null && y2 !== null) places.push({ trade, index, x1, y1, x2, y2 });
      });
      return places;
    }

    function draw(context, size) {
      const places = placesOf(size.width);
      // Cells hang on the trades, not on the window: a count does not jump when the chart is dragged.
      const cells = Map.groupBy(places, ({ trade, x1 }) => cellOf(trade, x1));
      gathered = [];
      const single = [];
      for (const [, members] of cells)
        if (members.length > 1 && !members.some(({ index }) => index === chosen)) gathered.push(members);
        else single.push(...members);
      for (const place of single) if (hasLevels(place)) drawLevels(context, place);
      for (const place of single) drawTrade(context, place);
      context.globalAlpha = 1;
      for (const members of gathered) drawCount(context, members, size);
    }

    function cellOf(trade) {
      const spacing = attached.chart.timeScale().options().barSpacing;
      return Math.floor((trade[TRADE.entry] * spacing) / GATHERED_PIXELS);
    }

    const hasLevels = ({ index, x1, x2 }) =>
      data.levels[index] !== undefined && (index === chosen || x2 - x1 >= LEVEL_PIXELS);

    function drawLevels(context, { index }) {
      const scale = attached.chart.timeScale();
      const half = scale.options().barSpacing / 2;
      const { from, to, stops, targets } = data.levels[index];
      const x = (point) => scale.logicalToCoordinate(point);
      const y = (price) => attached.series.priceToCoordinate(price);
      const end = x(to) + half;
      context.setLineDash([4, 3]);
      context.lineWidth = index === chosen ? 1.75 : 1.25;
      context.globalAlpha = 0.9;
      context.strokeStyle = colors().down;
      context.beginPath();
      for (let at = 0; at < stops.length; at += 2) {
        const start = x(stops[at]) - half;
        const next = at + 2 < stops.length ? x(stops[at + 2]) - half : end;
        const price = y(stops[at + 1]);
        if (at === 0) context.moveTo(start, price);
        else context.lineTo(start, price);
        context.lineTo(next, price);
      }
      context.stroke();
      context.strokeStyle = colors().up;
      for (const target of targets) {
        context.beginPath();
        context.moveTo(x(from) - half, y(target));
        context.lineTo(end, y(target));
        context.stroke();
      }
      context.setLineDash([]);
    }

    function drawTrade(context, { trade, index, x1, y1, x2, y2 }) {
      const spacing = attached.chart.timeScale().options().barSpacing;
      const size = Math.max(3, Math.min(5.5, spacing * 0.9));
      const isChosen = index === chosen;
      const { up, down, accent } = colors();
      context.strokeStyle = trade[TRADE.isWon] ? up : down;
      context.globalAlpha = isChosen ? 1 : 0.85;
      context.lineWidth = isChosen ? 2.5 : 1.25;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
      context.fillStyle = accent;
      triangle(context, x1, y1, isChosen ? size + 2 : size, trade[TRADE.side]);
      context.fillStyle = context.strokeStyle;
      context.beginPath();
      context.arc(x2, y2, isChosen ? size + 0.5 : size * 0.62, 0, 2 * Math.PI);
      context.fill();
    }

    /** The number of trades, on the shares of those that won and lost. */
    function drawCount(context, members, { width }) {
      const { up, down, paper, ink } = colors();
      const won = members.filter(({ trade }) => trade[TRADE.isWon]).length / members.length;
      const text = String(members.length);
      context.font = '600 11px system-ui, sans-serif';
      const wide = Math.min(GATHERED_PIXELS - 4, context.measureText(text).width + 12);
      const middle = members.reduce((sum, { x1 }) => sum + x1, 0) / members.length;
      const x = Math.max(1, Math.min(width - wide - 1, middle - wide / 2));
      const y = Math.max(4, Math.min(...members.map(({ y1, y2 }) => Math.min(y1, y2))) - 26);
      context.fillStyle = paper;
      context.fillRect(x, y, wide, 19);
      context.fillStyle = up;
      context.fillRect(x, y + 16, wide * won, 3);
      context.fillStyle = down;
      context.fillRect(x + wide * won, y + 16, wide * (1 - won), 3);
      context.strokeStyle = colors().line;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, wide - 1, 18);
      context.fillStyle = ink;
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillText(text, x + wide / 2, y + 8.5);
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
      choose: (index) => {
        chosen = index;
        attached.requestUpdate();
      },
      /** How many counts are drawn, and how many trades are in them: what a test reads. */
      counts: () => gathered.map((members) => members.length),
    };
  }

  /** Points up below the price for a long, down above it for a short. */
  function triangle(context, x, y, size, side) {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - size, y + side * size * 1.7);
    context.lineTo(x + size, y + side * size * 1.7);
    context.fill();
  }

  window.report = { ...window.report, tradeMarks, TRADE };
})();
