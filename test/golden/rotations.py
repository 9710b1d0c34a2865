#!/usr/bin/env python3
"""Monthly rotations as bt runs them: rotations.json.gz, the answers of test/engine/rotationsBesideBt.test.ts and of
test/oracles/portfolios.test.ts.

    pip install bt==1.4.1 && python3 test/golden/rotations.py FOLDER

FOLDER has the real series of `npm run test:oracles`; of them only bt's numbers are stored. A run names its universe and
its strategy, and has bt's equity at every month's first close and every STEPth close, and bt's weights at the closes
after every EVERYth rebalance.
"""

import sys

import bt
import numpy as np
import pandas as pd

from bt_rotations import CLOSE, RebalanceFromClose, WeighByVolatility, rotate
from universes import digits, own_series, seeded_universe, shared_series, write

SEEDS = 200
STEP = 100
EVERY = 8
FEE = 0.001


def month_ends(days):
    """Rows on which a month's last weekday takes place: that day, or, if it is a holiday, the next row.

    bt's month ends with its last row instead, which only the row after it reveals.
    """
    ends = pd.date_range(days[0], days[-1] + pd.offsets.BMonthEnd(), freq="BME")
    return days[np.unique(days.searchsorted(ends[ends <= days[-1]]))]


def run(name, opens, closes, mode, period, fee, **more):
    weigh = bt.algos.WeighEqually() if mode == "equal" else WeighByVolatility(closes, period)
    equity, weights = rotate(opens, closes, weigh, fee=fee, **more)
    month = closes.index.to_period("M")
    first = np.flatnonzero(month[1:] != month[:-1]) + 1
    sampled = np.union1d(first, np.arange(0, len(closes), STEP))
    return {
        "universe": name, "mode": mode, "period": period, "fee": fee,
        "equity": [[int(row), value] for row, value in zip(sampled, digits(equity.iloc[sampled]))],
        "weights": [[int(row), digits(weights.iloc[row])] for row in first[::EVERY]],
    }


def seeded(seed):
    opens, closes = seeded_universe(seed)
    # Of three universes one is bt's alone; one has gaps at the opens, and one has gaps and fees.
    fee = FEE if seed % 3 == 2 else 0.0
    rebalance = None if seed % 3 == 0 else RebalanceFromClose(fee)
    for mode in ["equal", "inverse"]:
        yield run(seed, opens, closes, mode, 5 + seed % 59, fee, rebalance=rebalance)


def real(name, opens, closes, when=None):
    for mode in ["equal", "inverse"]:
        yield run(name, opens, closes, mode, 63, FEE, when=when, rebalance=RebalanceFromClose(FEE))


def stocks(names, opens, closes):
    """On the days of the first and any other: bt has no day without a price, and one alone is always on target."""
    days = closes.index[closes[names[0]].notna() & (closes.notna().sum(axis=1) > 1)]
    when = bt.algos.RunOnDate(*(month_ends(days) + CLOSE))
    return real(names, opens.loc[days], closes.loc[days], when)


def main(folder):
    own, coins = ["AAPL", "GOOG", "IBM", "MSFT"], ["BTCUSDT", "SOLUSDT"]
    pairs = [["SPY", "GOOG"], ["SPY", "BTCUSD-coinbase"]]
    write("rotations", {
        "peer": f"bt {bt.__version__}",
        "own": [*stocks(own, *own_series(own))],
        "shared": [
            *[one for pair in pairs for one in stocks(pair, *shared_series(folder, pair))],
            *real(coins, *shared_series(folder, coins)),
        ],
        "seeded": [one for seed in range(1, SEEDS + 1) for one in seeded(seed)],
    })


if __name__ == "__main__":
    main(sys.argv[1])
