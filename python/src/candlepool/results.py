"""The result of a backtest: its numbers, its tables, its picture."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from candlepool.charts import Chart, equity_chart
from candlepool.errors import ApiError, Issue
from candlepool.robustness import Robustness
from candlepool.runs import wait_for
from candlepool.summary import Summary
from candlepool.tables import Library, Table, utc
from candlepool.transport import Transport

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

TableName: TypeAlias = Literal["trades", "equity", "orders", "signals"]

# A row per bar of more bars takes seconds to send and to read.
_MOST_BARS_OF_A_PICTURE = 50_000
# Rows of the short view: name of the summary, label, and how it is written.
_HEADLINES = (
    ("returnPct", "return", "{:.2%}"),
    ("buyHoldReturnPct", "buy and hold", "{:.2%}"),
    ("cagr", "growth per year", "{:.2%}"),
    ("sharpeRatio", "Sharpe ratio", "{:.2f}"),
    ("maxDrawdown", "largest drawdown", "{:.2%}"),
    ("totalPositions", "positions", "{:.0f}"),
    ("winRate", "win rate", "{:.2%}"),
    ("profitFactor", "profit factor", "{:.2f}"),
    ("totalFees", "fees", "{:,.2f}"),
    ("finalEquity", "final equity", "{:,.2f}"),
)


class Backtest:
    """A completed backtest."""

    def __init__(self, transport: Transport, detail: Mapping[str, Any], frames: Library | None, name: str) -> None:
        self._transport = transport
        self._detail = dict(detail)
        self._frames: Library | None = frames
        self._tables: dict[str, Table] = {}
        self.name = str(detail.get("name") or name)
        self.id = str(detail["id"])

    @property
    def raw(self) -> dict[str, Any]:
        """The answer of `GET /public/v1/backtests/{id}`."""
        return self._detail

    @property
    def config(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._detail["config"])

    @property
    def url(self) -> str:
        """The address of the result."""
        return f"{self._transport.url}{self._path}"

    @property
    def summary(self) -> Summary:
        """Statistics by name; the blocks of the result are in `details`."""
        flat = {name: value for name, value in self.details.items() if not isinstance(value, (dict, list))}
        return cast(Summary, flat)

    @property
    def details(self) -> dict[str, Any]:
        """The whole summary: `strategyTrace`, `ruleStatsSummary`, `byMonth`, `fees` and the statistics."""
        return cast("dict[str, Any]", self._detail["result"]["summaryJson"])

    @property
    def tags(self) -> list[str]:
        return list(self._detail.get("tags") or [])

    @property
    def note(self) -> str | None:
        return self._detail.get("note")

    def label(
        self,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        note: str | None = None,
        archived: bool | None = None,
    ) -> Backtest:
        """Changes what the backtest is called, on the server as well. An empty text or list removes a label."""
        given = {"name": name, "tags": None if tags is None else list(tags), "note": note}
        change: dict[str, Any] = {each: label or None for each, label in given.items() if label is not None}
        if archived is not None:
            change["archived"] = archived
        labels = self._transport.patch(self._path, change)
        self._detail.update({each: labels[each] for each in given})
        self.name = str(labels["name"] or self.name)
        return self

    @property
    def warnings(self) -> list[Issue]:
        """Doubts about the request, such as costs that are not modeled."""
        return cast("list[Issue]", self._detail.get("warnings") or [])

    @property
    def diagnosis(self) -> list[Issue]:
        """What stands out in the result, such as too few trades."""
        return cast("list[Issue]", self.details.get("strategyTrace", {}).get("diagnosis") or [])

    @property
    def trades(self) -> Any:
        """A row per fill that closes a position or a part of it, as a frame."""
        return self.table("trades").frame(self._frames)

    @property
    def equity(self) -> Any:
        """A row per bar: equity, drawdown, benchmark; as a frame."""
        return self.table("equity").frame(self._frames)

    @property
    def orders(self) -> Any:
        """A row per order, as a frame."""
        return self.table("orders").frame(self._frames)

    @property
    def signals(self) -> Any:
        """A row per signal, as a frame."""
        return self.table("signals").frame(self._frames)

    def table(self, name: TableName) -> Table:
        """A table in any form: `.to_pandas()`, `.to_polars()`, `.to_arrow()`, `.rows()`."""
        path = f"{self._path}/artifacts/{name}"
        if name not in self._tables:
            self._tables[name] = Table(
                lambda: [self._transport.get_file(path, format="arrow").content],
                lambda: _rows(self._transport.get_file(path, format="json").json()),
            )
        return self._tables[name]

    def to_pandas(self, name: TableName = "trades") -> pd.DataFrame:
        return self.table(name).to_pandas()

    def to_polars(self, name: TableName = "trades") -> pl.DataFrame:
        return self.table(name).to_polars()

    def to_arrow(self, name: TableName = "trades") -> pa.Table:
        return self.table(name).to_arrow()

    def plot(self, ax: Any = None) -> Any:
        """Equity, benchmark and drawdown: a picture for notebooks, or lines on the axes of matplotlib in `ax`."""
        if ax is None:
            return self._chart(self._curve())
        rows = self.table("equity").rows()
        times = [row["time"] for row in rows]
        ax.plot(times, [row["equity"] for row in rows], label="equity")
        ax.plot(times, [row.get("buyHold") for row in rows], label="buy and hold", color="gray", linewidth=1)
        ax.set_title(self.title)
        ax.legend()
        return ax

    @property
    def title(self) -> str:
        config = self.config
        symbols = [each["symbol"] for each in config.get("instruments", [config.get("signalInstrument")]) if each]
        names = ", ".join(symbols[:3]) + (f" and {len(symbols) - 3} more" if len(symbols) > 3 else "")
        return f"{self.name} on {names} {config['timeframe']}"

    def report(self) -> str:
        """The report, one HTML page that opens without a network."""
        return self._transport.get_file(f"{self._path}/artifacts/report").text

    def save_report(self, path: str) -> None:
        """Writes the report as an HTML file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.report())

    def robustness(
        self,
        analyses: Sequence[str] | None = None,
        *,
        seed: int | None = None,
        samples: int | None = None,
        timeout: float | None = 600,
        progress: bool = True,
        **options: Any,
    ) -> Robustness:
        """What is left of the result under other costs, starts, numbers and bars (docs/robustness.md)."""
        members = {"analyses": analyses, "seed": seed, "samples": samples, **options}
        body = {name: member for name, member in members.items() if member is not None}
        queued = self._transport.post(f"{self._path}/robustness", body)
        path = f"{self._path}/robustness/{queued['id']}"
        kind = "robustness check"
        done = wait_for(self._transport, path, kind=kind, timeout=timeout, progress=progress, title=kind)
        return Robustness(done)

    def delete(self) -> None:
        """Deletes the backtest on the server."""
        self._transport.delete(self._path)

    def __repr__(self) -> str:
        lines = [f"<Backtest {self.title}>"]
        lines += [f"  {label:<18}{text:>14}" for label, text in self._headlines()]
        lines += [f"  {text}" for text in self._remarks()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th style="text-align:left;font-weight:normal">{label}</th>'
            f'<td style="text-align:right">{text}</td></tr>'
            for label, text in self._headlines()
        )
        remarks = "".join(f"<li>{escape(text)}</li>" for text in self._remarks())
        chart = self._chart(self._curve()).svg
        return f"<div>{chart}<table>{cells}</table>{f'<ul>{remarks}</ul>' if remarks else ''}</div>"

    @property
    def _path(self) -> str:
        return f"/public/v1/backtests/{self.id}"

    def _curve(self) -> Sequence[Mapping[str, Any]]:
        """Equity for a picture: of each bar, or the points of the summary for a long run or one without the table."""
        bars = cast("Mapping[str, Any]", self._detail.get("progress") or {}).get("barsTotal") or 0
        if bars <= _MOST_BARS_OF_A_PICTURE:
            with contextlib.suppress(ApiError):
                return self.table("equity").rows()
        peak, rows = 0.0, list[dict[str, Any]]()
        for time, equity in self.details["equityPreview"]:
            peak = max(peak, equity)
            rows.append({"time": utc(time), "equity": equity, "drawdown": 1 - equity / peak if peak > 0 else 0.0})
        return rows

    def _chart(self, rows: Sequence[Mapping[str, Any]]) -> Chart:
        return equity_chart(
            [row["time"] for row in rows],
            [row["equity"] for row in rows],
            [row.get("buyHold") for row in rows],
            [row["drawdown"] for row in rows],
            self.title,
        )

    def _headlines(self) -> list[tuple[str, str]]:
        summary = cast("Mapping[str, float | None]", self.summary)
        shown = [(label, form, summary.get(name)) for name, label, form in _HEADLINES]
        return [(label, "–" if value is None else form.format(value)) for label, form, value in shown]

    def _remarks(self) -> list[str]:
        found = [(each.get("severity", "warning"), each) for each in [*self.warnings, *self.diagnosis]]
        return [f"{severity} {each.get('code')}: {each.get('message')}" for severity, each in found]


def _rows(body: Any) -> list[dict[str, Any]]:
    """Rows of an artifact, beside which a notice may stand."""
    return cast("list[dict[str, Any]]", body["rows"] if isinstance(body, dict) else body)
