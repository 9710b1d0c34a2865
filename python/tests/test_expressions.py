"""Expressions build the JSON of docs/language.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import candlepool as cp
from candlepool import close, high, highest, low, param, rsi, sma, volume, when


def compare(op: str, left: Any, right: Any) -> dict[str, Any]:
    return {"kind": "compare", "op": op, "left": left, "right": right}


CLOSE = {"kind": "market", "field": "close"}
RSI = {"kind": "indicator", "indicator": "rsi", "args": {"length": 14}}


def const(value: float) -> dict[str, Any]:
    return {"kind": "const", "value": value}


def test_a_golden_cross_below_an_oversold_rsi() -> None:
    made = sma(50).crosses_above(sma(200)) & (rsi(14) < 30)
    cross = {
        "kind": "cross",
        "op": "cross_up",
        "left": {"kind": "indicator", "indicator": "sma", "args": {"length": 50}},
        "right": {"kind": "indicator", "indicator": "sma", "args": {"length": 200}},
    }
    assert made.to_json() == {"kind": "all", "items": [cross, compare("lt", RSI, const(30))]}


@pytest.mark.parametrize(
    ("made", "op"),
    [
        (close > 1, "gt"),
        (close >= 1, "gte"),
        (close < 1, "lt"),
        (close <= 1, "lte"),
        (close == 1, "eq"),
        (close != 1, "neq"),
    ],
)
def test_comparisons_build_conditions(made: cp.Condition, op: str) -> None:
    assert made.to_json() == compare(op, CLOSE, const(1))


def test_a_number_on_the_left_turns_the_comparison_around() -> None:
    one = 1
    assert (one < close).to_json() == compare("gt", CLOSE, const(1))


def test_and_joins_into_one_list_and_keeps_or_apart() -> None:
    a, b, c = close > 1, close > 2, close > 3
    assert [item["right"]["value"] for item in (a & b & c).to_json()["items"]] == [1, 2, 3]
    assert [item["kind"] for item in ((a | b) & c).to_json()["items"]] == ["any", "compare"]


def test_highest_shifted_is_a_donchian_channel() -> None:
    rolling = {"kind": "rolling", "op": "max", "period": 20, "source": {"kind": "market", "field": "high"}}
    assert highest(20).shift(1).to_json() == {"kind": "shift", "source": rolling, "offset": 1}


def test_values_on_other_bars() -> None:
    made = sma(50).on("1d", symbol="SPX", offset=1).to_json()
    assert made["timeframe"] == "1d"
    assert made["instrument"] == {"symbol": "SPX"}
    assert made["offset"] == 1
    with pytest.raises(TypeError, match="Put its parts on them"):
        (close - low).on("1d")


def test_the_source_of_an_indicator_comes_first_or_by_name() -> None:
    for made in (sma(volume, 20), sma(20, source=volume), sma(volume, length=20)):
        assert made.to_json() == {"kind": "indicator", "indicator": "sma", "args": {"length": 20, "source": "volume"}}
    nested = cp.ema(rsi(14), 9).to_json()
    assert nested == {"kind": "indicator", "indicator": "ema", "args": {"length": 9}, "source": RSI}
    assert sma(close, 20).to_json() == sma(20).to_json()


def test_an_argument_that_differs_from_its_default_is_written() -> None:
    assert cp.bbands(20, 2.5).upper.to_json() == {
        "kind": "indicator",
        "indicator": "bbands",
        "args": {"length": 20, "multiplier": 2.5},
        "output": "upper",
    }
    with pytest.raises(AttributeError, match="it has upper, middle, lower"):
        _ = cp.bbands(20).top


def test_a_param_stands_for_numbers_and_values() -> None:
    fast = param("fast", 20, min=5, max=50)
    made = (sma(fast) + fast > 0) & (close.rolling(fast).mean() > 0)
    left, right = made.to_json()["items"]
    average, added = left["left"]["args"]
    assert average["args"] == {"length": {"param": "fast"}}
    assert added == {"kind": "param", "name": "fast"}
    assert right["left"]["period"] == {"param": "fast"}
    assert made.params == {"fast": {"name": "fast", "type": "int", "default": 20, "min": 5, "max": 50}}
    with pytest.raises(ValueError, match="declared twice"):
        _ = (sma(fast) > 1) & (sma(param("fast", 30)) > 1)


def test_python_and_is_refused_with_the_way_out() -> None:
    with pytest.raises(TypeError, match=r"Write & for and, \| for or"):
        _ = close > 1 and close < 2
    with pytest.raises(TypeError, match=r"between\(low, high\)"):
        _ = 1 < close < 2
    with pytest.raises(TypeError, match="in parentheses"):
        _ = (close > 1) & 30  # type: ignore[operator]


def test_wrong_operands_are_named() -> None:
    with pytest.raises(TypeError, match="is a condition"):
        _ = close + (close > 1)  # type: ignore[operator]
    with pytest.raises(TypeError, match="is not a number"):
        _ = close > "1"  # type: ignore[operator]
    with pytest.raises(TypeError, match="length=close of rsi is not a number"):
        rsi(length=close)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    made = sma(np.int64(20)) > np.float64(1.5)  # type: ignore[arg-type]
    assert made.to_json()["left"]["args"] == {"length": 20}
    assert type(made.to_json()["right"]["value"]) is float


def test_choices_windows_and_steps() -> None:
    choice = when(close > 1).then(2).otherwise(high).to_json()
    assert (choice["kind"], choice["then"], choice["else"]["field"]) == ("if", const(2), "high")
    window = (close > 1).rolling(5).more_than(3).to_json()
    assert (window["mode"], window["window"], window["value"]) == ("count_gt", 5, 3)
    steps = cp.sequence(close > 1, cp.step(close > 2, max_bars=3)).to_json()["steps"]
    assert [set(each) for each in steps] == [{"expr"}, {"expr", "maxBars"}]


def test_a_strategy_holds_its_sections_and_params() -> None:
    stop = param("stop", 5.0)
    made = cp.Strategy(
        entry=cp.entry_rule(sma(20) > sma(50), sizing=cp.risk_percent(1), side="short", cooldown_bars=3),
        exit=[rsi(14) > 70, cp.exit_rule(rsi(14) > 80, percent=50, reason="half")],
        stop_loss=stop,
        take_profit=20,
        trailing_stop=8,
        time_stop=10,
        name="Test",
        warmup=100,
    ).to_json()
    strategy = made["strategyAst"]["strategy"]
    assert made["settings"] == {"warmupPeriod": 100}
    assert strategy["entry"]["action"] == {"side": "short", "sizing": {"mode": "risk_percent", "value": 1}}
    assert strategy["exits"][1]["action"] == {"mode": "percent_position", "value": 50}
    assert strategy["risk"] == {
        "stopLoss": {"mode": "percent", "value": {"param": "stop"}},
        "takeProfits": [{"triggerPercent": 20, "closePercent": 100}],
        "trailingStop": {"distancePercent": 8},
        "timeStop": {"maxBars": 10},
    }
    assert strategy["params"] == [{"name": "stop", "type": "float", "default": 5.0}]


def test_a_value_is_not_a_rule() -> None:
    with pytest.raises(TypeError, match="a rule needs a condition"):
        cp.Strategy(entry=sma(20))  # type: ignore[arg-type]
