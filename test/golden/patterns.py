#!/usr/bin/env python3
"""Candlestick patterns as TA-Lib computes them: patterns.json.gz, the answers of test/engine/patterns/golden.test.ts.

    pip install TA-Lib==0.8.2 numpy && python3 test/golden/patterns.py

series: two of the project's own series (data/), whole. windows: bars of a seeded generator, for each pattern two
windows in which it fires. Everything is sparse: rows and values where a pattern is not 0.
"""
import csv, gzip, io, json, pathlib
import numpy as np
import talib
from talib import abstract

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data"
SERIES = ["EURUSD-1h", "GOOG-1d"]
PENETRATIONS = [0.1, 0.6]
WINDOWS_PER_PATTERN = 2
# The longest lookback is 14; the bars before give the averages something to run over.
BARS_BEFORE, BARS_AFTER = 24, 3
PATTERNS = talib.get_function_groups()["Pattern Recognition"]


def takes_penetration(name):
    return "penetration" in abstract.Function(name).parameters


def sparse(name, bars, penetration=None):
    columns = [np.ascontiguousarray(bars[:, at]) for at in range(4)]
    parameters = {} if penetration is None else {"penetration": penetration}
    values = getattr(talib, name)(*columns, **parameters)
    rows = np.nonzero(values)[0]
    return {"rows": rows.tolist(), "values": values[rows].tolist()}


def read(series):
    with gzip.open(DATA / f"{series}.csv.gz", "rt") as file:
        names = ("open", "high", "low", "close")
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])


def of_series(series):
    bars = read(series)
    answers = {name: sparse(name, bars) for name in PATTERNS}
    for name in filter(takes_penetration, PATTERNS):
        for penetration in PENETRATIONS:
            answers[f"{name}@{penetration}"] = sparse(name, bars, penetration)
    return answers


def generated(random, count, tick):
    """Bars with many ties, gaps, doji and bare ends: what the patterns ask for and real series seldom have."""
    bars = np.empty((count, 4))
    price, drift = 100.0, 0.0
    shadow = lambda: random.choice([0.0, 0.02, abs(random.normal()) * 0.2, abs(random.normal()) * 2])
    for at in range(count):
        if random.random() < 0.08:
            drift = random.normal() * 2
        before = bars[at - 1] if at > 0 else np.full(4, price)
        opening = price + random.choice([0.0, 0.0, random.normal() * 1.5, random.normal() * 0.3])
        if random.random() < 0.1:
            opening = before[3]
        kind = random.random()
        if kind < 0.15:
            size = 0.0
        elif kind < 0.3:
            size = random.normal() * 0.1
        else:
            size = drift + random.normal() * random.choice([0.5, 2, 4])
        closing = opening + size
        if random.random() < 0.1:
            closing = before[random.choice([0, 2, 3])]
        high, low = max(opening, closing) + shadow(), min(opening, closing) - shadow()
        bars[at] = np.round(np.round(np.array([opening, high, low, closing]) / tick) * tick, 2)
        price = 100 + (bars[at][3] - 100) * 0.98
    return bars


def windows():
    random = np.random.default_rng(61)
    wanted = {name: WINDOWS_PER_PATTERN for name in PATTERNS}
    found = []
    while wanted:
        bars = generated(random, 20_000, random.choice([0.01, 0.5]))
        for name in list(wanted):
            for row in sparse(name, bars)["rows"]:
                window = bars[max(0, row - BARS_BEFORE) : row + BARS_AFTER]
                if wanted.get(name) and sparse(name, window)["rows"]:
                    answers = {other: sparse(other, window) for other in PATTERNS}
                    found.append({"bars": window.tolist(), "fires": {k: v for k, v in answers.items() if v["rows"]}})
                    wanted[name] -= 1
                    if wanted[name] == 0:
                        del wanted[name]
        print("still wanted:", ", ".join(wanted) or "none")
    return found


def write(name, content):
    text = json.dumps(content, separators=(",", ":")).encode()
    # No time in the header: the same answers give the same file.
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write(text)
    (HERE / name).write_bytes(buffer.getvalue())
    print(name, len(text), "->", len(buffer.getvalue()), "bytes")


write(
    "patterns.json.gz",
    {
        "peer": f"TA-Lib {talib.__ta_version__.decode()}",
        "lookbacks": {name: abstract.Function(name).lookback for name in PATTERNS},
        "series": {series: of_series(series) for series in SERIES},
        "windows": windows(),
    },
)
