"""Makes exchangeCalendars.json: trading days and sessions by the package that the table of the exchange is not from.

    pip install exchange_calendars==4.13.2 pandas_market_calendars==5.5.0
    python test/golden/exchangeCalendars.py
"""

import json
import pathlib
import warnings

warnings.filterwarnings("ignore")
import exchange_calendars  # noqa: E402
import pandas  # noqa: E402
import pandas_market_calendars  # noqa: E402

# Name: (calendar of the other package, first year, first and last day of the sessions that are listed)
PEERS = {
    "XNYS": ("XNYS", 1990, ("2024-03-04", "2024-03-15"), ("2024-11-25", "2024-12-27")),
    "XLON": ("LSE", 1998, ("2024-03-27", "2024-04-03"), ("2024-12-20", "2025-01-03")),
    "XTKS": ("JPX", 2000, ("2024-10-31", "2024-11-07")),
    "XHKG": ("HKEX", 2012, ("2025-01-02", "2025-01-27")),
    # Its sessions have the closing auction, until 16:10.
    "XASX": ("ASX", 2012),
    "XSHG": ("SSE", 2005, ("2024-09-27", "2024-10-10")),
    "XTSE": ("TSX", 2008, ("2024-12-20", "2025-01-03")),
}


def schedule_of(name: str, first: str, last: str) -> pandas.DataFrame:
    if name.startswith("X"):
        return exchange_calendars.get_calendar(name, start=first, end=last).schedule
    table = pandas_market_calendars.get_calendar(name).schedule(first, last)
    table = table.rename(columns={"market_open": "open", "market_close": "close"})
    for column in ("break_start", "break_end"):
        if column not in table:
            table[column] = pandas.NaT
    return table[["open", "break_start", "break_end", "close"]]


def session(row: pandas.Series) -> list[str]:
    times = [row.open, row.break_start, row.break_end, row.close]
    return [f"{time:%Y-%m-%dT%H:%M}" for time in times if not pandas.isna(time)]


def main() -> None:
    out = {}
    for name, (peer, year, *windows) in PEERS.items():
        table = schedule_of(peer, f"{year}-01-01", "2025-12-31")
        months = table.index.to_series().groupby(table.index.strftime("%Y-%m"))
        out[name] = {
            "months": {month: f"{len(days)} {days.min():%d} {days.max():%d}" for month, days in months},
            "sessions": [session(row) for window in windows for _, row in table.loc[slice(*window)].iterrows()],
        }
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


main()
