#!/usr/bin/env python3
"""Slots as vectorbt trades them: slots.json.gz, the answers of test/engine/slotsBesideVectorbt.test.ts and of
test/oracles/portfolios.test.ts.

    pip install vectorbt==1.2.0 vectorbt-rust==1.2.0 && python3 test/golden/slots.py FOLDER

FOLDER has the real series of `npm run test:oracles`; of them only vectorbt's numbers are stored. A run names its
universe and its strategy, and has vectorbt's trades (instrument, rows of entry and exit, size), sorted by entry and
instrument, and its equity at every STEPth close.
"""

import sys

import numpy as np
import pandas as pd
import vectorbt as vbt

from universes import digits, own_series, seeded_universe, shared_series, write
from vectorbt_slots import CASH, equal_slots, fixed_cash, orders, sequence, signals

SEEDS = 200
STEP = 50
FEE = 0.001
# Lengths whose averages are hardly ever equal on the series: whether equal ones cross is a matter of rounding.
FAST, SLOW, LOOKBACK = 7, 23, 24


def run(name, opens, closes, sizing, slots, fee):
    has_bar = closes.notna().to_numpy()
    last = closes.apply(pd.Series.last_valid_index)
    is_closed_early = (last < closes.index[-1] - pd.Timedelta(days=7)).to_numpy()
    made = orders(has_bar, *signals(closes, FAST, SLOW, LOOKBACK), slots, is_closed_early)
    days, count = closes.shape
    # A bar is two rows, since vectorbt has one order per row and instrument: an entry at the open of the last bar of an
    # instrument is followed by the exit at its close. An absent instrument keeps its last close.
    prices = np.empty((2 * days, count))
    prices[1::2] = closes.ffill()
    prices[0::2] = opens.where(opens.notna(), closes.ffill())
    side, calls = np.zeros((2 * days, count)), np.empty((2 * days, count), dtype=np.int64)
    for row, moments in made.items():
        for moment, filled in enumerate(moments):
            calls[2 * row + moment] = sequence(filled, count)
            for instrument, is_entry in filled:
                side[2 * row + moment, instrument] = 1 if is_entry else -1
    # An instrument that has not begun is not held; any price does.
    prices = pd.DataFrame(prices).bfill().to_numpy()
    if sizing == "equal_slots":
        found = equal_slots(prices, prices, side, calls, slots, fee)
    else:
        found = fixed_cash(prices, prices, side, calls, value_of(slots), fee)
    equity = found.value().to_numpy()[1::2]
    trades = found.trades.records.sort_values(["entry_idx", "col"])
    return {
        "universe": name, "sizing": sizing, "slots": slots, "value": value_of(slots), "fee": fee,
        "instruments": trades["col"].tolist(),
        "entries": (trades["entry_idx"] // 2).tolist(),
        "exits": (trades["exit_idx"] // 2).tolist(),
        "sizes": digits(trades["size"]),
        "equity": digits(equity[::STEP]),
    }


def value_of(slots):
    """Of a position, so that cash never runs out: no order is rejected."""
    return CASH * 0.1 / slots


def seeded(seed):
    opens, closes = seeded_universe(seed)
    sizing = "equal_slots" if seed % 4 < 2 else "fixed_cash"
    return run(seed, opens, closes, sizing, 2 + seed % 5, FEE if seed % 3 == 2 else 0.0)


def real(names, timeframe, opens, closes, slots):
    for sizing in ["equal_slots", "fixed_cash"]:
        yield {**run(names, opens, closes, sizing, slots, FEE), "timeframe": timeframe}


def main(folder):
    own = ["AAPL", "GOOG", "IBM", "MSFT", "NASDAQ", "SPX"]
    daily = ["SPY", "GOOG", "BTCUSD-coinbase", "BTCUSDT", "SOLUSDT"]
    hourly = ["SPY", "EURUSD", "BTCUSDT", "SOLUSDT"]
    write("slots", {
        "peer": f"vectorbt {vbt.__version__}",
        "fast": FAST, "slow": SLOW, "lookback": LOOKBACK, "step": STEP,
        "own": [*real(own, "1d", *own_series(own), 2)],
        "shared": [
            *real(daily, "1d", *shared_series(folder, daily), 2),
            *real(hourly, "1h", *shared_series(folder, hourly, "1h"), 1),
        ],
        "seeded": [seeded(seed) for seed in range(1, SEEDS + 1)],
    })


if __name__ == "__main__":
    main(sys.argv[1])
