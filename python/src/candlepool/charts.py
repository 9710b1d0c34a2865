"""Charts as SVG, which notebooks show without a library: equity with drawdown, and heatmaps."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

_INK = "#1f2933"
_GRID = "#d9dee5"
_BLUE = "#2563eb"
_GRAY = "#8a94a3"
_RED = "#c2410c"
# Viridis at equal distances: even in lightness, and readable without seeing red and green.
_VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
# More points than a chart has pixels only make it larger.
_MAX_POINTS = 1_200


class Chart:
    """An SVG picture: shown by notebooks, written by `save`."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | Path) -> None:
        """Writes the picture as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "<Chart: shown in notebooks; .save('chart.svg') writes it>"


def equity_chart(
    times: Sequence[dt.datetime],
    equity: Sequence[float],
    benchmark: Sequence[float | None],
    drawdown: Sequence[float],
    title: str,
) -> Chart:
    """Equity and the benchmark, with the drawdown below."""
    width, left, right = 760, 70, 14
    keep = _thinned(len(times))
    x = _scale(times[0].timestamp(), times[-1].timestamp(), left, width - right)
    shown = [value for place in keep for value in (equity[place], benchmark[place]) if value is not None]
    low, high = _padded(min(shown), max(shown))
    y = _scale(low, high, 250, 40)
    deepest = min(-0.01, *(-abs(drawdown[place]) for place in keep))
    y_drawdown = _scale(deepest, 0, 350, 280)
    parts = [_text(left, 20, title, size=14, weight="bold")]
    for tick in _ticks(low, high):
        parts += [_line(left, y(tick), width - right, y(tick)), _text(left - 6, y(tick) + 4, f"{tick:,.0f}", "end")]
    for tick in (deepest, 0.0):
        row = y_drawdown(tick)
        parts += [_line(left, row, width - right, row), _text(left - 6, row + 4, f"{tick:.0%}", "end")]
    for at, label in _time_ticks(times[0], times[-1]):
        parts += [_line(x(at), 40, x(at), 350), _text(x(at), 368, label, "middle")]
    parts.append(
        _path([(x(times[i].timestamp()), y(value)) for i in keep if (value := benchmark[i]) is not None], _GRAY)
    )
    parts.append(_path([(x(times[i].timestamp()), y(equity[i])) for i in keep], _BLUE, 1.6))
    depths = [(x(times[i].timestamp()), y_drawdown(-abs(drawdown[i]))) for i in keep]
    parts.append(_path([(depths[0][0], y_drawdown(0)), *depths, (depths[-1][0], y_drawdown(0))], _RED, 1, "#c2410c33"))
    for place, (color, label) in enumerate(((_BLUE, "equity"), (_GRAY, "buy and hold"), (_RED, "drawdown"))):
        parts.append(_text(left + 8 + 96 * place, 36, f"— {label}", color=color))
    return Chart(_svg(width, 376, parts))


def heatmap_chart(
    x_values: Sequence[object],
    y_values: Sequence[object],
    cells: Sequence[Sequence[float | None]],
    *,
    x_name: str,
    y_name: str,
    title: str,
) -> Chart:
    """A cell per pair of values, colored by viridis, with its number where there is room. None is an empty cell."""
    left = 30 + max(len(f"{value}") for value in y_values) * 7 + 14
    cell = max(18.0, min(64.0, 620 / max(1, len(x_values))))
    height = max(18.0, min(34.0, 420 / max(1, len(y_values))))
    found = [value for row in cells for value in row if value is not None and math.isfinite(value)]
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    parts = [_text(left, 20, title, size=14, weight="bold")]
    best = high
    for row, values in enumerate(cells):
        # The largest value of y is on top, as on any chart.
        top = 36 + height * (len(y_values) - 1 - row)
        parts.append(_text(left - 6, top + height / 2 + 4, f"{y_values[row]}", "end"))
        for column, value in enumerate(values):
            at = left + cell * column
            if value is None or not math.isfinite(value):
                parts.append(_cell(at, top, cell, height, "#f1f3f5"))
                continue
            share = 0.5 if high == low else (value - low) / (high - low)
            mark = f' stroke="{_INK}" stroke-width="2"' if value == best else ""
            place = escape(f"{x_name} {x_values[column]}, {y_name} {y_values[row]}")
            parts.append(
                f'<rect x="{at:.1f}" y="{top:.1f}" width="{cell - 1:.1f}" height="{height - 1:.1f}" '
                f'fill="{viridis(share)}"{mark}><title>{place}'
                f": {value:.4g}</title></rect>"
            )
            if cell >= 34:
                ink = "#ffffff" if share < 0.6 else _INK
                parts.append(_text(at + cell / 2, top + height / 2 + 4, f"{value:.2f}", "middle", color=ink))
    bottom = 36 + height * len(y_values)
    every = max(1, math.ceil(34 / cell))
    for column in range(0, len(x_values), every):
        parts.append(_text(left + cell * (column + 0.5), bottom + 15, f"{x_values[column]}", "middle"))
    parts.append(_text(left + cell * len(x_values) / 2, bottom + 33, x_name, "middle"))
    middle = 36 + height * len(y_values) / 2
    parts.append(f'<g transform="translate(14 {middle:.1f}) rotate(-90)">{_text(0, 0, y_name, "middle")}</g>')
    legend = left + cell * len(x_values) + 16
    for step in range(40):
        top = bottom - (bottom - 36) * (step + 1) / 40
        parts.append(_cell(legend, top, 12, (bottom - 36) / 40 + 0.5, viridis(step / 39)))
    parts += [_text(legend + 17, 45, f"{high:.3g}"), _text(legend + 17, bottom, f"{low:.3g}")]
    return Chart(_svg(legend + 70, bottom + 42, parts))


def line_chart(x: Sequence[float], y: Sequence[float | None], *, x_name: str, title: str) -> Chart:
    """One line with its points."""
    width, left = 760, 70
    points = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and math.isfinite(b)]
    if not points:
        return Chart(_svg(width, 60, [_text(left, 20, title, size=14, weight="bold"), _text(left, 45, "no values")]))
    low, high = _padded(min(b for _, b in points), max(b for _, b in points))
    sx, sy = _scale(min(x), max(x), left, width - 20), _scale(low, high, 250, 40)
    parts = [_text(left, 20, title, size=14, weight="bold")]
    for tick in _ticks(low, high):
        parts += [_line(left, sy(tick), width - 20, sy(tick)), _text(left - 6, sy(tick) + 4, f"{tick:.3g}", "end")]
    for tick in x if len(x) <= 12 else [x[round(i * (len(x) - 1) / 8)] for i in range(9)]:
        parts.append(_text(sx(tick), 268, f"{tick:g}", "middle"))
    parts.append(_path([(sx(a), sy(b)) for a, b in points], _BLUE, 1.6))
    parts += [f'<circle cx="{sx(a):.1f}" cy="{sy(b):.1f}" r="3" fill="{_BLUE}"/>' for a, b in points]
    parts.append(_text((left + width) / 2, 288, x_name, "middle"))
    return Chart(_svg(width, 296, parts))


def viridis(share: float) -> str:
    """The color of a share from 0 to 1."""
    at = min(1.0, max(0.0, share)) * (len(_VIRIDIS) - 1)
    place = min(len(_VIRIDIS) - 2, int(at))
    mixed = (round(a + (b - a) * (at - place)) for a, b in zip(_VIRIDIS[place], _VIRIDIS[place + 1], strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return low - pad, high + pad


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers from low to high."""
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    first = math.ceil(low / step)
    return [step * (first + place) for place in range(math.floor(high / step) - first + 1)]


