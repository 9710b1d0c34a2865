"""Portfolios of bench:peers: slots in vectorbt's Rust engine, with shared cash, and a rotation in bt."""

import json
import sys
from pathlib import Path

import bt
import numpy as np
import pandas as pd
import talib

# What the goldens of the tests are made with.
sys.path.append(str(Path(__file__).parents[2] / "test" / "golden"))
from bt_rotations import CASH, WeighByVolatility  # noqa: E402
from vectorbt_slots import equal_slots, orders, sequence, signals  # noqa: E402

SLOTS, FEE = 10, 0.0001
FAST, SLOW, RANKED = 10, 30, 24
YEAR, VOLATILITY = 252, 63
TOLERANCE = 1e-9


class Portfolios:
    def __init__(self, folder):
        self.folder = folder
        self.calls = {}
        sizes = json.loads((folder / "portfolios.json").read_text())
        for name, make in [("ten slots by rank", Slots), ("monthly rotation", Rotation)]:
            shape = (sizes[name]["instruments"], sizes[name]["bars"])
            self.calls[name] = make(*(self.column(f"{name}.{side}").reshape(shape) for side in ("open", "close")))

    def column(self, name):
        return np.fromfile(self.folder / f"{name}.f64")

    def check(self, name):
        trades = json.loads((self.folder / f"{name}.trades.json").read_text())
        equity = self.column(f"{name}.equity")
        weights = self.column(f"{name}.weights").reshape(len(equity), -1)
        return self.calls[name].check(trades, equity, weights)


def gap(ours, theirs, scale=1.0):
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs)) / scale))


class Slots:
    """vectorbt knows no slots: it is given which crossings get in, and in which order, and that is not timed."""

    def __init__(self, opens, closes):
        self.by_instrument = closes
        self.opens, self.closes = np.ascontiguousarray(opens.T), np.ascontiguousarray(closes.T)
        frame = pd.DataFrame(self.closes, pd.RangeIndex(len(self.closes)))
        shape = self.closes.shape
        made = orders(np.ones(shape, bool), *signals(frame, FAST, SLOW, RANKED), SLOTS, np.zeros(shape[1], bool))
        self.gets_in, self.order = np.zeros(shape, bool), np.empty(shape, np.int64, order="F")
        for row, (filled, _) in made.items():
            self.order[row] = sequence(filled, shape[1])
            self.gets_in[row, [instrument for instrument, is_entry in filled if is_entry]] = True

    def averages(self, length):
        return np.stack([talib.SMA(close, length) for close in self.by_instrument], axis=1)

    def portfolio(self):
        fast, slow = self.averages(FAST), self.averages(SLOW)
        above, below = fast > slow, fast < slow
        side = np.zeros(self.closes.shape)
        # A signal at a close fills at the next open. An exit without a position is no order.
        side[2:][below[1:-1] & ~below[:-2]] = -1
        side[2:][above[1:-1] & ~above[:-2] & self.gets_in[2:]] = 1
        return equal_slots(self.opens, self.closes, side, self.order, SLOTS, FEE)

    def __call__(self):
        found = self.portfolio()
        # What a result needs at least: its trades, its equity and a few statistics.
        return found.trades.records, found.total_return(), found.max_drawdown()

    def check(self, trades, equity, weights):
        found = self.portfolio()
        theirs = found.trades.records.sort_values(["entry_idx", "col"])
        ours = pd.DataFrame(trades, columns=["col", "entry", "exit", "size"]).sort_values(["entry", "col"])
        rows = [ours[["col", "entry", "exit"]].to_numpy(), theirs[["col", "entry_idx", "exit_idx"]].to_numpy()]
        if not np.array_equal(*rows):
            return {"differs": f"its {len(ours)} trades are not the {len(theirs)} of vectorbt"}
        # Ours sells what is open at the last close, and pays the fees of that.
        value = found.value().to_numpy()
        sizes, marks = theirs["size"].to_numpy(), value[:-1]
        largest = max(gap(ours["size"], sizes, sizes), gap(equity[:-1], marks, marks))
        if largest > TOLERANCE:
            return {"differs": f"sizes or equity differ by {largest}"}
        return {"agreement": f"{len(ours)} trades, {largest:.0e}"}


class Rotation:
    """Opens are the closes before, so that the close that bt decides and fills at is the price of our next open."""

    def __init__(self, opens, closes):
        days = pd.date_range("1900-01-01", periods=closes.shape[1])
        names = [f"S{at:03}" for at in range(len(closes))]
        self.closes = pd.DataFrame(np.ascontiguousarray(closes.T), days, names)

    def backtest(self):
        strategy = bt.Strategy("rotation", [
            bt.algos.RunMonthly(run_on_first_date=False, run_on_end_of_period=True),
            bt.algos.SetStat(self.closes.pct_change(YEAR)),
            bt.algos.SelectN(self.closes.shape[1] // 10),
            WeighByVolatility(self.closes, VOLATILITY),
            bt.algos.Rebalance(),
        ])
        test = bt.Backtest(
            strategy, self.closes, initial_capital=CASH, integer_positions=False,
            commissions=lambda quantity, price: 0.0, progress_bar=False,
        )
        test.run()
        return test

    def __call__(self):
        # The equity is there; bt's statistics would take longer.
        return self.backtest().strategy.values

    def check(self, trades, equity, weights):
        strategy = self.backtest().strategy
        value = strategy.values.reindex(self.closes.index).to_numpy()
        children = {name: child.values for name, child in strategy.children.items()}
        held = pd.DataFrame(children, columns=self.closes.columns).reindex(self.closes.index).fillna(0.0).to_numpy()
        month = self.closes.index.month
        # At the close of a decision bt has already traded; ours trades at the next open. At the end ours sells.
        same = np.append(month[1:] == month[:-1], False)
        largest = max(gap(equity, value, value), gap(weights[same], (held / value[:, None])[same]))
        if largest > TOLERANCE:
            return {"differs": f"weights or equity differ by {largest}"}
        return {"agreement": f"{int((~same).sum()) - 1} months, {largest:.0e}"}
