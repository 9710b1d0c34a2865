#!/usr/bin/env python3
"""Every non-pattern function of TA-Lib as TA-Lib itself computes it: talib-functions.json.gz, the answers of
test/engine/indicators/talib.test.ts and of the table in docs/indicators.md.

    pip install TA-Lib==0.8.2 && python3 test/golden/talib_functions.py

Bars are the first ROWS of two of the project's own series (data/). A case names the function, its arguments and input
columns, and holds its lookback and every STEPth row from there on under TA-Lib's output names (null = missing).
"""
import csv, gzip, itertools, json, pathlib
import numpy as np
import talib
from talib import abstract

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data"
ROWS = 500
STEP = 9
SERIES = ["GOOG-1d", "EURUSD-1h"]
MA_TYPES = 14


def read(series):
    with gzip.open(DATA / f"{series}.csv.gz", "rt") as file:
        rows = list(itertools.islice(csv.DictReader(file), ROWS))
    bars = {name: np.array([float(row[name]) for row in rows]) for name in ("open", "high", "low", "close", "volume")}
    bars["scaled"] = bars["close"] / bars["close"].max()
    bars["periods"] = 2.0 + np.arange(len(rows)) % 29
    return bars


def inputs_of(info):
    if info["group"] == "Math Transform":
        return ["scaled"]
    names = []
    for value in info["input_names"].values():
        names += list(value) if isinstance(value, (list, tuple)) else [value]
    return names


def varied(parameters, by):
    """The parameters, lengths times `by`; average types rotate."""
    out = {}
    for index, (name, value) in enumerate(parameters.items()):
        if "matype" in name:
            out[name] = (value + 1 + index) % 9
        elif isinstance(value, int):
            out[name] = max(2, round(value * by))
        elif "limit" in name or "acceler" in name or name in ("maximum", "vfactor"):
            out[name] = round(value * 0.8, 3)
        elif name == "percentile":
            out[name] = 80.0
        elif name in ("startvalue", "offsetonreverse"):
            out[name] = 0.01
        else:
            out[name] = value + 0.5
    return out


def cases(bars):
    for group, functions in talib.get_function_groups().items():
        if group == "Pattern Recognition":
            continue
        for function in functions:
            info = abstract.Function(function).info
            defaults = dict(info["parameters"])
            sets = [defaults] + ([varied(defaults, 0.5), varied(defaults, 1.7)] if defaults else [])
            if function == "MA":
                sets += [{"timeperiod": 12, "matype": kind} for kind in range(MA_TYPES)]
            for parameters in sets:
                run = abstract.Function(function)
                run.parameters = parameters
                lookback = run.lookback
                names = inputs_of(info)
                out = getattr(talib, function)(*[bars[name] for name in names], **parameters)
                out = out if isinstance(out, tuple) else (out,)
                yield {
                    "fn": function, "params": parameters, "inputs": names, "lookback": lookback,
                    "outputs": {name: [float(x) if np.isfinite(x) else None for x in values[lookback::STEP]]
                                for name, values in zip(info["output_names"], out)},
                }


content = {"talib": talib.__version__, "c": talib.__ta_version__.decode(), "rows": ROWS, "step": STEP,
           "series": [{"name": name, "cases": list(cases(read(name)))} for name in SERIES]}
path = HERE / "talib-functions.json.gz"
with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
    packed.write(json.dumps(content, separators=(",", ":")).encode())
print(path.name, path.stat().st_size, sum(len(one["cases"]) for one in content["series"]), "cases")
