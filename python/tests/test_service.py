"""The client against a real service."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import candlepool as cp
from candlepool import close, param, rsi, sma

RUN: dict[str, Any] = {"symbol": "SPX", "timeframe": "1d", "fees": "1bps", "progress": False}
CROSS = cp.Strategy(
    entry=sma(param("fast", 20)).crosses_above(sma(param("slow", 50))),
    exit=sma(param("fast", 20)).crosses_below(sma(param("slow", 50))),
    name="Cross",
)


def test_a_local_service_is_reused(client: cp.Client, data_dir: Path) -> None:
    with cp.local(data_dir=data_dir) as second:
        assert second.url == client.url
    state = data_dir / "python-client.json"
    assert state.stat().st_mode & 0o077 == 0


def test_a_result_has_numbers_tables_and_a_picture(client: cp.Client) -> None:
    result = client.backtest(CROSS, **RUN)
    summary = result.summary
    assert summary["totalPositions"] == len(result.trades)
    assert isinstance(result.trades, pd.DataFrame)
    equity = result.equity
    assert str(equity.index.tz) == "UTC"
    assert equity["equity"].iloc[-1] == summary["finalEquity"]
    polars = result.to_polars("equity")
    assert isinstance(polars, pl.DataFrame)
    assert polars.schema["time"] == pl.Datetime("ms", "UTC")
    assert result.to_arrow("equity").num_rows == len(polars) == len(equity)
    rows = result.table("equity").rows()
    assert rows[0]["time"] == equity.index[0].to_pydatetime()
    assert "<svg" in result.plot().svg
    page = result._repr_html_()
    assert "TOO_FEW" in repr(result) or "return" in page
    assert result.report().startswith("<!doctype html>")
    assert result.url.endswith(result.id)


def test_the_same_strategy_makes_one_version(client: cp.Client) -> None:
    first = client.finalize(CROSS)
    assert client.finalize(cp.Strategy.from_json(CROSS.to_json())) == first
    # Another client, as in the next notebook, gets the version that the service remembers.
    again = cp.Client(client.url, client.transport.key)
    assert again.finalize(CROSS) == first
    strategy = client.transport.get("/public/v1/strategies", limit=50)["data"]
    assert sum(row["name"] == "Cross" for row in strategy) == 1
    found = next(row for row in strategy if row["name"] == "Cross")
    client.transport.delete(f"/public/v1/strategies/{found['id']}")
    fresh = cp.Client(client.url, client.transport.key)
    assert fresh.finalize(CROSS) != first
    client._versions.clear()


def test_warnings_are_seen(client: cp.Client) -> None:
    result = client.backtest(CROSS, symbol="SPX", timeframe="1d", progress=False)
    assert [each["code"] for each in result.warnings] == ["COSTS_NOT_MODELED"]
    assert "COSTS_NOT_MODELED" in repr(result)
    assert "COSTS_NOT_MODELED" in result._repr_html_()


def test_many_at_once(client: cp.Client) -> None:
    results = client.matrix([CROSS, "golden_cross"], symbols=["SPX", "MSFT"], fees="1bps", progress=False)
    frame = client.summary_frame(results)
    assert list(frame["name"]) == ["Cross", "Cross", "Golden cross", "Golden cross"]
    assert list(frame["symbol"]) == ["SPX", "MSFT"] * 2
    assert results[0].summary["returnPct"] == client.backtest(CROSS, **RUN).summary["returnPct"]
    with pytest.raises(cp.InvalidConfig, match='Run 1 of 2: There is no market data of "SPY"'):
        client.backtests([{"symbol": "SPX"}, {"symbol": "SPY"}], strategy=CROSS, timeframe="1d", progress=False)
    with pytest.raises(TypeError, match="Unknown arguments: symbl"):
        client.backtests([{"strategy": CROSS, "symbl": "SPX"}])


def test_a_sweep_is_a_frame_with_a_heatmap(client: cp.Client) -> None:
    space = {"fast": range(10, 40, 10), "slow": [50, 100]}
    sweep = client.sweep(CROSS, space, **RUN)
    frame = sweep.frame
    assert len(sweep) == len(frame) == 6
    assert set(frame["fast"]) == {10, 20, 30}
    best = frame.loc[frame["sharpeRatio"].idxmax()]
    assert sweep.best == {"fast": best["fast"], "slow": best["slow"]}
    result = sweep.backtest()
    assert result.summary["sharpeRatio"] == pytest.approx(best["sharpeRatio"], abs=0)
    svg = sweep.heatmap(x="fast", y="slow").svg
    assert svg.count("<title>") == 6
    assert all(f"{value:.2f}" in svg for value in frame["sharpeRatio"])
    assert "<svg" in sweep._repr_html_()
    assert "verdict" in repr(sweep)
    line = client.sweep(CROSS, {"fast": [10, 20, 30]}, **RUN).heatmap()
    assert line.svg.count("<circle") == 3


def test_an_interrupt_cancels_a_sweep_on_the_server(client: cp.Client) -> None:
    wide = {"fast": range(5, 55), "slow": range(60, 460, 2)}
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        client.sweep(CROSS, wide, **RUN)
    newest = client.transport.get("/public/v1/sweeps", limit=1)["data"][0]
    assert newest["variants"] == 10_000
    assert newest["status"] == "cancelled"


def test_a_picture_needs_no_table_of_equity(client: cp.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    result = client.backtest(CROSS, **RUN)
    whole = result.plot().svg
    monkeypatch.setattr("candlepool.results._MOST_BARS_OF_A_PICTURE", 0)
    few = result.plot().svg
    assert 1_000 < len(few) < len(whole)
    (equity,) = [each for each in few.split("<polyline ") if 'stroke="#2563eb"' in each]
    assert equity.count(",") == len(result.details["equityPreview"])


def test_robustness(client: cp.Client) -> None:
    check = client.backtest(CROSS, **RUN).robustness(["monteCarlo"], progress=False)
    assert check["monteCarlo"]["positions"] > 0
    assert check.verdict in repr(check)


def test_an_invalid_strategy_is_repaired(client: cp.Client) -> None:
    body = CROSS.to_json()
    body["strategyAst"]["strategy"]["entry"]["trigger"]["op"] = "cross_upp"
    with pytest.raises(cp.InvalidStrategy) as caught:
        client.backtest(body, **RUN)
    assert "/strategyAst/strategy/entry/trigger/op" in str(caught.value)
    assert caught.value.apply_patches()["strategyAst"] == CROSS.to_json()["strategyAst"]
    assert client.repair(body).to_json() == CROSS.to_json()
    body["strategyAst"]["strategy"]["risk"] = {"stopLoss": {"mode": "percent", "value": -5}}
    with pytest.raises(cp.InvalidStrategy, match="stopLoss/value"):
        client.repair(body)


def test_expressions_of_every_kind_are_valid(client: cp.Client) -> None:
    """What Python can write, the service accepts."""
    body = cp.Strategy(entry=cp.all_of(*CONDITIONS), exit=rsi(14) > 70, stop_loss=cp.atr_stop(3)).to_json()
    assert [issue for issue in client.validate(body) if issue["severity"] == "error"] == []


CONDITIONS = [
    close.rolling(20).quantile(0.9) > cp.low.rolling(5).zscore(),
    cp.highest(20).shift(1) < close,
    close.pct_change(5).between(-3, 3),
    close.near(sma(20), 1.5),
    close.rising(2) | cp.volume.falling(2),
    cp.supertrend(10, 3).trend > 0,
    close.on("1w") > sma(10).on("1w", offset=1),
    close > close.on(symbol="NASDAQ"),
    cp.correl(close, cp.hl2, 20) > 0.5,
    cp.when(cp.adx(14) > 25).then(cp.ema(20)).otherwise(sma(50)) > 0,
    (close > cp.open_).rolling(5).streak(2),
    (close > cp.open_).bars_since() < 10,
    close.value_when(cp.pattern("hammer", side="bullish", within=3)) > 0,
    close.capture(rsi(14) > 50) > 0,
    cp.pivot_high(5, 5) > cp.pivot_low(5, 5, occurrence=1),
    cp.bar_time("month") != 8,
    cp.time_window(weekdays=["mon", "tue"], timezone="America/New_York"),
    cp.schedule("month", on="last") | cp.every_bars(21),
    cp.sequence(close > 1, cp.step(close > 2, min_bars=1, max_bars=9)),
    cp.state_machine(close > 1, reset=close < 1, ttl_bars=5),
    ~cp.session("london"),
    cp.state("position_exists") == 0,
    cp.minimum(close, 5) + cp.maximum(close, 5, 6) - abs(-close) ** 2 / 3 % 7 < close.clamp(0, 9).round(),
    cp.indicators.max(cp.high, 20) >= cp.bbands(20, 2.5, ma_type="ema").upper,
]


def test_uploads_and_bars(client: cp.Client) -> None:
    times = pd.date_range("2024-03-01 09:30", periods=60, freq="5min")
    prices = pd.Series(range(100, 160), index=times, dtype=float)
    frame = pd.DataFrame({"open": prices, "high": prices + 1, "low": prices - 1, "close": prices, "volume": 5.0})
    with pytest.raises(cp.NaiveTimesError, match=r'timezone="UTC"'):
        client.upload(frame, "OWN^A", "5m")
    (series,) = client.upload(frame, "OWN^A", "5m", timezone="America/New_York")
    assert (series["symbol"], series["timeframe"], series["bars"]) == ("OWN^A", "5m", 60)
    bars = client.bars("OWN^A", "5m")
    assert list(bars.index) == list(times.tz_localize("America/New_York").tz_convert("UTC"))
    assert list(bars["close"]) == list(frame["close"])
    with pytest.raises(cp.ApiError, match="is already stored"):
        client.upload(frame, "OWN^A", "5m", timezone="UTC")
    aware = frame.tz_localize("America/New_York").rename_axis("time").reset_index()
    client.upload(pl.from_pandas(aware), "OWN^A", "5m", on_existing="replace")
    assert client.bars("OWN^A", "5m").equals(bars)
    daily = [{"date": day.date(), "close": 5.0} for day in pd.date_range("2024-01-01", periods=30)]
    assert client.upload(daily, "DAYS", "1d")[0]["bars"] == 30
    assert client.backtest(CROSS, symbol="OWN^A", timeframe="5m", fees=0, progress=False).summary["totalPositions"] == 0


def test_long_series_come_in_pages(client: cp.Client) -> None:
    times = pd.date_range("2024-01-01", periods=12_000, freq="1min", tz="UTC")
    frame = pd.DataFrame({"close": range(1, 12_001)}, index=times)
    client.upload(frame, "LONG", "1m")
    bars = client.bars_table("LONG", "1m")
    assert len(bars.to_pandas()) == len(bars.to_polars()) == len(bars.rows()) == 12_000
    assert bars.to_pandas()["close"].is_monotonic_increasing
    assert len(client.bars("LONG", "1m", start="2024-01-02", last=5)) == 5


def test_templates_and_symbols(client: cp.Client) -> None:
    assert "golden_cross" in set(client.templates()["key"])
    assert "SPX" in set(client.symbols()["symbol"])
    assert client.backtest("golden_cross", fees="1bps", progress=False).title == "Golden cross on SPX 1d"
    with pytest.raises(cp.NotFound):
        client.template("no_such_template")


def test_labels_lists_and_comparisons(client: cp.Client) -> None:
    first = client.backtest(CROSS, **RUN, name="first", tags=["mine", "spx"], note="to compare")
    second = client.backtest("golden_cross", **RUN, tags=["mine"])
    assert (first.name, first.tags, first.note) == ("first", ["mine", "spx"], "to compare")
    second.label(name="second", tags=["mine", "slow"])
    assert client.wait(second.id).tags == ["mine", "slow"]
    found = client.list_backtests(tag="mine", sort="-sharpeRatio", columns=["name", "sharpeRatio"])
    assert sorted(found["name"]) == ["first", "second"]
    assert list(found["sharpeRatio"]) == sorted(found["sharpeRatio"], reverse=True)
    assert len(client.list_backtests(tag=["mine", "slow"])) == 1
    second.label(archived=True, note="")
    assert len(client.list_backtests(search="SECOND")) == 0

    compared = client.compare([first, second], metrics=["returnPct"])
    assert list(compared.metrics["returnPct"]) == [first.summary["returnPct"], second.summary["returnPct"]]
    assert len(compared.settings) > 0
    days = pd.DataFrame({each.id: each.equity["equity"] for each in (first, second)}).pct_change().dropna()
    expected = days.corr().iloc[0, 1]
    correlations = compared.correlations
    assert correlations is not None
    assert correlations[0][1] == pytest.approx(expected, rel=0.01)

    combined = client.combine([(first, 0.5), (second, 0.5)])
    # In the days of both: half of each grows from what it was worth before them.
    start = combined.equity["time"].iloc[0]
    before = [(each.equity["equity"][each.equity.index < start].tolist() or [10_000])[-1] for each in (first, second)]
    ends = [each.equity["equity"].iloc[-1] for each in (first, second)]
    growth = sum(0.5 * end / begin for end, begin in zip(ends, before, strict=True)) - 1
    assert combined.parts["contribution"].sum() == pytest.approx(combined.summary["returnPct"])
    assert combined.summary["returnPct"] == pytest.approx(growth, rel=1e-9)
    assert combined.equity["combined"].iloc[-1] == pytest.approx(combined.summary["finalEquity"])
    assert "<svg" in combined._repr_html_()
