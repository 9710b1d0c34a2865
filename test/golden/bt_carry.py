#!/usr/bin/env python3
"""Borrowing and dividends as bt books them: bt_carry.json.gz, the answers of test/engine/carryBesideBt.test.ts.

    pip install bt==1.4.1 && python3 test/golden/bt_carry.py

bt holds a security with coupons and holding costs per unit. Coupons are the dividends at their ex-dates; the holding
cost of a short is the close before times the rate of a day, for each day since the bar before. One position of fixed
size per run, entered and left at opens. A bar is three rows of bt: the night before, in which nothing is traded, since
bt books coupons and costs for what is held at the end of a row; its open; and its close.
"""

import gzip
import json
from pathlib import Path

import bt
import numpy as np
import pandas as pd

FILE = Path(__file__).parent / "bt_carry.json.gz"
RATE = 0.08


def bars():
    random = np.random.default_rng(35)
    days = pd.bdate_range("2021-03-01", periods=120)
    close = np.round(50 * np.exp(np.cumsum(random.normal(0, 0.02, 120))), 4)
    opens = np.round(np.concatenate([[50.0], close[:-1]]) * np.exp(random.normal(0, 0.004, 120)), 4)
    return days, opens, close


def run(side, enter, leave):
    days, opens, close = bars()
    rows = pd.DatetimeIndex([day + pd.Timedelta(hours=hour) for day in days for hour in (0, 9, 20)])
    night = np.concatenate([opens[:1], close[:-1]])
    prices = pd.DataFrame({"X": np.ravel(np.column_stack([night, opens, close]))}, index=rows)
    dividends = {20: 0.4, 55: 0.45, 90: 0.5}
    coupons = pd.DataFrame(0.0, index=rows, columns=["X"])
    costs = coupons.copy()
    for row, amount in dividends.items():
        coupons.iloc[3 * row, 0] = amount
    for row in range(1, len(days)):
        nights = (days[row] - days[row - 1]).days
        costs.iloc[3 * row, 0] = close[row - 1] * RATE / 365 * nights
    position = pd.Series(0.0, index=rows)
    position.iloc[3 * enter + 1 : 3 * leave + 1] = side * 100.0

    class Hold(bt.Algo):
        def __call__(self, target):
            wanted = position.loc[target.now]
            held = target["X"].position if "X" in target.children else 0.0
            if wanted != held:
                target.transact(wanted - held, "X")
            return True

    # Shares are whole, and trading is free.
    strategy = bt.Strategy("carry", [Hold()], [bt.core.CouponPayingSecurity("X")])
    test = bt.Backtest(
        strategy, prices, initial_capital=100_000.0, integer_positions=False, commissions=lambda q, p: 0.0,
        additional_data={"coupons": coupons, "cost_long": coupons * 0, "cost_short": costs},
    )
    bt.run(test)
    # bt puts a row before the first.
    equity = test.strategy.values.reindex(rows).to_numpy()[2::3]
    return {"side": side, "enter": enter, "leave": leave, "equity": [float(f"{value:.12g}") for value in equity]}


def main():
    days, opens, close = bars()
    content = {
        "rate": RATE,
        "dividends": [[20, 0.4], [55, 0.45], [90, 0.5]],
        "time": [int(day.timestamp() * 1000) for day in days],
        "open": opens.tolist(), "close": close.tolist(),
        "runs": [run(1, 5, 100), run(-1, 5, 100), run(-1, 55, 90), run(1, 20, 56)],
    }
    FILE.write_bytes(gzip.compress(json.dumps(content).encode(), mtime=0))


if __name__ == "__main__":
    main()
