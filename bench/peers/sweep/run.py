"""1,000 pairs of averages by vectorbt's Rust engine and by ours: the same trades, the same best pair, then both times.

    python bench/peers/sweep/run.py BARS NODE_COMMAND…      (in an environment with vectorbt and vectorbt-rust)

Each round of both begins with the bars. "summaries" is averages, signals, fills, and of each pair the number of trades
and the return; "equity" is the same with an equity column per pair, which ours reads for the largest drawdown too. What
numpy needs for vectorbt's averages and signals is in its times, and printed apart.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import vectorbt as vbt

FEES = 0.0005
HERE = Path(__file__).resolve().parent


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


def main() -> None:
    bars, node = sys.argv[1], sys.argv[2:]
    pairs = [(fast, slow) for fast in range(2, 22) for slow in range(30, 129, 2)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*node, str(HERE / "ours.ts"), folder, bars, "2"], check=True)
        open_ = np.fromfile(Path(folder) / "open.f64")
        close = np.fromfile(Path(folder) / "close.f64")
        ours = json.loads((Path(folder) / "ours.json").read_text())
    best = {"equity": float("inf"), "summaries": float("inf")}
    preparing = float("inf")
    for _ in range(3):
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


main()
