"""Crossings of averages that compete for slots, traded by vectorbt with one account; bench/peers uses them too.

vectorbt shares cash, but knows neither slots nor ranks. A loop of our rules, written from docs/semantics.md §8.6 alone,
says which signals get in and in which order; sizes, fees, cash and equity are vectorbt's.
"""

import warnings

import numpy as np
import pandas as pd
import vectorbt as vbt

warnings.filterwarnings("ignore")
CASH = 10_000.0


def signals(closes, fast, slow, lookback):
    """Crossings up, crossings down and ranks, at the closes of each instrument's own bars."""
    made = []
    for name in closes:
        own = closes[name].dropna()
        side = np.sign(own.rolling(fast).mean() - own.rolling(slow).mean())
        before, known = side.shift(1), np.arange(len(own)) >= max(slow, lookback)
        up, down = known & (side > 0) & (before <= 0), known & (side < 0) & (before >= 0)
        made.append(pd.DataFrame({"up": up, "down": down, "rank": own.pct_change(lookback)}))
    up, down, rank = (pd.concat([one[key] for one in made], axis=1).reindex(closes.index) for key in made[0])
    return up.fillna(False).to_numpy(bool), down.fillna(False).to_numpy(bool), rank.to_numpy()


def orders(has_bar, up, down, rank, slots, is_closed_early):
    """Orders by row and moment (0: the open, 1: the close), each (instrument, is an entry), in the order of fills.

    @param is_closed_early whether an instrument's data ends more than seven days before the run does
    """
    made = {}
    held, leaving, pending = [], [], []
    last = [np.flatnonzero(column)[-1] for column in has_bar.T]
    for row in range(len(has_bar)):
        filled = []
        for instrument in [one for one in leaving if has_bar[row, one]]:
            filled.append((instrument, False))
            leaving.remove(instrument)
            held.remove(instrument)
        for instrument in [one for one in pending if has_bar[row, one]]:
            pending.remove(instrument)
            # An exit may not have filled yet, because its instrument has no bar.
            if len(held) < slots:
                filled.append((instrument, True))
                held.append(instrument)
        ended = [one for one in held if last[one] == row and is_closed_early[one]]
        for instrument in ended:
            held.remove(instrument)
        made[row] = (filled, [(instrument, False) for instrument in ended])
        going = [one for one in np.flatnonzero(down[row]) if one in held and one not in leaving and last[one] != row]
        leaving += going
        free = slots - (len(held) - len(leaving)) - len(pending)
        wanted = [one for one in np.flatnonzero(up[row]) if one not in held + pending and last[one] != row]
        pending += sorted(wanted, key=lambda one: (-rank[row, one], one))[: max(0, free)]
    return made


def sequence(filled, count):
    """The order of calls of one row: its orders first."""
    first = [instrument for instrument, _ in filled]
    return first + [one for one in range(count) if one not in first]


def equal_slots(prices, marks, side, calls, slots, fee, **more):
    """Each entry, which pays its fee, takes the same part of the value at its fill: vectorbt's TargetPercent.

    @param prices at which orders fill; `marks` are the prices of the end of a row
    @param side of each order: 1 an entry, -1 an exit, 0 none
    """
    size = np.where(side > 0, 1 / slots / (1 + fee), np.where(side < 0, 0.0, np.nan))
    return vbt.Portfolio.from_orders(
        marks, size, size_type="targetpercent", direction="longonly", price=prices, val_price=prices,
        # The value at a fill knows of the fills before it in the same row.
        update_value=True, **account(calls, fee, **more),
    )


def fixed_cash(prices, marks, side, calls, cash, fee, **more):
    """Each entry takes the same amount of money, and pays its fee besides: vectorbt's Value."""
    return vbt.Portfolio.from_signals(
        marks, side > 0, side < 0, size=cash, size_type="value", price=prices, val_price=prices,
        **account(calls, fee, **more),
    )


def account(calls, fee, **more):
    return dict(init_cash=CASH, fees=fee, group_by=True, cash_sharing=True, call_seq=calls, engine="rust", **more)
