"""The nine kernels in 80-bit long double, straight from their formulas: how far a value in double is from the truth."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

LONG = np.longdouble


def placed(values, first, count):
    out = np.full(count, np.nan, dtype=LONG)
    out[first : first + len(values)] = values
    return out


def mean(x, length, first=0):
    return placed(sliding_window_view(x[first:], length).sum(axis=1) / LONG(length), first + length - 1, len(x))


def recursive(x, length, first, factor):
    """seed: the mean of `length` values up to the row `first`; then out += (x - out) · factor."""
    out = np.full(len(x), np.nan, dtype=LONG)
    value = x[first - length + 1 : first + 1].sum() / LONG(length)
    out[first] = value
    for row in range(first + 1, len(x)):
        value += (x[row] - value) * factor
        out[row] = value
    return out


def ema(x, length, first):
    return recursive(x, length, first, LONG(2) / (length + 1))


def wilder(x, length, first):
    return recursive(x, length, first, LONG(1) / length)


def true_range(h, l, c):
    before = np.concatenate(([c[0]], c[:-1]))
    return np.maximum(h, before) - np.minimum(l, before)


def rsi(c, length):
    change = np.concatenate(([LONG(0)], np.diff(c)))
    gain, loss = (wilder(np.maximum(sign * change, 0), length, length) for sign in (1, -1))
    return 100 * gain / (gain + loss)


def macd(c):
    fast, slow = ema(c, 12, 25), ema(c, 26, 25)
    line = fast - slow
    signal = ema(line, 9, 33)
    line[:33] = np.nan
    return line, signal, line - signal


def bbands(c, length):
    windows = sliding_window_view(c, length)
    middle = windows.sum(axis=1) / LONG(length)
    deviation = np.sqrt(((windows - middle[:, None]) ** 2).sum(axis=1) / LONG(length))
    return [placed(middle + sign * 2 * deviation, length - 1, len(c)) for sign in (1, 0, -1)]


def adx(h, l, c, length):
    up, down = np.diff(h), -np.diff(l)
    plus = np.where((up > down) & (up > 0), up, LONG(0))
    minus = np.where((down > up) & (down > 0), down, LONG(0))
    sums = [part[: length - 1].sum() for part in (plus, minus)]
    directional = np.full(len(c), np.nan, dtype=LONG)
    for row in range(length, len(c)):
        sums = [part_sum - part_sum / length + part[row - 1] for part_sum, part in zip(sums, (plus, minus))]
        total = sums[0] + sums[1]
        directional[row] = 100 * abs(sums[0] - sums[1]) / total
    return wilder(directional, length, 2 * length - 1)


def stoch(h, l, c, length, smooth, second):
    highest = placed(sliding_window_view(h, length).max(axis=1), length - 1, len(c))
    lowest = placed(sliding_window_view(l, length).min(axis=1), length - 1, len(c))
    k = mean(100 * (c - lowest) / (highest - lowest), smooth, length - 1)
    d = mean(k, second, length + smooth - 2)
    k[: length + smooth + second - 3] = np.nan
    return k, d


def references(h, l, c):
    """Outputs by the name of the kernel, in TA-Lib's order."""
    h, l, c = (column.astype(LONG) for column in (h, l, c))
    return {
        "sma": [mean(c, 20)],
        "ema": [ema(c, 20, 19)],
        "rsi": [rsi(c, 14)],
        "atr": [wilder(true_range(h, l, c), 14, 14)],
        "macd": list(macd(c)),
        "bbands": bbands(c, 20),
        "adx": [adx(h, l, c, 14)],
        "stoch": list(stoch(h, l, c, 14, 3, 3)),
        "max": [placed(sliding_window_view(c, 50).max(axis=1), 49, len(c))],
    }
