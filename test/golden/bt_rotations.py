"""Monthly rotations in bt, decided at closes and filled at the next opens; bench/peers uses them too.

bt knows one price per row. A day is therefore two rows, its open and its close. Where bt has a rule of its own that
ours contradicts, an algo below replaces it and names it.
"""

import warnings

import bt
import ffn
import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")
CASH = 10_000.0
CLOSE = pd.Timedelta(hours=16)


class WeighByVolatility(bt.Algo):
    """bt's WeighInvVol (ffn's formula), over a number of closes.

    bt takes the returns of a calendar period, of opens and closes alike, and of as many days as there are. Ours takes a
    number of bars, and an instrument with fewer is not eligible.
    """

    def __init__(self, closes, period):
        super().__init__()
        self.closes, self.period = closes, period

    def __call__(self, target):
        until = self.closes.index.searchsorted(target.now.normalize(), side="right")
        window = self.closes.iloc[max(0, until - self.period - 1) : until][target.temp["selected"]]
        known = window.columns[window.notna().all()] if len(window) > self.period else window.columns[:0]
        returns = window[known].pct_change().iloc[1:]
        target.temp["weights"] = ffn.calc_inv_vol_weights(returns) if len(known) > 0 else {}
        return len(known) > 0


class Keep(bt.Algo):
    """Remembers the weights and the value of a close for the next row: bt fills at the price it decides with."""

    def __call__(self, target):
        target.perm["due"] = (dict(target.temp["weights"]), target.value)
        return True


class Due(bt.Algo):
    def __call__(self, target):
        if "due" not in target.perm:
            return False
        weights, target.temp["base"] = target.perm.pop("due")
        prices = target.universe.loc[target.now]
        # An instrument that ended with the close of the decision has no next open: its share stays cash.
        target.temp["weights"] = {name: weight for name, weight in weights.items() if not np.isnan(prices[name])}
        return True


class RebalanceFromClose(bt.Algo):
    """Replaces bt's Rebalance where the open is not the close before, or where there are fees.

    bt multiplies weights with its value at the row of the fill, trades in the order of the weights, may borrow, and
    takes fees out of the money of each order. Ours multiplies them with the equity at the close of the decision, sells
    first, and scales all purchases by one factor where cash does not pay them and their fees.
    """

    def __init__(self, fee):
        super().__init__()
        self.fee = fee

    def __call__(self, target):
        weights, base = target.temp["weights"], target.temp["base"]
        prices = target.universe.loc[target.now]
        held = {name: child.position for name, child in target.children.items() if child.position != 0}
        wanted = {name: weight * base / prices[name] for name, weight in weights.items()}
        missing = {name: wanted.get(name, 0.0) - held.get(name, 0.0) for name in {**held, **wanted}}
        for name, quantity in missing.items():
            if quantity < 0:
                target.transact(quantity, child=name)
        purchases = {name: quantity for name, quantity in missing.items() if quantity > 0}
        cost = sum(quantity * prices[name] for name, quantity in purchases.items()) * (1 + self.fee)
        factor = min(1.0, target.capital / cost) if cost > 0 else 1.0
        for name, quantity in purchases.items():
            target.transact(quantity * factor, child=name)
        target.root.update(target.now)
        return True


def rotate(opens, closes, weigh, *, when=None, select=None, rebalance=None, fee=0.0):
    """The account of a rotation, one row per close, with its weights. `when` is the last row of each month."""
    rows = closes.set_axis(closes.index + CLOSE)
    prices = pd.concat([opens, rows]).sort_index()
    last = closes.apply(pd.Series.last_valid_index)
    ended = last[last < closes.index[-1] - pd.Timedelta(days=7)]
    fill = bt.AlgoStack(Due(), rebalance or bt.algos.Rebalance())
    decide = bt.AlgoStack(
        when or bt.algos.RunMonthly(run_on_first_date=False, run_on_end_of_period=True),
        *(select or [bt.algos.SelectAll()]),
        weigh,
        Keep(),
    )
    # Ours sells at the last close of an instrument.
    close = bt.AlgoStack(bt.algos.RunOnDate(*(ended + CLOSE)), bt.algos.ClosePositionsAfterDates("ended"))
    strategy = bt.Strategy("rotation", [bt.algos.Or([close, fill, decide])])
    test = bt.Backtest(
        strategy,
        prices,
        initial_capital=CASH,
        integer_positions=False,
        commissions=lambda quantity, price: abs(quantity) * price * fee,
        additional_data={"ended": pd.DataFrame({"date": ended + CLOSE})},
        progress_bar=False,
    )
    test.run()
    equity = test.strategy.values.reindex(rows.index)
    children = {name: child.values for name, child in test.strategy.children.items()}
    values = pd.DataFrame(children, columns=closes.columns)
    weights = values.reindex(rows.index).fillna(0.0).div(equity, axis=0)
    return equity.set_axis(closes.index), weights.set_axis(closes.index)
