"""The text of an expression, read by the service's grammar of docs/expressions.md, is that expression."""

from __future__ import annotations

from typing import Any

import pytest

import candlepool as cp
from candlepool import close, high, low, rsi, sma, volume

CONDITIONS = [
    sma(50).crosses_above(sma(200)) & (rsi(14) < 30),
    (close > 1) & ((volume > sma(volume, 20)) | (high >= 2) | ~(low != 3)),
    sma(10).on("1w").crosses(close.on(symbol="NASDAQ", timeframe="1w"), within=3),
    close.on("1d", offset=1) > cp.highest(20).shift(1),
    cp.bbands(20, 2.5, ma_type="ema").upper < cp.ema(rsi(14), 9),
    cp.macd().histogram > cp.supertrend(10, 3).trend.on("1d"),
    (close - low) / (high - low) * 2 - -(close**2) > abs(close % 7 - 0.5) + 1e-7,
    close - (high - low) > close / (high / low),
    close.rolling(20).mean() > close.rolling(20).quantile(0.9) + cp.lowest(5).shift(2),
    close.between(low, high) & close.near(sma(20), 1.5),
    close.rising(2) & volume.falling(3),
    close.pct_change(5) > cp.when(close > 1).then(2).otherwise(high),
    (close > 1).bars_since() < close.value_when(close > 2, occurrence=1),
    (close > 1).rolling(5).any() | (close < 1).rolling(5).all(),
    cp.pattern("hammer") & cp.pattern("engulfing", side="bullish") & cp.session("london"),
    cp.time_window("09:30", "16:00", weekdays=["mon", "tue"]) & cp.time_window("09:30", "16:00"),
    sma(cp.param("fast", 20)) > cp.param("level", 1.5),
    (cp.bar_time("month") != 8) & (cp.correl(close, high, 20) > 0.5),
    cp.minimum(close, high, 5) > close.clamp(0, 9).round(),
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_service_reads_what_is_printed(client: cp.Client, condition: cp.Condition) -> None:
    body = cp.Strategy(entry=condition, exit=close < 1).to_json()
    assert client.transport.post("/public/v1/strategies/validate", _sent(body))["valid"]
    body["strategyAst"]["strategy"]["entry"]["trigger"] = str(condition)
    issues = client.validate(body)
    found = [issue["patch"] for issue in issues if issue.get("path", "").endswith("/trigger") and "patch" in issue]
    assert len(found) == 1, issues
    assert found[0][0]["value"] == condition.to_json()


def test_what_has_no_text_is_printed_for_people() -> None:
    assert str(cp.schedule("month", on="last")) == 'schedule(every="month", on="last")'
    assert str(close.compare("eq", 5, tolerance=0.1)) == 'compare(op="eq", left=close, right=5, tolerance=0.1)'
    assert str(cp.sequence(close > 1, cp.step(close > 2, max_bars=3))) == (
        "sequence(steps=[(expr=close > 1), (expr=close > 2, maxBars=3)])"
    )


def _sent(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in ("settings", "strategyAst")}
