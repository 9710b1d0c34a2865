#!/usr/bin/env python3
"""Fees per order as backtesting.py and vectorbt charge them: order_fees.json.gz, the answers of
test/engine/orderFeesBesidePeers.test.ts.

    pip install backtesting==0.6.5 && python3 test/golden/order_fees.py backtesting
    pip install vectorbt==1.2.0 && python3 test/golden/order_fees.py vectorbt

Each call replaces the answers of its peer. Both trade the same orders on the same bars: fixed sizes, decided at closes
and filled at the next open, the last position closed at the last close.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).parent / "order_fees.json.gz"
CASH = 100_000.0
# Name: rate, per unit, per order, least fee, greatest fee as a fraction of the notional.
MODELS = {
    "per share": (0.0, 0.005, 0.0, 1.0, 0.01),
    "fixed and relative": (0.001, 0.0, 3.0, None, None),
    "all": (0.0005, 0.01, 0.35, 2.0, 0.004),
}


def bars():
    random = np.random.default_rng(20261128)
    close = 20 * np.exp(np.cumsum(random.normal(0, 0.02, 300)))
    opens = np.concatenate([[20.0], close[:-1]]) * np.exp(random.normal(0, 0.005, 300))
    high, low = np.maximum(opens, close) * 1.002, np.minimum(opens, close) * 0.998
    table = {"Open": opens, "Close": close, "High": high, "Low": low}
    return pd.DataFrame(table, index=pd.date_range("2020-01-01", periods=300)).round(4)


def orders(side):
    """Rows at whose close a position of so many units is entered, and those at whose close it is left."""
    random = np.random.default_rng(7 + side)
    made, row = [], 2
    while row < 280:
        leave = row + int(random.integers(1, 15))
        made.append((row, leave, int(random.choice([1, 5, 40, 300, 900]))))
        row = leave + int(random.integers(1, 6))
    made.append((290, None, 100))
    return made


def fee(model, size, price):
    rate, per_unit, per_order, least, most = MODELS[model]
    size = abs(size)
    paid = size * price * rate + size * per_unit + per_order
    paid = paid if least is None else max(paid, least)
    return paid if most is None else min(paid, size * price * most)


def backtesting(data, model, side):
    from backtesting import Backtest, Strategy

    entries = {row: size for row, _, size in orders(side)}
    exits = {leave for _, leave, _ in orders(side)}

    class Orders(Strategy):
        def init(self):
            pass

        def next(self):
            row = len(self.data) - 1
            if row in exits:
                self.position.close()
            if row in entries:
                (self.buy if side > 0 else self.sell)(size=entries[row])

    rate, _, per_order, *_ = MODELS[model]
    # The pair is a form of its own, which backtesting.py adds up itself.
    commission = (per_order, rate) if model == "fixed and relative" else lambda size, price: fee(model, size, price)
    stats = Backtest(data, Orders, cash=CASH, commission=commission, finalize_trades=True).run()
    trades = stats["_trades"]
    return {
        "sizes": trades["Size"].abs().tolist(), "entries": trades["EntryBar"].tolist(),
        "exits": trades["ExitBar"].tolist(), "pnl": trades["PnL"].tolist(), "fees": trades["Commission"].tolist(),
        "equity": stats["Equity Final [$]"],
    }


def vectorbt(data, model, side):
    import vectorbt as vbt

    # A bar is two rows, its open and its close.
    count = len(data)
    prices = np.empty(2 * count)
    prices[0::2], prices[1::2] = data["Open"], data["Close"]
    size = np.zeros(2 * count)
    for row, leave, units in orders(side):
        size[2 * (row + 1)] = side * units
        size[2 * (leave + 1) if leave is not None else 2 * count - 1] = -side * units
    rate, _, per_order, *_ = MODELS[model]
    found = vbt.Portfolio.from_orders(
        prices, size, price=prices, fees=rate, fixed_fees=per_order, init_cash=CASH, direction="both"
    )
    trades = found.trades.records
    return {
        "sizes": trades["size"].tolist(), "entries": (trades["entry_idx"] // 2).tolist(),
        "exits": (trades["exit_idx"] // 2).tolist(), "pnl": trades["pnl"].tolist(),
        "fees": (trades["entry_fees"] + trades["exit_fees"]).tolist(), "equity": float(found.value().iloc[-1]),
    }


def main(peer):
    data = bars()
    old = json.loads(gzip.decompress(FILE.read_bytes())) if FILE.exists() else {"runs": []}
    runs = [run for run in old["runs"] if run["peer"] != peer]
    answer = {"backtesting": backtesting, "vectorbt": vectorbt}[peer]
    for model in MODELS if peer == "backtesting" else ["fixed and relative"]:
        for side in (1, -1):
            made = [[row, leave, size] for row, leave, size in orders(side)]
            runs.append({"peer": peer, "model": model, "side": side, "orders": made, **answer(data, model, side)})
    members = ("rate", "perUnit", "perOrder", "minPerOrder", "maxRate")
    models = {name: dict(zip(members, values)) for name, values in MODELS.items()}
    columns = {name.lower(): data[name].tolist() for name in ("Open", "High", "Low", "Close")}
    text = json.dumps({"cash": CASH, "models": models, "bars": columns, "runs": runs})
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
