"""The universes of test/support/peerUniverses.ts, number by number, for the engines that we compare portfolios with."""

import gzip
import io
import json
import pathlib

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data"
START = pd.Timestamp("2015-01-01")


def mulberry32(seed, count):
    """The first numbers of the generator in test/support/scale.ts."""
    # NumPy's unsigned integers wrap around, as Math.imul does.
    state = np.uint32(seed) + np.arange(1, count + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
    mixed ^= mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))
    return (mixed ^ (mixed >> np.uint32(14))) / 4_294_967_296


def seeded_universe(seed):
    """Daily opens and closes; missing before an instrument begins and after it has ended.

    Every second seed has a five-day week. Of three seeds one has opens equal to the closes before.
    """
    first, second = mulberry32(seed, 2)
    count, days = 5 + int(first * 36), 300 + int(second * 1201)
    opens, closes = np.full((days, count), np.nan), np.full((days, count), np.nan)
    for at in range(count):
        numbers = mulberry32(1000 * seed + at + 1, 6 + 2 * days)
        price, volatility = 20 + 80 * numbers[0], 0.005 + 0.04 * numbers[1]
        begin = int(numbers[3] * days / 2) if numbers[2] < 0.25 else 0
        end = days - 20 - int(numbers[5] * days / 4) if numbers[4] < 0.2 else days
        gap = 0.0 if seed % 3 == 0 else 1.0
        for day in range(days):
            open_ = price * (1 + gap * (volatility * (numbers[6 + 2 * day] - 0.5)))
            price = open_ * (1 + volatility * (2 * numbers[7 + 2 * day] - 0.98))
            if begin <= day < end:
                opens[day, at], closes[day, at] = open_, price
    index = (pd.date_range if seed % 2 == 0 else pd.bdate_range)(START, periods=days)
    names = [f"S{at:02}" for at in range(count)]
    return pd.DataFrame(opens, index, names), pd.DataFrame(closes, index, names)


def joined(series):
    """The opens and closes of series by symbol, on the days that any of them has."""
    return [pd.DataFrame({symbol: frame[side] for symbol, frame in series.items()}) for side in ("open", "close")]


def own_series(symbols, timeframe="1d"):
    """Series that the project ships."""
    return joined({symbol: read(DATA / f"{symbol}-{timeframe}.csv.gz", "time") for symbol in symbols})


def shared_series(folder, symbols, timeframe="1d"):
    """Series of the folder that `npm run test:oracles` names."""
    path = pathlib.Path(folder) / "data"
    return joined({symbol: read(path / f"{symbol}-{timeframe}.csv.gz", "timestamp") for symbol in symbols})


def read(path, time):
    frame = pd.read_csv(path)
    unit = "ms" if time == "timestamp" else None
    frame.index = pd.to_datetime(frame[time], unit=unit, utc=True).dt.tz_localize(None)
    return frame[["open", "close"]].astype(float)


def digits(values):
    """As many as a comparison to 1e-9 needs, with two to spare."""
    return [float(f"{value:.12g}") for value in np.asarray(values, dtype=float)]


def write(name, content):
    buffer = io.BytesIO()
    # No time in the header: the same answers give the same file.
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write(json.dumps(content, separators=(",", ":")).encode())
    (HERE / f"{name}.json.gz").write_bytes(buffer.getvalue())
    print(f"{name}: {len(buffer.getvalue())} bytes")
