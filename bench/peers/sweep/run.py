"""1,000 pairs of averages by vectorbt's Rust engine and by ours: the same trades, the same best pair, then both times.

It needs a Python with what bench/peers/requirements.txt names.

Each round of both begins with the bars. "summaries" is averages, signals, fills, and of each pair the number of trades
and the return; "equity" is the same with an equity column per pair, which ours reads for the largest drawdown too. What
numpy needs for vectorbt's averages and signals is in its times, and printed apart.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
    import pandas as pd
    import vectorbt as vbt
except ModuleNotFoundError as missing:
    # --help needs none of them.
    vbt = missing

FEES = 0.0005
HERE = Path(__file__).resolve().parent
NODE = ["node", str(HERE.parents[2] / "scripts" / "node24.mjs")]
ROUNDS = 3


def averages(close: np.ndarray, length: int) -> np.ndarray:
    sums = np.cumsum(np.insert(close, 0, 0.0))
    out = np.full(len(close), np.nan)
    out[length - 1 :] = (sums[length:] - sums[:-length]) / length
    return out


def signals(close: np.ndarray, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    columns = {length: averages(close, length) for length in {length for pair in pairs for length in pair}}
    entries = np.zeros((len(close), len(pairs)), dtype=bool)
    exits = np.zeros_like(entries)
    for column, (fast, slow) in enumerate(pairs):
        a, b = columns[fast], columns[slow]
        known = ~np.isnan(a) & ~np.isnan(b)
        up = known[1:] & known[:-1] & (a[:-1] <= b[:-1]) & (a[1:] > b[1:])
        down = known[1:] & known[:-1] & (a[:-1] >= b[:-1]) & (a[1:] < b[1:])
        # A signal at a close fills at the next open: one row later.
        entries[2:, column] = up[:-1]
        exits[2:, column] = down[:-1]
    return entries, exits


def command_line() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bars", type=int, metavar="BARS", help="bars of the series, 1,000 or more")
    bars = parser.parse_args().bars
    if bars < 1_000:
        parser.error("BARS must be 1000 or more: the longest average has 128 bars")
    if isinstance(vbt, ModuleNotFoundError):
        parser.exit(1, f"{vbt}. Use a Python with what bench/peers/requirements.txt names.\n")
    return bars


def main() -> None:
    bars = command_line()
    pairs = [(fast, slow) for fast in range(2, 22) for slow in range(30, 129, 2)]
    with tempfile.TemporaryDirectory() as folder:
        print(f"Running {len(pairs)} pairs on {bars} bars in our engine …", file=sys.stderr)
        ended = subprocess.run([*NODE, str(HERE / "ours.ts"), folder, str(bars), "2"])
        if ended.returncode != 0:
            raise SystemExit("Our side failed.")
        open_ = np.fromfile(Path(folder) / "open.f64")
        close = np.fromfile(Path(folder) / "close.f64")
        ours = json.loads((Path(folder) / "ours.json").read_text())
    best = {"equity": float("inf"), "summaries": float("inf")}
    preparing = float("inf")
    for round_number in range(1, ROUNDS + 1):
        print(f"Running them in vectorbt, round {round_number} of {ROUNDS} …", file=sys.stderr)
        begin = time.perf_counter()
        entries, exits = signals(close, pairs)
        preparing = min(preparing, time.perf_counter() - begin)
        account = dict(size=np.inf, fees=FEES, init_cash=10_000.0, freq="1h")
        portfolio = vbt.Portfolio.from_signals(
            pd.Series(close), entries, exits, price=open_[:, None], engine="rust", **account
        )
        trades = portfolio.trades.count()
        returns = portfolio.total_return()
        best["summaries"] = min(best["summaries"], time.perf_counter() - begin)
        portfolio.value()
        best["equity"] = min(best["equity"], time.perf_counter() - begin)
    counts, gains = trades.to_numpy(), returns.to_numpy()
    for name, seconds in best.items():
        mine = ours[name]
        differing = int((counts != np.array(mine["positions"])).sum())
        # Ours sells what is open at the last close and pays for it; the order of the pairs is the same.
        gap = float(np.abs(gains - np.array(mine["returnPct"])).max())
        same_best = int(gains.argmax()) == int(np.argmax(mine["returnPct"]))
        compared = {"pairs_with_other_trades": differing, "largest_gap_of_return": gap, "same_best_pair": same_best}
        print(json.dumps(compared))
        if differing or not same_best:
            raise SystemExit("The two do not agree; their times are not compared.")
        own = mine["ms"] / 1000
        print(f"{name}: vectorbt-rust {seconds:.3f} s, ours {own:.3f} s, {seconds / own:.1f} times")
    print(f"averages and signals in numpy, a part of both of vectorbt's times: {preparing:.3f} s")


try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
