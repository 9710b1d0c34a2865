"""The result of a sweep: rows, verdict, heatmap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, cast

from candlepool.charts import Chart, heatmap_chart, line_chart
from candlepool.errors import Issue
from candlepool.results import Backtest
from candlepool.tables import Library, Table
from candlepool.transport import Transport

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Sweep:
    """A completed sweep. It is read as a table of one row per variant: `sweep.frame`, `sweep["sharpeRatio"]`."""

    def __init__(
        self,
        transport: Transport,
        detail: Mapping[str, Any],
        frames: Library | None,
        name: str,
        read_backtest: Callable[[str, str], Backtest],
    ) -> None:
        self._transport = transport
        self._frames: Library | None = frames
        self._read_backtest = read_backtest
        self.raw = dict(detail)
        self.id = str(detail["id"])
        self.name = name
        path = f"{self._path}/results"
        self.table = Table(
            lambda: [transport.get_file(path, format="arrow").content],
            lambda: cast("list[dict[str, Any]]", transport.get(path, format="json")),
        )

    @property
    def frame(self) -> Any:
        """Every variant with its parameters and metrics, as a frame."""
        return self.table.frame(self._frames)

    def to_pandas(self) -> pd.DataFrame:
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        return self.table.to_polars()

    def to_arrow(self) -> pa.Table:
        return self.table.to_arrow()

    def __getitem__(self, column: str) -> Any:
        """A column of the frame."""
        frame = self.frame
        return (
            [row[column] for row in cast("list[dict[str, Any]]", frame)] if isinstance(frame, list) else frame[column]
        )

    def __len__(self) -> int:
        return int(self.raw["variants"])

    @property
    def result(self) -> dict[str, Any]:
        """The whole result, as docs/sweeps.md describes it."""
        return cast("dict[str, Any]", self.raw["result"])

    @property
    def best(self) -> dict[str, Any]:
        """The parameters of the best variant; empty where none can be ranked."""
        top = self.top
        return dict(top[0]["params"]) if top else {}

    @property
    def top(self) -> list[dict[str, Any]]:
        """The best variants, with metrics and plateau."""
        return cast("list[dict[str, Any]]", self.result["top"])

    @property
    def verdict(self) -> str:
        """Whether the best variant is luck, by overfitting and walk-forward."""
        return str(self.result["verdict"]["code"])

    @property
    def warnings(self) -> list[Issue]:
        return cast("list[Issue]", self.result["warnings"])

    @property
    def objective(self) -> str:
        return str(self.result["objective"]["key"])

    @property
    def url(self) -> str:
        return f"{self._transport.url}{self._path}"

    def heatmap(self, x: str | None = None, y: str | None = None) -> Chart:
        """The mean objective for each pair of values of two parameters, by default the two that matter most.

        A sweep of one parameter is drawn as a line.
        """
        names = [str(each["name"]) for each in self.result["marginals"]]
        if x is None and y is None and len(names) == 1:
            return self._line(names[0])
        if x is None or y is None:
            other = self.result["heatmap"]
            x = x or next(name for name in (other["x"]["name"], other["y"]["name"]) if name != y)
            y = y or next(name for name in (other["y"]["name"], other["x"]["name"]) if name != x)
        found = self._transport.get(f"{self._path}/heatmap", x=x, y=y)
        return heatmap_chart(
            found["x"]["values"],
            found["y"]["values"],
            found["mean"],
            x_name=_short(found["x"]["name"]),
            y_name=_short(found["y"]["name"]),
            title=f"{self.objective} of {self.name}",
        )

    def backtest(self, variant: int | None = None) -> Backtest:
        """The full backtest of a variant, by default of the best one."""
        if variant is None:
            if not self.top:
                raise ValueError("No variant of the sweep can be ranked; give the number of one.")
            variant = int(self.top[0]["variant"])
        queued = self._transport.post(f"{self._path}/rows/{variant}/backtest")
        return self._read_backtest(str(queued["id"]), f"{self.name}, variant {variant}")

    def report(self) -> str:
        """The report, one HTML page that opens without a network."""
        return self._transport.get_file(f"{self._path}/report").text

    def delete(self) -> None:
        """Deletes the sweep on the server."""
        self._transport.delete(self._path)

    def __repr__(self) -> str:
        result = self.result
        lines = [f"<Sweep {self.name}: {len(self)} variants, {result['ranked']} ranked by {self.objective}>"]
        for row in self.top[:5]:
            value = row["metrics"].get(self.objective)
            lines.append(f"  {row['rank']}. {_written(value)}  {_params(row['params'])}")
        lines.append(f"  verdict {self.verdict}: {result['verdict']['text']}")
        lines += [f"  warning {each.get('code')}: {each.get('message')}" for each in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{row['rank']}</td><td>{escape(_params(row['params']))}</td>"
            f"<td>{_written(row['metrics'].get(self.objective))}</td></tr>"
            for row in self.top[:10]
        )
        warnings = "".join(f"<li>{escape(str(each.get('message')))}</li>" for each in self.warnings)
        head = f"<tr><th></th><th>params</th><th>{escape(self.objective)}</th></tr>"
        verdict = f"<p>{escape(self.verdict)}: {escape(self.result['verdict']['text'])}</p>"
        return f"<div>{self.heatmap().svg}<table>{head}{rows}</table>{verdict}<ul>{warnings}</ul></div>"

    @property
    def _path(self) -> str:
        return f"/public/v1/sweeps/{self.id}"

    def _line(self, name: str) -> Chart:
        points = cast("list[dict[str, Any]]", self.result["marginals"][0]["points"])
        numbers = all(isinstance(point["value"], (int, float)) for point in points)
        x = [float(point["value"]) if numbers else float(place) for place, point in enumerate(points)]
        title = f"{self.objective} of {self.name}"
        return line_chart(x, [point["mean"] for point in points], x_name=_short(name), title=title)


def space_of(space: Mapping[str, Any]) -> dict[str, Any]:
    """A space as the service takes it: ranges and lists of Python become dimensions; objects stay as they are."""
    return {name: _dimension(name, given) for name, given in space.items()}


def _dimension(name: str, given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(
            f'{name}={given!r} is not a dimension. Give a range, a list of values, or {{"min": …, "max": …}}.'
        )
    values = [_scalar(each) for each in cast("Iterable[Any]", given)]
    if not values:
        raise ValueError(f"{name} has no values: {given!r} is empty.")
    return {"values": values}


def _scalar(given: Any) -> Any:
    item = getattr(given, "item", None)
    return item() if callable(item) and getattr(given, "shape", None) == () else given


def _short(name: str) -> str:
    """The end of a pointer says enough on an axis."""
    return "/".join(name.split("/")[-3:]) if name.startswith("/") else name


def _params(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{_short(name)}={value}" for name, value in params.items())


def _written(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
