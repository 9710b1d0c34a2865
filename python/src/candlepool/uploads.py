"""Frames as files that the service imports: CSV, whose times say their zone."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from typing import Any, cast

from candlepool.tables import has

# Names of a column of times, in the order in which they are looked for.
_TIME_NAMES = ("time", "timestamp", "datetime", "date", "ts", "open_time", "opentime")
_DAILY = ("1d", "1w", "1M")


class NaiveTimesError(ValueError):
    """Times within the day have no zone, so that they could mean several moments."""

    def __init__(self, column: str) -> None:
        super().__init__(
            f'The times of "{column}" have no zone. Say which they are in: timezone="UTC" or '
            'timezone="America/New_York"; or make them aware, as with df.index.tz_localize("UTC").'
        )


def csv_file(frame: Any, timeframe: str | None, timezone: str | None) -> bytes:
    """A gzipped CSV file of a frame of pandas or polars, a pyarrow table, or a list of dicts.

    Times with a zone are written with their offset. Days may be without one. Raises NaiveTimesError for other times
    without a zone, unless `timezone` says it.
    """
    text = _text(frame, timeframe, timezone)
    return gzip.compress(text.encode("utf-8"), compresslevel=1)


def _text(frame: Any, timeframe: str | None, timezone: str | None) -> str:
    if _is_of(frame, "pandas"):
        return _pandas_text(frame, timeframe, timezone)
    if _is_of(frame, "pyarrow"):
        return _rows_text(cast("list[dict[str, Any]]", frame.to_pylist()), timeframe, timezone)
    if _is_of(frame, "polars"):
        return _rows_text(cast("list[dict[str, Any]]", frame.to_dicts()), timeframe, timezone)
    if isinstance(frame, Sequence) and not isinstance(frame, (str, bytes)):
        return _rows_text(cast("Sequence[Mapping[str, Any]]", frame), timeframe, timezone)
    raise TypeError(
        f"Cannot upload a {type(frame).__name__}. Give a frame of pandas or polars, a pyarrow table, or a list of "
        "dicts; for a file, use `candlepool data import`, or client.upload_file(path)."
    )


def _pandas_text(frame: Any, timeframe: str | None, timezone: str | None) -> str:
    import pandas as pd

    copy = frame.copy(deep=False)
    if isinstance(copy.index, pd.DatetimeIndex):
        name = str(copy.index.name or "time")
        copy.insert(0, name, copy.index, allow_duplicates=False) if name not in copy.columns else None
        copy = copy.reset_index(drop=True)
    if copy.columns.nlevels > 1:
        # yfinance: one line per level; the import reads such headers itself.
        return str(frame.to_csv())
    name = _time_column([str(each) for each in copy.columns])
    if name is not None and isinstance(copy[name].dtype, pd.DatetimeTZDtype):
        copy[name] = [time.isoformat() for time in copy[name]]
    elif name is not None and pd.api.types.is_datetime64_dtype(copy[name]):
        times = copy[name]
        are_days = bool((times == times.dt.normalize()).all())
        _require_zone(name, are_days and timeframe in (None, *_DAILY), timezone)
        copy[name] = times.dt.strftime("%Y-%m-%d" if are_days and timezone is None else "%Y-%m-%dT%H:%M:%S.%f")
    return str(copy.to_csv(index=False))


def _rows_text(rows: Sequence[Mapping[str, Any]], timeframe: str | None, timezone: str | None) -> str:
    if len(rows) == 0:
        raise ValueError("The table has no rows.")
    names = list(rows[0])
    name = _time_column(names)
    written: list[Mapping[str, Any]] = list(rows)
    if name is not None and hasattr(rows[0][name], "isoformat"):
        times = [row[name] for row in rows]
        are_dates = not hasattr(times[0], "hour")
        if not are_dates and any(time.tzinfo is None for time in times):
            are_days = all((time.hour, time.minute, time.second) == (0, 0, 0) for time in times)
            are_dates = are_days and timezone is None and timeframe in (None, *_DAILY)
            _require_zone(name, are_dates, timezone)
        texts = [f"{time:%Y-%m-%d}" if are_dates else time.isoformat() for time in times]
        written = [{**row, name: text} for row, text in zip(rows, texts, strict=True)]
    out = io.StringIO()
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(written)
    return out.getvalue()


def _require_zone(name: str, are_days: bool, timezone: str | None) -> None:
    if timezone is None and not are_days:
        raise NaiveTimesError(name)


def _time_column(names: Sequence[str]) -> str | None:
    by_lower = {name.lower(): name for name in names}
    return next((by_lower[each] for each in _TIME_NAMES if each in by_lower), None)


def _is_of(frame: Any, library: str) -> bool:
    return type(frame).__module__.split(".")[0] == library and has(library)
