"""Peers beside ours: values and trades are compared first, then the times, one run of each in turn.

    python peers.py FOLDER BARS ROUNDS PARTS COMMAND…      (called by peers.ts; COMMAND starts side.ts)
"""

import importlib.metadata
import json
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import talib

from exact import references

warnings.filterwarnings("ignore")
FEES = 0.0001
CASH = 10_000.0
EXACT_ROWS = 20_000
# A round takes milliseconds, and V8 compiles a loop for good after some ten of a million rows.
KERNEL_ROUNDS = 40
# A pattern's kernel is made by the first round, and compiled for good while the next ones run.
PATTERN_ROUNDS = 10
# A round counts when the loop of bench/pace.ts took up to so many times its least time before and after it: what shares
# its core with another thread takes up to twice as long, and arithmetic more so than waiting for memory.
SLOWEST_CLOCK = 1.25
# At most so many times the rounds, until enough of them count.
MOST_ROUNDS = 5
MISSED = []


class Side:
    """Our process: a command in, nanoseconds out."""

    def __init__(self, folder, bars, command):
        self.folder = Path(folder)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*command, folder, bars], stdin=pipe, stdout=pipe, text=True)
        assert self.process.stdout.readline().strip() == "ready"
        self.least_pace = math.inf
        # Until V8 has compiled the loop for good.
        for _ in range(200):
            self.pace()

    def ask(self, verb, name):
        self.process.stdin.write(f"{verb} {name}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def pace(self):
        """How long a fixed loop takes just now (bench/pace.ts)."""
        self.process.stdin.write("pace\n")
        self.process.stdin.flush()
        pace = float(self.process.stdout.readline())
        self.least_pace = min(self.least_pace, pace)
        return pace

    def column(self, name):
        return np.fromfile(self.folder / f"{name}.f64")


def timed(run):
    begin = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begin


def paced(side, run):
    """The time of a round, and the slower pace of those before and after it."""
    before = side.pace()
    ns = run()
    return ns, max(before, side.pace())


def best_of_both(side, name, peer, rounds):
    """The best round of each, in turn, of those that had a core for themselves, as far as there are any."""
    theirs, ours = [], []
    alone = lambda found: [ns for ns, pace in found if pace <= SLOWEST_CLOCK * side.least_pace]
    for _ in range(MOST_ROUNDS * rounds):
        theirs.append(paced(side, lambda: timed(peer)))
        ours.append(paced(side, lambda: side.ask("time", name)))
        if min(len(alone(theirs)), len(alone(ours))) >= rounds:
            break
    best = lambda found: min(alone(found) or [ns for ns, _ in found])
    return best(theirs), best(ours)


def row(name, agreement, theirs, ours, bars, limit):
    ratio = ours / theirs
    missed = limit is not None and ratio > limit
    if missed:
        MISSED.append(name)
    goal = "" if limit is None else f" at most {limit}{'  MISSED' if missed else ''}"
    print(f"{name:<44} {agreement:<22} {theirs / bars:>9.2f} {ours / bars:>9.2f} {ratio:>7.2f}{goal}", flush=True)
    return ratio


def difference(ours, theirs):
    """The largest |a - b| / max(1, |a|, |b|) where the peer has a value."""
    known = ~np.isnan(theirs)
    scale = np.maximum(1, np.maximum(np.abs(ours[known]), np.abs(theirs[known])))
    return float(np.max(np.abs(ours[known] - theirs[known]) / scale))


def kernels(side, bars, rounds, o, h, l, c):
    calls = {
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
    # A prefix of the bars gives a prefix of the values; the exact ones take a second per ten thousand rows.
    exact = references(*[column[:EXACT_ROWS] for column in (h, l, c)])
    ratios, errors = [], []
    for name, call in calls.items():
        side.ask("values", name)
        outputs = call()
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        # TA-Lib and we may order the three bands differently: each output is compared with the closest of ours.
        ours = [side.column(f"{name}.{index}") for index in range(len(list(side.folder.glob(f"{name}.*.f64"))))]
        gap = max(min(difference(own, output) for own in ours) for output in outputs)
        if gap > 1e-9:
            raise SystemExit(f"{name} differs by {gap}; times are not compared.")
        errors.append((name, *[error_of(columns, exact[name]) for columns in (ours, outputs)]))
        times = best_of_both(side, name, call, max(KERNEL_ROUNDS, rounds))
        ratios.append(row(f"{name} (TA-Lib)", f"largest gap {gap:.0e}", *times, bars, 1.5))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    if mean > 0.9:
        MISSED.append("geometric mean of the kernels")
    print(f"{'geometric mean of the nine':<86} {mean:>7.2f} at most 0.9{'  MISSED' if mean > 0.9 else ''}")

    print(f"\nlargest error against long double, |a - b| / max(1, |a|, |b|), {EXACT_ROWS} bars: TA-Lib, ours")
    for name, own, peer in errors:
        print(f"{name:<44} {'':<22} {peer:>9.1e} {own:>9.1e}")
    print()


def error_of(columns, exact):
    """The largest error of any output, each beside the exact output that it is closest to."""
    heads = [column[:EXACT_ROWS] for column in columns]
    return max(min(difference(head.astype(np.longdouble), one) for head in heads) for one in exact)


def patterns(side, bars, rounds, *_):
    o, h, l, c = [side.column(f"candle-{name}") for name in ("open", "high", "low", "close")]
    names = talib.get_function_groups()["Pattern Recognition"]
    for name in names:
        side.ask("values", name)
        theirs = getattr(talib, name)(o, h, l, c)
        if not np.array_equal(side.column(name), theirs.astype(float)):
            raise SystemExit(f"{name} differs; times are not compared.")
        times = best_of_both(side, name, lambda: getattr(talib, name)(o, h, l, c), max(PATTERN_ROUNDS, rounds))
        row(f"{name} (TA-Lib)", "equal", *times, bars, 1)
    together = lambda: [getattr(talib, name)(o, h, l, c) for name in names]
    row("all 61 patterns (TA-Lib)", "equal", *best_of_both(side, "all patterns", together, 3), bars, 1)


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


def whole(side, bars, rounds, o, h, l, c):
    import vectorbt as vbt
    from vectorbt.portfolio.enums import StopEntryPrice, StopExitPrice

    close = pd.Series(c)
    stops = {
        "SMA 10-30": {},
        "SMA 10-30, stop and target": dict(sl_stop=0.02, tp_stop=0.04),
        "SMA 10-30, trailing stop": dict(sl_stop=0.015, sl_trail=True),
    }
    for name, more in stops.items():
        if more:
            prices = dict(stop_entry_price=StopEntryPrice.FillPrice, stop_exit_price=StopExitPrice.StopMarket)
            more = dict(more, open=o, high=h, low=l, **prices)

        def portfolio():
            entries, exits = crossings(c)
            found = vbt.Portfolio.from_signals(
                close, entries, exits, price=o, size=np.inf, fees=FEES, init_cash=CASH, freq="1h", engine="rust", **more
            )
            # What a result needs at least: its trades, its equity and a few statistics.
            return found, found.trades.records, found.total_return(), found.max_drawdown()

        try:
            records = portfolio()[1]
        except Exception as error:  # the Rust engine may refuse an option
            print(f"{name}: vectorbt does not run it: {error}")
            continue
        side.ask("values", name)
        ours = json.loads((side.folder / f"{name}.json").read_text())
        theirs = [
            (int(one.entry_idx), int(one.exit_idx), float(one.entry_price), float(one.exit_price))
            for one in records.itertuples() if int(one.status) == 1
        ]
        if len(ours) == len(theirs) + 1:
            # Ours sells what is open at the last close.
            ours = ours[:-1]
        same, total = agreement(ours, theirs)
        if not more and same < total:
            raise SystemExit(f"{name}: {total - same} of {total} trades differ; times are not compared.")
        times = best_of_both(side, name, portfolio, rounds)
        row(f"{name} (vectorbt-rust)", f"{same} of {total} trades", *times, bars, 0.45)
    backtesting_py(side, o, h, l, c)


def backtesting_py(side, o, h, l, c):
    """backtesting.py takes seconds: the first hundred thousand bars, once, and only the rows of its trades."""
    from backtesting import Backtest, Strategy

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
    begin = time.perf_counter_ns()
    stats = test.run()
    theirs = time.perf_counter_ns() - begin
    rows = set(zip(stats["_trades"]["EntryBar"], stats["_trades"]["ExitBar"]))
    ours = json.loads((side.folder / "SMA 10-30.json").read_text())
    own = {(entry, exit_) for entry, exit_, _, _ in ours if exit_ < count - 1}
    same = len(own & rows)
    trades = f"{same} of {max(len(own), len(rows))} trades"
    print(f"{'SMA 10-30 (backtesting.py, 1e5 bars, once)':<44} {trades:<22} {theirs / count:>9.0f}")


def main():
    folder, bars, rounds, parts, *command = sys.argv[1:]
    side = Side(folder, bars, command)
    bars, rounds = int(bars), int(rounds)
    names = ["TA-Lib", "vectorbt", "vectorbt-rust", "backtesting", "numpy"]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    print(f"{versions}; {bars} bars, best of {rounds} rounds in turn, of {max(KERNEL_ROUNDS, rounds)} for kernels, "
        f"of {max(PATTERN_ROUNDS, rounds)} for patterns\n")
    print(f"{'':<44} {'agreement':<22} {'peer':>9} {'ours':>9} {'ratio':>7}   (ns per bar)")
    columns = [side.column(name) for name in ("open", "high", "low", "close")]
    for part, run in {"kernels": kernels, "patterns": patterns, "whole": whole}.items():
        if part in parts.split(","):
            run(side, bars, rounds, *columns)
    side.process.stdin.close()
    print(f"\nMissed: {', '.join(MISSED)}" if MISSED else "\nNothing is missed.")


main()