def _time_ticks(first: dt.datetime, last: dt.datetime) -> list[tuple[float, str]]:
    days = (last - first).total_seconds() / 86_400
    if days > 1_000:
        every = math.ceil(days / 365.25 / 9)
        years = range(first.year + 1, last.year + 1, every)
        return [(dt.datetime(year, 1, 1, tzinfo=first.tzinfo).timestamp(), str(year)) for year in years]
    form = "%Y-%m-%d" if days > 6 else "%m-%d %H:%M"
    times = [first + (last - first) * place / 6 for place in range(1, 6)]
    return [(time.timestamp(), time.strftime(form)) for time in times]


def _thinned(count: int) -> list[int]:
    if count <= _MAX_POINTS:
        return list(range(count))
    return [round(place * (count - 1) / (_MAX_POINTS - 1)) for place in range(_MAX_POINTS)]


def _cell(x: float, y: float, width: float, height: float, color: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'


def _path(points: Sequence[tuple[float, float]], color: str, width: float = 1.2, fill: str = "none") -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" fill="{fill}" stroke="{color}" stroke-width="{width}"/>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{_GRID}"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "start", *, size: int = 11, weight: str = "normal", color: str = _INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="{color}">{escape(text)}</text>'
    )


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px;width:100%;background:#ffffff;font-family:system-ui,sans-serif">'
        f"{''.join(parts)}</svg>"
    )
