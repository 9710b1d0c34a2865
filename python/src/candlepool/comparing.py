"""Several backtests side by side, and as one account with weights."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

from candlepool.charts import Chart, equity_chart
from candlepool.errors import Issue, WaitTimeout
from candlepool.tables import Library, rows_table, utc
from candlepool.transport import Transport

# A request waits this long for reruns, and is sent again until the time is up.
_WAIT_SECONDS = 20


def ask(transport: Transport, path: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """The complete answer, for which a worker may have to run backtests again."""
    deadline = time.monotonic() + timeout
    while True:
        answer = cast("dict[str, Any]", transport.post(path, {**body, "wait": _WAIT_SECONDS}))
        if answer["status"] == "complete":
            return answer
        if time.monotonic() > deadline:
            raise WaitTimeout(f"The equity of {len(answer.get('waitingFor', []))} backtests was not made in time.")


class Comparison:
    """Two to ten backtests: the settings that differ, metrics, trades and correlations."""

    def __init__(self, raw: Mapping[str, Any], frames: Library | None) -> None:
        self.raw = dict(raw)
        self._frames: Library | None = frames

    @property
    def labels(self) -> list[str]:
        return [str(each["label"]) for each in self.raw["backtests"]]

    @property
    def metrics(self) -> Any:
        """A row per backtest with its metrics, as a frame."""
        return rows_table(self._metric_rows()).frame(self._frames)

    @property
    def settings(self) -> Any:
        """A row per setting that differs: its place, and the value of each backtest."""
        rows = [{"path": each["path"], **self._by_label(each["values"])} for each in self.raw["settings"]]
        return rows_table(rows).frame(self._frames)

    @property
    def correlations(self) -> list[list[float | None]] | None:
        """Of daily returns, in the order of the backtests."""
        found = self.raw.get("correlations")
        return None if found is None else cast("list[list[float | None]] | None", found.get("returns"))

    @property
    def trades(self) -> list[dict[str, Any]]:
        """For each pair, the positions that both took, and those of one alone."""
        return cast("list[dict[str, Any]]", self.raw.get("trades") or [])

    @property
    def warnings(self) -> list[Issue]:
        """What misleads, such as different periods."""
        return cast("list[Issue]", self.raw["warnings"])

    def __repr__(self) -> str:
        lines = [f"<Comparison of {', '.join(self.labels)}>"]
        lines += [
            f"  {each['key']}: {', '.join(_written(value) for value in each['values'])}" for each in self._numbers()
        ]
        lines += [f"  {each['text']}: {', '.join(map(str, each['values']))}" for each in self.raw["settings"]]
        return "\n".join([*lines, *(f"  warning {each['code']}: {each['message']}" for each in self.warnings)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(label)}</th>" for label in self.labels)
        rows = [(each["key"], each["values"]) for each in self._numbers()]
        rows += [(each["text"], each["values"]) for each in self.raw["settings"]]
        cells = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(_written(value))}</td>' for value in values)}</tr>"
            for name, values in rows
        )
        warnings = "".join(f"<li>{escape(each['message'])}</li>" for each in self.warnings)
        return f"<div><table><tr><th></th>{head}</tr>{cells}</table><ul>{warnings}</ul></div>"

    def _numbers(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self.raw["metrics"])

    def _metric_rows(self) -> list[dict[str, Any]]:
        heads = [{"id": each["id"], "label": each["label"]} for each in self.raw["backtests"]]
        numbers = [{each["key"]: each["values"][place] for each in self._numbers()} for place in range(len(heads))]
        return [{**head, **each} for head, each in zip(heads, numbers, strict=True)]

    def _by_label(self, values: Sequence[Any]) -> dict[str, Any]:
        """A column per backtest; the place makes equal labels differ."""
        return {f"{place + 1}. {self.labels[place]}": value for place, value in enumerate(values)}


class Combination:
    """Backtests as parts of one account."""

    def __init__(self, raw: Mapping[str, Any], frames: Library | None) -> None:
        self.raw = dict(raw)
        self._frames: Library | None = frames

    @property
    def summary(self) -> dict[str, float | None]:
        """Statistics of the account, from its daily equity."""
        return cast("dict[str, float | None]", self.raw["summary"])

    @property
    def parts(self) -> Any:
        """A row per backtest: weight, contribution to the return, and its own statistics; as a frame."""
        rows = [
            {**{k: v for k, v in each.items() if k != "summary"}, **each["summary"]} for each in self.raw["backtests"]
        ]
        return rows_table(rows).frame(self._frames)

    @property
    def equity(self) -> Any:
        """A row per day: the account in money, and each backtest as a multiple of its start; as a frame."""
        table = self.raw["equity"]
        names = [f"{place + 1}. {each['label']}" for place, each in enumerate(self.raw["backtests"])]
        rows = [
            {"time": utc(at), "combined": table["combined"][row]}
            | {name: table["backtests"][place][row] for place, name in enumerate(names)}
            for row, at in enumerate(table["time"])
        ]
        return rows_table(rows).frame(self._frames)

    @property
    def warnings(self) -> list[Issue]:
        return cast("list[Issue]", self.raw["warnings"])

    def plot(self) -> Chart:
        """The account with its drawdown."""
        money = cast("list[float]", self.raw["equity"]["combined"])
        peaks = [max(money[: place + 1]) for place in range(len(money))]
        drawdown = [1 - value / peak if peak > 0 else 0.0 for value, peak in zip(money, peaks, strict=True)]
        times = [utc(at) for at in self.raw["equity"]["time"]]
        return equity_chart(
            times, money, [None] * len(money), drawdown, f"{len(self.raw['backtests'])} backtests combined"
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{each['weight']:.0%} {each['label']}" for each in self.raw["backtests"])
        lines = [f"<Combination of {parts}>", *(f"  {key}: {_written(value)}" for key, value in self.summary.items())]
        return "\n".join([*lines, *(f"  warning {each['code']}: {each['message']}" for each in self.warnings)])

    def _repr_html_(self) -> str:
        return f"<div>{self.plot().svg}<pre>{escape(repr(self))}</pre></div>"


def _written(value: object) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, (int, float)) else str(value)
