"""Tables of the service as frames: pandas where it is installed, else polars, else a list of dicts."""

from __future__ import annotations

import datetime as dt
import importlib.util
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Library: TypeAlias = Literal["pandas", "polars", "arrow", "rows"]
Rows: TypeAlias = list[dict[str, Any]]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# Columns of times; in JSON they are milliseconds since 1970.
_TIMES = frozenset(
    {"time", "entryTime", "exitTime", "exitFineTime", "maxDrawdownStart", "maxDrawdownEnd", "maxDrawdownRecoveredAt"}
)


class Table:
    """A table, fetched when it is first read, in the format that the installed libraries read fastest.

    Times are aware of their zone, UTC.
    """

    def __init__(self, arrow: Callable[[], Sequence[bytes]], rows: Callable[[], Rows]) -> None:
        self._fetch_arrow = arrow
        self._fetch_rows = rows
        self._files: Sequence[bytes] | None = None
        self._rows: Rows | None = None

    def rows(self) -> Rows:
        """A dict per row, as the service has them, with times as datetimes."""
        if self._rows is None:
            self._rows = [{name: _timed(name, value) for name, value in row.items()} for row in self._fetch_rows()]
        return self._rows

    def to_arrow(self) -> pa.Table:
        """A table of pyarrow."""
        pyarrow = _require("pyarrow")
        import pyarrow.ipc as ipc

        tables = [ipc.open_file(io.BytesIO(file)).read_all() for file in self._arrow_files()]
        return pyarrow.concat_tables(tables)

    def to_pandas(self) -> pd.DataFrame:
        """A frame of pandas; a column `time` is its index."""
        pandas = _require("pandas")
        if has("pyarrow"):
            frame = self.to_arrow().to_pandas()
        else:
            frame = pandas.DataFrame(self.rows())
            for name in _TIMES & set(frame.columns):
                frame[name] = pandas.to_datetime(frame[name], utc=True)
        return frame.set_index("time") if "time" in frame.columns else frame

    def to_polars(self) -> pl.DataFrame:
        """A frame of polars."""
        polars = _require("polars")
        return polars.concat([polars.read_ipc(io.BytesIO(file)) for file in self._arrow_files()])

    def frame(self, library: Library | None = None) -> Any:
        """A frame of the library, by default of the first that is installed of pandas and polars, else rows."""
        chosen = library or ("pandas" if has("pandas") else "polars" if has("polars") else "rows")
        reads: dict[str, Callable[[], Any]] = {
            "pandas": self.to_pandas,
            "polars": self.to_polars,
            "arrow": self.to_arrow,
            "rows": self.rows,
        }
        if chosen not in reads:
            raise ValueError(f"frames={chosen!r} is not one of {', '.join(reads)}.")
        return reads[chosen]()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # pyright: ignore[reportArgumentType]

    def __len__(self) -> int:
        return len(self.rows())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def _arrow_files(self) -> Sequence[bytes]:
        if self._files is None:
            self._files = self._fetch_arrow()
        return self._files


def rows_table(rows: Rows) -> Table:
    """A table of rows that are here already."""

    def no_arrow() -> Sequence[bytes]:
        raise RuntimeError("a table of rows has no Arrow file")

    class OfRows(Table):
        def to_arrow(self) -> pa.Table:
            return _require("pyarrow").Table.from_pylist(self.rows())

        def to_polars(self) -> pl.DataFrame:
            return _require("polars").DataFrame(self.rows(), infer_schema_length=None)

        def to_pandas(self) -> pd.DataFrame:
            return _require("pandas").DataFrame(self.rows())

    return OfRows(no_arrow, lambda: rows)


def utc(milliseconds: float) -> dt.datetime:
    """A time of the service."""
    return _EPOCH + dt.timedelta(milliseconds=milliseconds)


def has(library: str) -> bool:
    """Whether a library can be imported."""
    return importlib.util.find_spec(library) is not None


def _timed(name: str, value: Any) -> Any:
    is_time = name in _TIMES and isinstance(value, (int, float)) and not isinstance(value, bool)
    return utc(value) if is_time else value


def _require(library: str) -> Any:
    if not has(library):
        raise ImportError(f"This needs {library}, which is not installed: pip install {library}")
    return importlib.import_module(library)
