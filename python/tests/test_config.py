"""Arguments of Python become the config of docs/config.md."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from candlepool.config import rate, run_config
from candlepool.sweeps import space_of


def made(**given: Any) -> dict[str, Any]:
    names = ("symbol", "timeframe", "fees", "slippage", "cash", "start", "end", "params", "slots", "config")
    defaults = given.pop("defaults", {})
    return run_config(**{name: given.get(name) for name in names}, defaults=defaults)


def test_the_same_rate_in_three_forms() -> None:
    for form in (0.0007, "0.07%", "7bps", " 7 bps"):
        assert rate("fees", form) == 0.0007
    assert rate("fees", -0.0001) == -0.0001


def test_a_rate_that_can_only_be_a_mistake() -> None:
    with pytest.raises(ValueError, match=r'500 % of each order.*fees="5%" or fees="5bps"'):
        rate("fees", 5)
    with pytest.raises(ValueError, match="has no unit"):
        rate("fees", "5")
    with pytest.raises(ValueError, match="is not a rate"):
        rate("fees", "cheap")


def test_fees_and_slippage() -> None:
    execution = made(symbol="SPX", timeframe="1d", fees="5bps", slippage=0.0007)["execution"]
    assert execution["feeModel"]["tiers"] == [{"minCumulativeNotional": 0, "makerRate": 0.0005, "takerRate": 0.0005}]
    assert execution["slippage"] == {"kind": "fixed", "unit": "bps", "value": 7.0}
    assert made(symbol="SPX", timeframe="1d", fees=0)["execution"]["slippage"] == {"kind": "none"}
    assert "execution" not in made(symbol="SPX", timeframe="1d")


def test_several_symbols_are_a_portfolio() -> None:
    config = made(symbol=["A", "B"], timeframe="1d", slots=1)
    assert config["instruments"] == [{"symbol": "A"}, {"symbol": "B"}]
    assert config["portfolio"] == {"slots": 1}
    assert config["initialBalance"] == 10_000


def test_defaults_of_the_strategy_and_a_whole_config() -> None:
    config = made(defaults={"instrument": {"symbol": "SPX"}, "timeframe": "1d"})
    assert (config["signalInstrument"], config["timeframe"]) == ({"symbol": "SPX"}, "1d")
    given = {"timeframe": "1h", "signalInstrument": {"symbol": "EURUSD"}, "initialBalance": 5, "leverage": 3}
    assert made(config=given) == given
    assert made(config=given, cash=7)["initialBalance"] == 7
    with pytest.raises(ValueError, match="Give a symbol"):
        made(timeframe="1d")
    with pytest.raises(ValueError, match="Give a timeframe"):
        made(symbol="SPX")


def test_times_say_their_zone() -> None:
    zone = dt.timezone(dt.timedelta(hours=-5))
    config = made(
        symbol="A", timeframe="1h", start=dt.date(2020, 1, 2), end=dt.datetime(2021, 1, 1, 9, 30, tzinfo=zone)
    )
    assert config["range"] == {"start": "2020-01-02", "end": "2021-01-01T09:30:00-05:00"}
    assert made(symbol="A", timeframe="1h", start=dt.datetime(2020, 1, 2))["range"] == {"start": "2020-01-02"}
    with pytest.raises(ValueError, match="has no time zone"):
        made(symbol="A", timeframe="1h", start=dt.datetime(2020, 1, 2, 9, 30))


def test_dimensions_of_a_sweep() -> None:
    space = space_of({"fast": range(10, 30, 10), "slow": {"min": 5, "max": 9}, "symbol": ["A", "B"]})
    assert space == {"fast": {"values": [10, 20]}, "slow": {"min": 5, "max": 9}, "symbol": {"values": ["A", "B"]}}
    with pytest.raises(TypeError, match="is not a dimension"):
        space_of({"fast": 10})
    with pytest.raises(ValueError, match="is empty"):
        space_of({"fast": range(10, 5)})
