"""The peers' side of bench:peers: TA-Lib, vectorbt's Rust engine, bt and backtesting.py.

    python peers.py FOLDER      (started by peers.ts; FOLDER has the bars that side.ts wrote)

Answers one command per line in JSON: `versions`; `check NAME` with how well our values or trades, which side.ts has
written, agree with the peer's; `run CALLS NAME` with the microseconds of processor time that so many calls of a task
took; `backtesting.py` with its agreement and its time.
"""

import importlib.metadata
import json
import math
import os
import signal
import sys
import time
import warnings
from functools import cache, cached_property
from pathlib import Path

try:
    import numpy as np
    import pandas as pd
    import talib

    from exact import references
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}.")

warnings.filterwarnings("ignore")
# backtesting.py draws a bar.
os.environ["TQDM_DISABLE"] = "1"
# Ctrl-C reaches every process of a terminal; this one ends with its standard input.
signal.signal(signal.SIGINT, signal.SIG_IGN)
FOLDER = Path(sys.argv[1])
FEES = 0.0001
CASH = 10_000.0
EXACT_ROWS = 20_000


class Differs(Exception):
    """Values or trades are not the same: times would compare different work."""


def column(name):
    return np.fromfile(FOLDER / f"{name}.f64")


@cache
def prices():
    return [column(name) for name in ("open", "high", "low", "close")]


def difference(ours, theirs):
    """The largest |a - b| / max(1, |a|, |b|) where the peer has a value."""
    known = ~np.isnan(theirs)
    scale = np.maximum(1, np.maximum(np.abs(ours[known]), np.abs(theirs[known])))
    return float(np.max(np.abs(ours[known] - theirs[known]) / scale))


class Kernels:
    def __init__(self):
        _, h, l, c = prices()
        self.calls = {
            "sma": lambda: talib.SMA(c, 20),
            "ema": lambda: talib.EMA(c, 20),
            "rsi": lambda: talib.RSI(c, 14),
            "atr": lambda: talib.ATR(h, l, c, 14),
            "macd": lambda: talib.MACD(c),
            "bbands": lambda: talib.BBANDS(c, 20),
            "adx": lambda: talib.ADX(h, l, c, 14),
            "stoch": lambda: talib.STOCH(h, l, c, 14, 3, 0, 3, 0),
            "max": lambda: talib.MAX(c, 50),
        }
        self.heads = [values[:EXACT_ROWS] for values in (h, l, c)]

    @cached_property
    def exact(self):
        """A prefix of the bars gives a prefix of the values; the exact ones take a second per ten thousand rows."""
        return references(*self.heads)

    def check(self, name):
        outputs = self.calls[name]()
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        # TA-Lib and we may order the three bands differently: each output is compared with the closest of ours.
        ours = [column(f"{name}.{index}") for index in range(len(list(FOLDER.glob(f"{name}.*.f64"))))]
        gap = max(min(difference(own, output) for own in ours) for output in outputs)
        if gap > 1e-9:
            raise Differs(f"its values differ by {gap}")
        errors = {side: error_of(columns, self.exact[name]) for side, columns in (("peer", outputs), ("ours", ours))}
        return {"agreement": f"largest gap {gap:.0e}", "errors": errors}


def error_of(columns, exact):
    """The largest error of any output, each beside the exact output that it is closest to."""
    heads = [column[:EXACT_ROWS] for column in columns]
    return max(min(difference(head.astype(np.longdouble), one) for head in heads) for one in exact)


class Patterns:
    def __init__(self):
        bars = [column(f"candle-{name}") for name in ("open", "high", "low", "close")]
        names = talib.get_function_groups()["Pattern Recognition"]
        self.calls = {name: lambda find=getattr(talib, name): find(*bars) for name in names}
        each = list(self.calls.values())
        self.calls["all 61 patterns"] = lambda: [find() for find in each]

    def check(self, name):
        found = self.calls[name]()
        if not isinstance(found, list) and not np.array_equal(column(name), found.astype(float)):
            raise Differs("its values differ")
        return {"agreement": "equal"}


def crossings(c):
    """The rows after which the mean of 10 closes crosses that of 30: a signal at a close fills at the next open."""
    fast, slow = talib.SMA(c, 10), talib.SMA(c, 30)
    above = fast > slow
    below = fast < slow
    entries, exits = np.zeros(len(c), dtype=bool), np.zeros(len(c), dtype=bool)
    known = ~np.isnan(slow[1:-1]) & ~np.isnan(slow[:-2])
    entries[2:] = known & above[1:-1] & ~above[:-2]
    exits[2:] = known & below[1:-1] & ~below[:-2]
    return entries, exits


