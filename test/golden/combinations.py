#!/usr/bin/env python3
"""Correlations and combinations of runs as pandas computes them: combinations.json.gz, the answers of
test/engine/report/comparison/combination.test.ts.

    pip install pandas==2.3.3 && python3 test/golden/combinations.py

Four runs: two of stocks on weekdays with different holidays, one of a market that never closes, one on weekly bars,
whose mark is known on Sunday. They begin and end on different days.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).parent / "combinations.json.gz"
PERIODS = 365
WEIGHTS = [0.4, 0.3, 0.2, 0.1]
RISK_FREE = 0.02


def runs():
    random = np.random.default_rng(20261128)
    market = (1 + pd.Series(random.normal(0.0004, 0.01, 1200), pd.date_range("2021-01-01", periods=1200))).cumprod()

    def run(days, share, balance):
        own = pd.Series(random.normal(0.0002, 0.012, len(days)), days)
        returns = share * market.reindex(days).pct_change().fillna(0) + (1 - share) * own
        return balance, (balance * (1 + returns).cumprod()).round(2)

    weekdays = pd.bdate_range("2021-02-01", "2023-11-30")
    first = weekdays.drop(pd.to_datetime(["2021-07-05", "2022-07-04", "2022-12-26"]))
    second = pd.bdate_range("2021-03-15", "2024-01-31").drop(pd.to_datetime(["2021-08-30", "2022-08-29"]))
    always = pd.date_range("2021-01-10", "2023-12-31")
    weekly = pd.date_range("2021-01-03", "2024-03-31", freq="W-SUN")
    return [run(first, 0.7, 10_000), run(second, 0.5, 25_000), run(always, 0.2, 1_000), run(weekly, 0.9, 10_000)]


def in_period(balance, equity, begin, end):
    """The equity of the period, behind what it was before its first day."""
    before = equity[equity.index < begin]
    base = before.iloc[-1] if len(before) else balance
    return base, equity[(equity.index >= begin) & (equity.index <= end)]


def correlation(a, b):
    """Both at the same days: the last mark of each up to every day that both have, or in which both got one."""
    begin, end = max(a[1].index[0], b[1].index[0]), min(a[1].index[-1], b[1].index[-1])
    (base_a, own_a), (base_b, own_b) = in_period(*a, begin, end), in_period(*b, begin, end)
    rows, seen = [(base_a, base_b)], [False, False]
    table = pd.DataFrame({"a": own_a, "b": own_b}).sort_index()
    filled = table.ffill().fillna({"a": base_a, "b": base_b})
    for day in table.index:
        seen = [one or not np.isnan(table.loc[day, name]) for one, name in zip(seen, "ab")]
        if all(seen):
            rows.append(tuple(filled.loc[day]))
            seen = [False, False]
    returns = pd.DataFrame(rows).pct_change().dropna()
    return returns[0].corr(returns[1]), len(returns)


def statistics(values, base, years):
    curve = pd.concat([pd.Series([base]), values])
    returns = curve.pct_change().iloc[1:].to_numpy()
    daily = RISK_FREE / PERIODS
    volatility = returns.std(ddof=1) * np.sqrt(PERIODS)
    downside = np.sqrt((np.minimum(returns - daily, 0) ** 2).mean()) * np.sqrt(PERIODS)
    growth = curve.iloc[-1] / base
    return {
        "finalEquity": curve.iloc[-1],
        "returnPct": growth - 1,
        "cagr": growth ** (1 / years) - 1,
        "annualVolatility": volatility,
        "sharpeRatio": (returns.mean() - daily) * PERIODS / volatility,
        "sortinoRatio": (returns.mean() - daily) * PERIODS / downside,
        "skew": pd.Series(returns).skew(),
        "kurtosis": pd.Series(returns).kurt(),
        "var95": np.percentile(returns, 5),
        "maxDrawdown": (1 - curve / curve.cummax()).max(),
    }


def combined(all_runs, rebalance):
    begin = max(equity.index[0] for _, equity in all_runs)
    end = min(equity.index[-1] for _, equity in all_runs)
    parts = [in_period(balance, equity, begin, end) for balance, equity in all_runs]
    days = pd.DatetimeIndex(sorted(set().union(*(own.index for _, own in parts))))
    growth = pd.DataFrame({at: own.reindex(days) / base for at, (base, own) in enumerate(parts)}).ffill().fillna(1.0)
    before = growth.shift(1).fillna(1.0)
    month = days.to_period("M")
    # The growth of each run since the parts were last brought to their weights.
    if rebalance == "none":
        since = pd.DataFrame(1.0, index=days, columns=growth.columns)
    elif rebalance == "daily":
        since = before
    else:
        since = before.groupby(month).transform("first")
    shares = growth / since * WEIGHTS
    total = shares.sum(axis=1)
    if rebalance == "none":
        account, opening = total, pd.Series(1.0, days)
    elif rebalance == "daily":
        account = total.cumprod()
        opening = account.shift(1).fillna(1.0)
    else:
        months = total.groupby(month).last().cumprod().shift(1).fillna(1.0)
        opening = pd.Series(months.reindex(month).to_numpy(), days)
        account = opening * total
    # What each run earned: the value of its part on each day less that of the part as it was the day before.
    value = shares.mul(opening, axis=0)
    held = value.shift(1)
    held.iloc[0] = WEIGHTS
    months_begin = pd.Series(month, days).ne(pd.Series(month, days).shift(1)).to_numpy()
    fresh = {"none": np.zeros(len(days), bool), "daily": np.ones(len(days), bool), "monthly": months_begin}[rebalance]
    held[fresh] = np.outer(opening[fresh], WEIGHTS)
    years = ((end + pd.Timedelta(days=1)) - begin) / pd.Timedelta(days=365.25)
    summary = statistics(account * 10_000, 10_000, years)
    own = [statistics(growth[at], 1.0, years) for at in growth]
    mean_volatility = sum(weight * one["annualVolatility"] for weight, one in zip(WEIGHTS, own))
    curve = pd.concat([pd.Series([1.0]), account]).reset_index(drop=True)
    falls = 1 - curve / curve.cummax()
    trough = int(falls.to_numpy().argmax())
    peak = int(curve[: trough + 1].to_numpy().argmax())
    one = pd.concat([pd.DataFrame(1.0, index=[pd.NaT], columns=growth.columns), growth])
    own_falls = 1 - one / one.cummax()
    return {
        "days": len(days),
        "begin": begin.value // 10**6,
        "end": end.value // 10**6,
        "summary": summary,
        "runs": [{key: value for key, value in stats.items() if key != "finalEquity"} for stats in own],
        "contributions": (value - held).sum().tolist(),
        "finalWeights": (value.iloc[-1] / account.iloc[-1]).tolist(),
        "diversificationRatio": mean_volatility / summary["annualVolatility"],
        "joint": {
            "peak": days[max(peak - 1, 0)].value // 10**6,
            "trough": days[trough - 1].value // 10**6,
            "returns": (one.iloc[trough] / one.iloc[peak] - 1).tolist(),
            "drawdowns": own_falls.iloc[trough].tolist(),
            "deepest": own_falls.max().tolist(),
        },
    }


def main():
    all_runs = runs()
    pairs = [[correlation(a, b) for b in all_runs] for a in all_runs]
    answer = {
        "runs": [
            {
                "initialBalance": balance,
                "days": [day.value // 10**6 for day in equity.index],
                "equity": equity.tolist(),
            }
            for balance, equity in all_runs
        ],
        "weights": WEIGHTS,
        "periodsPerYear": PERIODS,
        "riskFree": RISK_FREE,
        "correlations": [[value for value, _ in row] for row in pairs],
        "counts": [[count for _, count in row] for row in pairs],
        **{name: combined(all_runs, name) for name in ("none", "daily", "monthly")},
    }
    FILE.write_bytes(gzip.compress(json.dumps(answer).encode(), mtime=0))


main()
