"""The client: strategies, backtests, sweeps and market data of one service."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, cast
from urllib.parse import quote

from candlepool.comparing import Combination, Comparison, ask
from candlepool.config import Rate, Time, run_config, time_text
from candlepool.errors import ApiError, InvalidStrategy, Issue, api_error, patched
from candlepool.results import Backtest
from candlepool.runs import cancelled_on_interrupt, require_completed, shown, wait_for
from candlepool.strategy import Strategy, request_body
from candlepool.sweeps import Sweep, space_of
from candlepool.tables import Library, Table, rows_table
from candlepool.transport import RETRY_SECONDS, Transport
from candlepool.uploads import csv_file

DEFAULT_URL = "http://127.0.0.1:8080"
# As many backtests are queued by one request.
_BATCH = 200
_MAX_REPAIRS = 6
_PAGE = 10_000
_LIST_PAGE = 100

StrategyLike: TypeAlias = Strategy | Mapping[str, Any] | str | Path
"""A strategy, its JSON, the path of a JSON file, or the key of a template."""


class Client:
    """A connection to a service.

    `url` and `key` default to the variables CANDLEPOOL_URL and CANDLEPOOL_API_KEY. `frames` chooses the library of
    tables: "pandas", "polars", "arrow" or "rows"; by default the first that is installed.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        frames: Library | None = None,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        key = key or os.environ.get("CANDLEPOOL_API_KEY")
        if not key:
            raise ValueError(
                "Give a key, or set CANDLEPOOL_API_KEY; `candlepool keys create` makes one. "
                "candlepool.local() needs none."
            )
        self.transport = Transport(
            url or os.environ.get("CANDLEPOOL_URL") or DEFAULT_URL, key, retry_seconds=retry_seconds
        )
        self.frames: Library | None = frames
        self._versions: dict[str, str] = {}

    @property
    def url(self) -> str:
        return self.transport.url

    def close(self) -> None:
        """Closes the connections."""
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<candlepool.Client {self.url}>"

    # Strategies.

    def validate(self, strategy: StrategyLike) -> list[Issue]:
        """All issues of a strategy; those of severity "error" keep it from running."""
        return cast("list[Issue]", self._validated(self._body(strategy))["issues"])

    def repair(self, strategy: StrategyLike) -> Strategy:
        """The strategy with all patches of its issues. Raises InvalidStrategy, with what is left, if some errors stay.

        A patch never changes what a strategy means.
        """
        body = self._body(strategy)
        report = self._validated(body)
        for _ in range(_MAX_REPAIRS):
            repaired = patched(body, report["issues"])
            if repaired == body:
                break
            body, report = repaired, self._validated(repaired)
        if not report["valid"]:
            errors = [issue for issue in report["issues"] if issue.get("severity") == "error"]
            left = f"{len(errors)} issues have no patch that repairs them."
            raise InvalidStrategy({"status": 422, "code": "STRATEGY_INVALID", "message": left, "issues": errors}, body)
        return Strategy.from_json(body)

    def finalize(self, strategy: StrategyLike) -> str:
        """The id of a ready version of the strategy. The same content gives the same version.

        Raises InvalidStrategy with every issue.
        """
        return self._finalized(self._body(strategy))

    def templates(self) -> Any:
        """Strategies to learn from and to run by their key, as a frame."""
        return rows_table(self._pages("/public/v1/system-strategies")).frame(self.frames)

    def template(self, key: str) -> Strategy:
        """A template as a strategy, to look at and to change."""
        return Strategy.from_json(self.transport.get(f"/public/v1/system-strategies/{quote(key, safe='')}"))

    # Runs.

    def backtest(
        self,
        strategy: StrategyLike,
        *,
        symbol: str | Sequence[str] | None = None,
        timeframe: str | None = None,
        fees: Rate | None = None,
        slippage: Rate | None = None,
        cash: float | None = None,
        start: Time | None = None,
        end: Time | None = None,
        params: Mapping[str, Any] | None = None,
        slots: int | None = None,
        config: Mapping[str, Any] | None = None,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        note: str | None = None,
        timeout: float | None = 600,
        progress: bool = True,
    ) -> Backtest:
        """Runs a strategy and waits for its result.

        `fees` and `slippage` are fractions of each fill (0.001 is 0.1 %), texts such as "0.1%" and "10bps", or objects
        of docs/config.md. Several symbols make a portfolio. `config` has everything else. Symbol and timeframe default
        to those that the strategy has in mind. `name`, `tags` and `note` label the run, see `list_backtests`. Ctrl-C
        cancels it on the server.
        """
        body = self._body(strategy)
        given = {
            "symbol": symbol,
            "timeframe": timeframe,
            "fees": fees,
            "slippage": slippage,
            "cash": cash,
            "start": start,
            "end": end,
            "params": params,
            "slots": slots,
            "config": config,
        }
        made = {"strategyVersionId": self._finalized(body), "config": self._config(body, given)}
        queued = self.transport.post("/public/v1/backtests", {**made, **_labels(name, tags, note)})
        return self.wait(queued["id"], name=_name(body), timeout=timeout, progress=progress)

    def wait(
        self, backtest_id: str, *, name: str = "Backtest", timeout: float | None = 600, progress: bool = True
    ) -> Backtest:
        """A backtest by its id, when it has completed."""
        path = f"/public/v1/backtests/{backtest_id}"
        detail = wait_for(self.transport, path, kind="backtest", timeout=timeout, progress=progress, title=name)
        return Backtest(self.transport, detail, self.frames, name)

    def backtests(
        self,
        runs: Sequence[Mapping[str, Any]],
        *,
        timeout: float | None = 3600,
        progress: bool = True,
        **common: Any,
    ) -> list[Backtest]:
        """Runs many at once: each item has the arguments of `backtest`, with `strategy`; `common` holds for all.

        >>> client.backtests([{"symbol": each} for each in ("SPX", "MSFT")], strategy="golden_cross", timeframe="1d")
        """
        items: list[dict[str, Any]] = []
        names: list[str] = []
        for run in runs:
            given = {**common, **run}
            if "strategy" not in given:
                raise ValueError('Each run needs a strategy: {"strategy": …, "symbol": "SPX"}, or strategy=… for all.')
            body = self._body(given.pop("strategy"))
            labels = _labels(*(given.pop(each, None) for each in ("name", "tags", "note")))
            made = {"strategyVersionId": self._finalized(body), "config": self._config(body, given)}
            items.append({**made, **labels})
            names.append(_name(body))
        ids = self._queue(items)
        results: list[Backtest] = []
        paths = [f"/public/v1/backtests/{each}" for each in ids]
        with shown(progress, f"{len(ids)} backtests", len(ids)) as bar, cancelled_on_interrupt(self.transport, paths):
            for path, name in zip(paths, names, strict=True):
                detail = wait_for(self.transport, path, kind="backtest", timeout=timeout, progress=False, title=name)
                results.append(Backtest(self.transport, require_completed(detail, "backtest"), self.frames, name))
                if bar is not None:
                    bar.update(1)
        return results

    def matrix(
        self,
        strategies: Sequence[StrategyLike],
        *,
        symbols: Sequence[str],
        timeframes: Sequence[str] = ("1d",),
        **common: Any,
    ) -> list[Backtest]:
        """Every strategy on every symbol and timeframe; see `summary_frame`."""
        runs = [
            {"strategy": strategy, "symbol": symbol, "timeframe": timeframe}
            for strategy in strategies
            for symbol in symbols
            for timeframe in timeframes
        ]
        return self.backtests(runs, **common)

    def summary_frame(self, backtests: Sequence[Backtest]) -> Any:
        """A row per backtest: name, symbol, timeframe and all statistics."""
        rows: list[dict[str, Any]] = []
        for each in backtests:
            config = each.config
            symbols = [one["symbol"] for one in config.get("instruments", [config.get("signalInstrument")]) if one]
            head = {"id": each.id, "name": each.name, "symbol": ",".join(symbols), "timeframe": config["timeframe"]}
            rows.append({**head, **each.summary})
        return rows_table(rows).frame(self.frames)

    def sweep(
        self,
        strategy: StrategyLike,
        space: Mapping[str, Any],
        *,
        symbol: str | Sequence[str] | None = None,
        timeframe: str | None = None,
        fees: Rate | None = None,
        slippage: Rate | None = None,
        cash: float | None = None,
        start: Time | None = None,
        end: Time | None = None,
        params: Mapping[str, Any] | None = None,
        slots: int | None = None,
        config: Mapping[str, Any] | None = None,
        method: str = "grid",
        budget: int | None = None,
        seed: int | None = None,
        objective: str = "sharpeRatio",
        direction: str | None = None,
        constraints: Sequence[Mapping[str, Any]] | None = None,
        metrics: Sequence[str] | str | None = None,
        walk_forward: Mapping[str, Any] | None = None,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        note: str | None = None,
        timeout: float | None = 3600,
        progress: bool = True,
    ) -> Sweep:
        """Runs a strategy for every point of a space, and ranks the variants.

        The space has params of the strategy, places of numbers, `symbol` and `timeframe`, each with a range or a list:
        `{"fast": range(10, 50, 5), "symbol": ["SPX", "MSFT"]}`. docs/sweeps.md says the rest.
        """
        body = self._body(strategy)
        dimensions = space_of(space)
        given = {
            "symbol": symbol or _first(dimensions, "symbol"),
            "timeframe": timeframe or _first(dimensions, "timeframe"),
            "fees": fees,
            "slippage": slippage,
            "cash": cash,
            "start": start,
            "end": end,
            "params": params,
            "slots": slots,
            "config": config,
        }
        members = {
            "strategyVersionId": self._finalized(body),
            "config": self._config(body, given),
            "space": dimensions,
            "method": method,
            "objective": objective,
            "direction": direction,
            "budget": budget,
            "seed": seed,
            "constraints": constraints and list(constraints),
            "metrics": metrics if metrics is None or isinstance(metrics, str) else list(metrics),
            "walkForward": walk_forward,
        }
        sent = {**{each: member for each, member in members.items() if member is not None}, **_labels(name, tags, note)}
        queued = self.transport.post("/public/v1/sweeps", sent)
        path = f"/public/v1/sweeps/{queued['id']}"
        title = f"sweep of {queued['variants']}"
        detail = wait_for(self.transport, path, kind="sweep", timeout=timeout, progress=progress, title=title)

        def read(backtest_id: str, name: str) -> Backtest:
            return self.wait(backtest_id, name=name, progress=progress)

        return Sweep(self.transport, detail, self.frames, name or _name(body), read)

    def robustness(
        self, strategy: StrategyLike | Backtest, *, analyses: Sequence[str] | None = None, **run: Any
    ) -> Any:
        """A robustness check of a backtest, or of a strategy that is run first with the arguments of `backtest`."""
        result = strategy if isinstance(strategy, Backtest) else self.backtest(strategy, **run)
        return result.robustness(analyses)

    def cancel(self, backtest_id: str) -> None:
        """Cancels a backtest; one that has ended stays as it is."""
        try:
            self.transport.post(f"/public/v1/backtests/{backtest_id}/cancel")
        except ApiError as error:
            if error.code != "BACKTEST_ALREADY_TERMINAL":
                raise

    # Results of before.

    def list_backtests(
        self,
        *,
        tag: str | Sequence[str] | None = None,
        search: str | None = None,
        sort: str | None = None,
        columns: Sequence[str] | None = None,
        last: int = 1_000,
        **filters: Any,
    ) -> Any:
        """Backtests of the workspace as a frame, newest first; `wait(id)` reads one of them.

        `sort` is a key of the summary, with - before it for the largest first; `columns` are keys, too. `filters` are
        those of `GET /public/v1/backtests`, such as symbol="SPX", minTrades=30, where="sharpeRatio>=1", archived="all".
        """
        query = {
            "tag": [tag] if isinstance(tag, str) else tag and list(tag),
            "search": search,
            "sort": sort,
            "columns": columns and ",".join(columns),
            "limit": min(last, _LIST_PAGE),
            **filters,
        }
        return rows_table(self._pages("/public/v1/backtests", query, last)).frame(self.frames)

    def compare(
        self,
        backtests: Sequence[Backtest | str],
        *,
        metrics: Sequence[str] | None = None,
        timeout: float = 600,
    ) -> Comparison:
        """Two to ten backtests side by side: settings that differ, metrics, trades, correlations of returns."""
        body: dict[str, Any] = {"backtestIds": [_id(each) for each in backtests]}
        if metrics is not None:
            body["metrics"] = list(metrics)
        return Comparison(ask(self.transport, "/public/v1/backtests/compare", body, timeout), self.frames)

    def combine(
        self,
        weights: Sequence[tuple[Backtest | str, float]],
        *,
        rebalance: str = "none",
        normalize: bool = False,
        cash: float | None = None,
        timeout: float = 600,
    ) -> Combination:
        """Backtests as parts of one account: `combine([(a, 0.6), (b, 0.4)], rebalance="monthly")`."""
        body: dict[str, Any] = {
            "backtests": [{"backtestId": _id(each), "weight": weight} for each, weight in weights],
            "rebalance": rebalance,
            "normalize": normalize,
        }
        if cash is not None:
            body["initialBalance"] = cash
        return Combination(ask(self.transport, "/public/v1/backtests/combine", body, timeout), self.frames)

    # Market data.

    def symbols(self) -> Any:
        """The series that there are, as a frame."""
        return rows_table(self._pages("/public/v1/market-data")).frame(self.frames)

    def bars(
        self,
        symbol: str,
        timeframe: str,
        *,
        start: Time | None = None,
        end: Time | None = None,
        last: int | None = None,
    ) -> Any:
        """Bars as a frame, stored or resampled; `last` only the newest so many."""
        return self.bars_table(symbol, timeframe, start=start, end=end, last=last).frame(self.frames)

    def bars_table(
        self,
        symbol: str,
        timeframe: str,
        *,
        start: Time | None = None,
        end: Time | None = None,
        last: int | None = None,
    ) -> Table:
        """The same as a table of any form."""
        path = f"{_series(symbol, timeframe)}/bars"
        query = {
            "start": None if start is None else time_text(start),
            "end": None if end is None else time_text(end),
            "last": last,
            "limit": _PAGE,
        }

        def arrow() -> list[bytes]:
            files: list[bytes] = []
            cursor: str | None = None
            while True:
                answer = self.transport.get_file(path, **query, cursor=cursor, format="arrow")
                files.append(answer.content)
                following = answer.links.get("next", {}).get("url")
                cursor = None if following is None else dict(answer.url.join(following).params).get("cursor")
                if cursor is None:
                    return files

        return Table(arrow, lambda: self._pages(path, query))

    def upload(
        self,
        frame: Any,
        symbol: str,
        timeframe: str | None = None,
        *,
        timezone: str | None = None,
        on_existing: str = "refuse",
        instrument: Mapping[str, Any] | None = None,
        calendar: str | None = None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """Stores bars for this workspace alone: a frame of pandas or polars, a pyarrow table or a list of dicts.

        Times within the day need a zone, their own or `timezone`. `on_existing` is "refuse", "append" or "replace".
        `options` are those of `candlepool data import`. Answers what was read, with notes about doubts.
        """
        content = csv_file(frame, timeframe, timezone)
        return self._import(content, symbol, timeframe, timezone, on_existing, instrument, calendar, options)

    def upload_file(
        self,
        path: str | Path,
        symbol: str | None = None,
        timeframe: str | None = None,
        *,
        timezone: str | None = None,
        on_existing: str = "refuse",
        instrument: Mapping[str, Any] | None = None,
        calendar: str | None = None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """Stores the bars of a file in any form that docs/imports.md lists."""
        content = Path(path).read_bytes()
        named = {"filename": Path(path).name, **options}
        return self._import(content, symbol, timeframe, timezone, on_existing, instrument, calendar, named)

    def delete_bars(self, symbol: str, timeframe: str) -> None:
        """Deletes a series of this workspace."""
        self.transport.delete(_series(symbol, timeframe))

    # Parts.

    def _import(
        self,
        content: bytes,
        symbol: str | None,
        timeframe: str | None,
        timezone: str | None,
        on_existing: str,
        instrument: Mapping[str, Any] | None,
        calendar: str | None,
        options: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        answer = self.transport.post_file(
            "/public/v1/market-data",
            content,
            symbol=symbol,
            timeframe=timeframe,
            timezone=timezone,
            onExisting=on_existing,
            instrument=None if instrument is None else json.dumps(instrument),
            calendar=calendar,
            **{name: "true" if value is True else value for name, value in options.items()},
        )
        return cast("list[dict[str, Any]]", answer["series"])

    def _body(self, strategy: StrategyLike) -> dict[str, Any]:
        if isinstance(strategy, Strategy):
            return strategy.to_json()
        if isinstance(strategy, Mapping):
            return request_body(strategy)
        if str(strategy).endswith(".json"):
            return Strategy.from_file(strategy).to_json()
        return self.template(str(strategy)).to_json()

    def _config(self, body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        payload = cast("Mapping[str, Any]", body.get("strategyAst") or body.get("signalGraph") or {})
        defaults = cast("Mapping[str, Any]", payload.get("strategy") or {}).get("defaults") or {}
        names = ("symbol", "timeframe", "fees", "slippage", "cash", "start", "end", "params", "slots", "config")
        unknown = set(given) - set(names)
        if unknown:
            raise TypeError(f"Unknown arguments: {', '.join(sorted(unknown))}. A run takes {', '.join(names)}.")
        return run_config(**{name: given.get(name) for name in names}, defaults=defaults)

    def _validated(self, body: Mapping[str, Any]) -> dict[str, Any]:
        payload = {name: body[name] for name in ("settings", "strategyAst", "signalGraph") if name in body}
        return cast("dict[str, Any]", self.transport.post("/public/v1/strategies/validate", payload))

    def _finalized(self, body: Mapping[str, Any]) -> str:
        """A version of this content: of this client, of the answer that the service kept, or a new one."""
        content = json.dumps(body, sort_keys=True, separators=(",", ":"))
        key = hashlib.sha256(content.encode("utf-8")).hexdigest()
        if key not in self._versions:
            try:
                self._versions[key] = self._create(body, f"python-{key}")
            except ApiError as error:
                if error.code not in ("STRATEGY_ARCHIVED", "NOT_FOUND"):
                    raise
                # The strategy that the service remembers was archived or deleted since.
                self._versions[key] = self._create(body, None)
        return self._versions[key]

    def _create(self, body: Mapping[str, Any], once: str | None) -> str:
        made = self.transport.post("/public/v1/strategies", body, once=once)
        path = f"/public/v1/strategies/{made['id']}/versions/finalize"
        finalized = self.transport.post(path, {"version": made["versions"][0]["version"]})
        return str(finalized["id"])

    def _queue(self, items: Sequence[Mapping[str, Any]]) -> list[str]:
        """Queues in batches. If one is refused, those that were queued are cancelled, and its problem is raised."""
        ids: list[str] = []
        for first in range(0, len(items), _BATCH):
            answer = self.transport.post("/public/v1/backtests/batch", {"items": items[first : first + _BATCH]})
            ids += [row["id"] for row in answer["data"] if "id" in row]
            refused = next((row for row in answer["data"] if "error" in row), None)
            if refused is not None:
                for each in ids:
                    self.cancel(each)
                problem = dict(refused["error"])
                problem["message"] = f"Run {first + refused['index']} of {len(items)}: {problem.get('message')}"
                raise api_error(problem, items[first + refused["index"]])
        return ids

    def _pages(
        self, path: str, query: Mapping[str, Any] | None = None, last: int | None = None
    ) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self.transport.get(path, **(query or {}), cursor=cursor)
            rows += page["data"]
            cursor = cast("Mapping[str, Any]", page.get("pagination") or {}).get("nextCursor")
            if cursor is None or (last is not None and len(rows) >= last):
                return rows[:last]


def _name(body: Mapping[str, Any]) -> str:
    return str(body.get("name", "Strategy"))


def _series(symbol: str, timeframe: str) -> str:
    """The path of a series; a symbol may hold signs that mean something in an address, such as ^ and =."""
    return f"/public/v1/market-data/{quote(symbol, safe='')}/{timeframe}"


def _id(backtest: Backtest | str) -> str:
    return backtest.id if isinstance(backtest, Backtest) else backtest


def _labels(name: str | None, tags: Sequence[str] | None, note: str | None) -> dict[str, Any]:
    given = {"name": name, "tags": None if tags is None else list(tags), "note": note}
    return {each: label for each, label in given.items() if label is not None}


def _first(space: Mapping[str, Any], name: str) -> Any:
    """The first value of a dimension stands in the config, which the sweep then varies."""
    values = cast("Mapping[str, Any]", space.get(name) or {}).get("values")
    return values[0] if values else None