def agreement(ours, theirs):
    """How many of the trades are the same: rows, and prices to nine digits."""
    own = {(trade[0], trade[1]): trade for trade in ours}
    same = 0
    for entry, exit_, entry_price, exit_price in theirs:
        found = own.get((entry, exit_))
        prices = zip(found[2:4], (entry_price, exit_price)) if found else ()
        if found and all(math.isclose(a, b, rel_tol=1e-9) for a, b in prices):
            same += 1
    return same, max(len(ours), len(theirs))


def our_trades(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


class Whole:
    def __init__(self):
        import vectorbt as vbt
        from vectorbt.portfolio.enums import StopEntryPrice, StopExitPrice

        o, h, l, c = prices()
        close = pd.Series(c)
        fills = dict(stop_entry_price=StopEntryPrice.FillPrice, stop_exit_price=StopExitPrice.StopMarket)
        stopped = dict(open=o, high=h, low=l, **fills)
        options = {
            "SMA 10-30": {},
            "SMA 10-30, stop and target": dict(sl_stop=0.02, tp_stop=0.04, **stopped),
            "SMA 10-30, trailing stop": dict(sl_stop=0.015, sl_trail=True, **stopped),
        }

        def portfolio(more):
            entries, exits = crossings(c)
            account = dict(size=np.inf, fees=FEES, init_cash=CASH, freq="1h")
            found = vbt.Portfolio.from_signals(close, entries, exits, price=o, engine="rust", **account, **more)
            # What a result needs at least: its trades, its equity and a few statistics.
            return found, found.trades.records, found.total_return(), found.max_drawdown()

        self.calls = {name: lambda more=more: portfolio(more) for name, more in options.items()}

    def check(self, name):
        theirs = [
            (int(one.entry_idx), int(one.exit_idx), float(one.entry_price), float(one.exit_price))
            for one in self.calls[name]()[1].itertuples() if int(one.status) == 1
        ]
        ours = our_trades(name)
        if len(ours) == len(theirs) + 1:
            # Ours sells what is open at the last close.
            ours = ours[:-1]
        same, total = agreement(ours, theirs)
        # With stops, a few differ by convention.
        if name == "SMA 10-30" and same < total:
            raise Differs(f"{total - same} of its {total} trades differ")
        return {"agreement": f"{same} of {total} trades"}


def backtesting_py():
    """backtesting.py takes seconds: the first hundred thousand bars, once, and only the rows of its trades."""
    from backtesting import Backtest, Strategy

    o, h, l, c = prices()
    count = min(len(c), 100_000)
    entries, exits = crossings(c)

    class Cross(Strategy):
        def init(self):
            pass

        def next(self):
            # A decision at this close fills at the next open, where `crossings` has it.
            row = len(self.data)
            if row < count and entries[row] and not self.position:
                self.buy(size=0.999)
            elif row < count and exits[row] and self.position:
                self.position.close()

    index = pd.date_range("2000-01-01", periods=count, freq="h")
    frame = pd.DataFrame({"Open": o[:count], "High": h[:count], "Low": l[:count], "Close": c[:count]}, index=index)
    # Whole units only: enough cash makes their rounding small.
    test = Backtest(frame, Cross, cash=1e9, commission=FEES)
    begin = time.process_time_ns()
    stats = test.run()
    ns = time.process_time_ns() - begin
    rows = set(zip(stats["_trades"]["EntryBar"], stats["_trades"]["ExitBar"]))
    own = {(entry, exit_) for entry, exit_, _, _ in our_trades("SMA 10-30") if exit_ < count - 1}
    return {"agreement": f"{len(own & rows)} of {max(len(own), len(rows))} trades", "ns": ns / count}


def versions():
    names = ["TA-Lib", "vectorbt", "vectorbt-rust", "backtesting", "bt", "numpy"]
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


@cache
def made(part):
    """The tasks of a part, once the first of them is asked for: importing vectorbt takes seconds."""
    return part()


def portfolios():
    # bt takes seconds to import, too.
    from portfolios import Portfolios

    return Portfolios(FOLDER)


def part_of(name):
    if name in ("ten slots by rank", "monthly rotation"):
        return made(portfolios)
    if name.startswith("SMA"):
        return made(Whole)
    return made(Patterns if name.startswith(("CDL", "all")) else Kernels)


def answer(command):
    verb, _, rest = command.partition(" ")
    if verb == "versions":
        return versions()
    if verb == "backtesting.py":
        return backtesting_py()
    if verb == "check":
        try:
            return part_of(rest).check(rest)
        except Differs as error:
            return {"differs": str(error)}
    calls, _, name = rest.partition(" ")
    task = part_of(name).calls[name]
    begin = time.process_time_ns()
    for _ in range(int(calls)):
        task()
    return (time.process_time_ns() - begin) / 1_000


def main():
    # What a library prints must not be taken for an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for command in sys.stdin:
        print(json.dumps(answer(command.rstrip("\n"))), file=answers, flush=True)


main()
