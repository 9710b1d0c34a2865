#!/usr/bin/env python3
"""The indicators TA-Lib lacks, as pandas-ta-classic and ta compute them: indicators.json.gz, the answers of
test/engine/indicators/peers.test.ts.

    pip install pandas_ta_classic==0.8.32 ta==0.11.0 && python3 test/golden/indicators.py

Bars are the first of the project's own series (data/). A case names one of our indicators, its arguments, and the
peer's numbers under our output names: the first row with a value, and every STEPth row from there (null = missing).
"""
import csv, gzip, io, json, pathlib, warnings
import numpy as np
import pandas as pd
import pandas_ta_classic as pta
from ta.volume import VolumeWeightedAveragePrice
from ta.trend import KSTIndicator
from ta.volatility import KeltnerChannel

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data"
BARS = 600
STEP = 7


def read(series):
    with gzip.open(DATA / f"{series}.csv.gz", "rt") as file:
        frame = pd.read_csv(file, nrows=BARS, parse_dates=["time"], index_col="time")
    frame.index = frame.index.tz_localize(None)
    return frame.astype(float)


def bands_of(frame):
    """The first three columns of a frame whose bands stand from the lowest to the highest."""
    return dict(zip(["lower", "middle", "upper"], [frame.iloc[:, i] for i in range(3)]))


def cases(b):
    o, h, l, c, v = b.open, b.high, b.low, b.close, b.volume
    yield "alma", {"length": 21, "offset": 0.3, "sigma": 4}, {"value": pta.alma(c, 21, 4, 0.7)}
    cloud = pta.ichimoku(h, l, c, 7, 22, 44, as_dataframe=True)
    yield "ichimoku", {"conversion_length": 7, "base_length": 22, "span_b_length": 44, "displacement": 22}, {
        "conversion": cloud["ITS_7"], "base": cloud["IKS_22"], "span_a": cloud["ISA_7"], "span_b": cloud["ISB_22"]}
    bands = bands_of(pta.kc(h, l, c, 14, 2.5, "wma"))
    yield "keltner_range", {"length": 14, "multiplier": 2.5, "ma_type": "wma"}, bands
    original = KeltnerChannel(h, l, c, 15, original_version=True)
    yield "keltner_original", {"length": 15}, {
        "upper": original.keltner_channel_hband(),
        "middle": original.keltner_channel_mband(),
        "lower": original.keltner_channel_lband(),
    }
    donchian = bands_of(pta.donchian(h, l, 12, 33))
    yield "donchian_split", {"lower_length": 12, "upper_length": 33}, donchian
    chandelier = pta.ce(h, l, c, 10, 2)
    yield "chandelier_exit", {"length": 10, "multiplier": 2}, {
        "long": chandelier.iloc[:, 0], "short": chandelier.iloc[:, 1]}
    kst = KSTIndicator(c, 5, 8, 13, 21, 6, 7, 8, 9, 4)
    lengths = {
        "roc1_length": 5, "roc2_length": 8, "roc3_length": 13, "roc4_length": 21,
        "sma1_length": 6, "sma2_length": 7, "sma3_length": 8, "sma4_length": 9,
    }
    yield "kst", {**lengths, "signal_length": 4}, {"kst": kst.kst(), "signal": kst.kst_sig()}
    qqe = pta.qqe(c, 10, 3, 3.0)
    yield "qqe", {"length": 10, "smooth_length": 3, "factor": 3}, {
        "line": qqe.iloc[:, 0], "rsi_ma": qqe.iloc[:, 1],
        "long": qqe.iloc[:, 4], "short": qqe.iloc[:, 5], "trend": qqe.iloc[:, 6]}
    tsi = pta.tsi(c, 8, 20, 9)
    yield "tsi_signal", {"fast_length": 8, "slow_length": 20, "signal_length": 9}, {
        "tsi": tsi.iloc[:, 0], "signal": tsi.iloc[:, 1]}
    yield "dpo_lagged", {"length": 17}, {"value": pta.dpo(c, 17, centered=False)}
    lazy = pta.squeeze(h, l, c, 18, 1.8, 22, 1.2, lazybear=True)
    widths = {"bb_length": 18, "bb_multiplier": 1.8, "kc_length": 22, "kc_multiplier": 1.2}
    yield "squeeze_momentum", widths, {"momentum": lazy.iloc[:, 0], "on": lazy["SQZ_ON"], "off": lazy["SQZ_OFF"]}
    carter = pta.squeeze(h, l, c, 18, 1.8, 22, 1.2, 9, 4)
    yield "ttm_squeeze", {**widths, "momentum_length": 9, "smooth_length": 4}, {
        "momentum": carter.iloc[:, 0], "on": carter["SQZ_ON"], "off": carter["SQZ_OFF"]}
    yield "vwap_session", {"anchor": "week"}, {"value": pta.vwap(h, l, c, v, "W")}
    yield "vwap_session", {"anchor": "month"}, {"value": pta.vwap(h, l, c, v, "M")}
    weighted = VolumeWeightedAveragePrice(h, l, c, v, 30)
    yield "vwap_rolling", {"length": 30}, {"value": weighted.volume_weighted_average_price()}
    yield "eom", {"length": 9, "divisor": 1e6}, {"value": pta.eom(h, l, c, v, 9, 1e6)}
    kvo = pta.kvo(h, l, c, v, 12, 30, 7)
    yield "kvo", {"fast_length": 12, "slow_length": 30, "signal_length": 7}, {
        "kvo": kvo.iloc[:, 0], "signal": kvo.iloc[:, 1]}
    yield "hist_vol", {"length": 33, "annualization": 365}, {"value": pta.hvol(c, 33, 365)}
    yield "chop", {"length": 9}, {"value": pta.chop(h, l, c, 9)}
    yield "zscore", {"length": 17}, {"value": pta.zscore(c, 17)}


def pivots(b):
    """Levels from the bar before: only on daily bars does that equal levels from the day before."""
    levels = lambda count: ["pivot"] + [f"{side}{i + 1}" for side in "rs" for i in range(count)]
    for kind, count in (("classic", 4), ("fibonacci", 3), ("camarilla", 4)):
        frame = pta.cpr(b.open, b.high, b.low, b.close, method=kind, levels="all")
        yield f"pivots_{kind}", {}, {name: frame[f"CPR_{name.upper()}"] for name in levels(count)}


def answers(column):
    values = column.to_numpy(dtype=float)
    first = int(np.argmax(~np.isnan(values)))
    return {"first": first, "values": [None if np.isnan(x) else float(x) for x in values[first::STEP]]}


def collect(series, generator):
    for id, args, outputs in generator(read(series)):
        answered = {name: answers(column) for name, column in outputs.items()}
        yield {"id": id, "args": args, "series": series, "outputs": answered}


content = {
    "peers": f"pandas-ta-classic {pta.version}, ta 0.11.0",
    "bars": BARS,
    "step": STEP,
    "cases": [*collect("EURUSD-1h", cases), *collect("GOOG-1d", cases), *collect("GOOG-1d", pivots)],
}
text = json.dumps(content, separators=(",", ":")).encode()
buffer = io.BytesIO()
# No time in the header: the same answers give the same file.
with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
    file.write(text)
(HERE / "indicators.json.gz").write_bytes(buffer.getvalue())
print(len(content["cases"]), "cases,", len(buffer.getvalue()), "bytes")
