"""Results beside the same trades computed with pandas, by other code and in another order."""

from __future__ import annotations

import pandas as pd
import pytest

import candlepool as cp
from candlepool import close, sma

CASH = 10_000.0
FEE = 0.001


def test_the_trades_of_a_cross_of_averages(client: cp.Client) -> None:
    bars = client.bars("SPX", "1d")
    fast, slow = bars["close"].rolling(20).mean(), bars["close"].rolling(50).mean()
    above = fast > slow
    known = slow.shift(1).notna() & slow.notna()
    entries = above & ~(fast.shift(1) > slow.shift(1)) & known
    exits = (fast < slow) & ~(fast.shift(1) < slow.shift(1)) & known

    # The slow way: a loop over bars that fills at the next open, and pays a fee on both fills from its cash.
    cash, entry_time, entry_price, quantity = CASH, None, 0.0, 0.0
    expected: list[tuple[pd.Timestamp, float, pd.Timestamp, float, float]] = []
    opens, enters, leaves = bars["open"].tolist(), entries.tolist(), exits.tolist()
    for row, (time, price) in enumerate(zip(bars.index[1:], opens[1:], strict=True)):
        if entry_time is None and enters[row]:
            entry_time, entry_price, quantity = time, price, cash / (price * (1 + FEE))
            cash -= quantity * price * (1 + FEE)
        elif entry_time is not None and leaves[row]:
            proceeds = quantity * price * (1 - FEE)
            cash += proceeds
            expected.append((entry_time, entry_price, time, price, proceeds - quantity * entry_price * (1 + FEE)))
            entry_time = None

    cross = cp.Strategy(
        entry=sma(20).crosses_above(sma(50)), exit=sma(20).crosses_below(sma(50)), sizing=cp.percent_equity(100)
    )
    result = client.backtest(cross, symbol="SPX", timeframe="1d", fees=FEE, cash=CASH, progress=False)
    trades = result.trades
    closed = trades[trades["exitReason"] != "end_of_data"]
    assert len(expected) > 40
    assert len(closed) == len(expected)
    made = closed[["entryTime", "entryPrice", "exitTime", "exitPrice", "pnl"]].itertuples(index=False, name=None)
    for found, wanted in zip(made, expected, strict=True):
        assert found[:4] == wanted[:4]
        # Quantities are whole multiples of 1e-8.
        assert found[4] == pytest.approx(wanted[4], rel=1e-5, abs=1e-3)


def test_equity_and_its_statistics(client: cp.Client) -> None:
    held = cp.Strategy(entry=close > 0, sizing=cp.percent_equity(50))
    result = client.backtest(held, symbol="MSFT", timeframe="1d", fees=0, cash=CASH, progress=False)
    bars, equity = client.bars("MSFT", "1d"), result.equity
    first = result.trades.iloc[0]
    money = CASH - first["quantity"] * first["entryPrice"]
    after = bars.index >= first["entryTime"]
    expected = money + first["quantity"] * bars["close"][after]
    assert equity["equity"].loc[expected.index].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-9)
    peak = equity["equity"].cummax()
    drawdown = 1 - equity["equity"] / peak
    assert result.summary["maxDrawdown"] == pytest.approx(drawdown.max(), rel=1e-9)
    assert result.summary["returnPct"] == pytest.approx(equity["equity"].iloc[-1] / CASH - 1, rel=1e-9)
