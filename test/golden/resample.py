"""Writes resample.json.gz: bars with gaps, and what pandas makes of them on every coarser timeframe.

    python3 -m venv venv && venv/bin/pip install pandas==3.1.1
    venv/bin/python test/golden/resample.py

Weeks begin on Monday and months on their first day, both at 00:00 UTC; a bucket without bars is no bar.
"""

import gzip
import json
import pathlib
import random

import pandas as pd

RULES = {
    "1m": "1min", "3m": "3min", "5m": "5min", "15m": "15min", "30m": "30min", "1h": "60min", "2h": "120min",
    "4h": "240min", "6h": "360min", "8h": "480min", "12h": "720min", "1d": "1440min", "1w": "W-MON", "1M": "MS",
}
NAMES = list(RULES)
HOW = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum", "bars": "count"}


def minutes(timeframe):
    return int(RULES[timeframe].removesuffix("min"))


def makes(finer, coarser):
    """Whole bars of `finer` make each bar of `coarser`."""
    if finer == "1w" or NAMES.index(finer) >= NAMES.index(coarser):
        return False
    return coarser in ("1w", "1M") or minutes(coarser) % minutes(finer) == 0


def series(timeframe, rng):
    """Bars with holes of one bar up to several weeks, which cross a leap day and the end of a year."""
    step = pd.Timedelta(minutes=minutes(timeframe))
    time = pd.Timestamp("2023-12-29", tz="UTC") + rng.randrange(5) * step
    rows = []
    for _ in range(90):
        open_, close = rng.randrange(10_000, 20_000), rng.randrange(10_000, 20_000)
        high, low = max(open_, close) + rng.randrange(500), min(open_, close) - rng.randrange(500)
        rows.append([time, open_ / 100, high / 100, low / 100, close / 100, rng.randrange(1, 1000)])
        holes = rng.choice([0, 0, 0, 1, 7, 60, 700])
        time += step * (1 + min(holes, int(pd.Timedelta(days=40) / step)))
    return pd.DataFrame(rows, columns=["time", "open", "high", "low", "close", "volume"]).set_index("time")


def resampled(bars, timeframe):
    rule = RULES[timeframe]
    kwargs = {"origin": "epoch"} if rule.endswith("min") else {}
    frame = bars.assign(bars=1).resample(rule, label="left", closed="left", **kwargs).agg(HOW)
    return frame[frame["bars"] > 0]


def listed(frame):
    time = [int(at.timestamp() * 1000) for at in frame.index]
    return {"time": time, **{name: frame[name].tolist() for name in frame.columns}}


def main():
    rng = random.Random(7)
    golden = {}
    for finer in NAMES[:-2]:
        bars = series(finer, rng)
        made = {coarser: listed(resampled(bars, coarser)) for coarser in NAMES if makes(finer, coarser)}
        golden[finer] = {"bars": listed(bars), "made": made}
    text = json.dumps({"pandas": pd.__version__, "timeframes": golden}, separators=(",", ":"))
    path = pathlib.Path(__file__).with_name("resample.json.gz")
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


main()
