"""The config of a run, from the arguments of Python."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

Time: TypeAlias = str | int | dt.date | dt.datetime
Rate: TypeAlias = float | str | Mapping[str, Any]

DEFAULT_CASH = 10_000.0
# Nobody pays a fifth of an order; such a rate is a percent or basis points without its unit.
_LARGEST_RATE = 0.2
_UNITS = {"%": 1e-2, "bps": 1e-4, "bp": 1e-4}


def run_config(
    *,
    symbol: str | Sequence[str] | None,
    timeframe: str | None,
    fees: Rate | None,
    slippage: Rate | None,
    cash: float | None,
    start: Time | None,
    end: Time | None,
    params: Mapping[str, Any] | None,
    slots: int | None,
    config: Mapping[str, Any] | None,
    defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """A config of docs/config.md. `config` is taken as it is, `defaults` are those of the strategy."""
    made: dict[str, Any] = dict(config or {})
    instrument = cast("Mapping[str, Any]", defaults.get("instrument") or {}).get("symbol")
    if symbol is None and not {"signalInstrument", "instruments"} & made.keys():
        symbol = instrument
    if symbol is None and not {"signalInstrument", "instruments"} & made.keys():
        raise ValueError('Give a symbol, such as symbol="SPX"; client.symbols() lists what there is.')
    if isinstance(symbol, str):
        made["signalInstrument"] = {"symbol": symbol}
    elif symbol is not None:
        made["instruments"] = [{"symbol": each} for each in symbol]
    chosen = timeframe or made.get("timeframe") or defaults.get("timeframe")
    if chosen is None:
        raise ValueError('Give a timeframe, such as timeframe="1d".')
    made["timeframe"] = chosen
    if cash is not None or "initialBalance" not in made:
        made["initialBalance"] = DEFAULT_CASH if cash is None else float(cash)
    if start is not None or end is not None:
        made["range"] = {**made.get("range", {}), **_given(start=_time(start), end=_time(end))}
    if params:
        made["params"] = {**made.get("params", {}), **{name: _plain(each) for name, each in params.items()}}
    if slots is not None:
        made["portfolio"] = {**made.get("portfolio", {}), "slots": slots}
    if fees is not None or slippage is not None:
        made["execution"] = execution(fees, slippage, made.get("execution") or {})
    return made


def execution(fees: Rate | None, slippage: Rate | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Costs: rates as fractions (0.001 is 0.1 %), texts such as "0.1%" or "10bps", or the objects of docs/config.md."""
    made = dict(given)
    if fees is not None or "feeModel" not in made:
        made["feeModel"] = dict(fees) if isinstance(fees, Mapping) else _fee_model(rate("fees", fees or 0.0))
    if slippage is None:
        made.setdefault("slippage", {"kind": "none"})
    else:
        # Rounded, since 0.0007 * 1e4 is 7.000000000000001.
        bps = None if isinstance(slippage, Mapping) else round(rate("slippage", slippage) * 1e4, 9)
        fixed = {"kind": "fixed", "unit": "bps", "value": bps}
        made["slippage"] = dict(slippage) if isinstance(slippage, Mapping) else fixed if bps else {"kind": "none"}
    return made


def rate(name: str, given: float | str) -> float:
    """A rate as a fraction: 0.001, "0.1%" and "10bps" are the same."""
    if isinstance(given, str):
        text = given.strip().replace(" ", "").lower()
        unit = next((each for each in _UNITS if text.endswith(each)), None)
        try:
            number = float(text.removesuffix(unit or ""))
        except ValueError:
            raise ValueError(f'{name}={given!r} is not a rate. Write 0.001, "0.1%" or "10bps".') from None
        if unit is None:
            raise ValueError(
                f'{name}={given!r} has no unit. Write "{given}%", "{given}bps", or a fraction as a number.'
            )
        return float(f"{number * _UNITS[unit]:.12g}")
    if abs(given) > _LARGEST_RATE:
        raise ValueError(
            f"{name}={given!r} is {given * 100:g} % of each order, since a number is a fraction. "
            f'Write {name}="{given:g}%" or {name}="{given:g}bps" if that is meant.'
        )
    return float(given)


def _fee_model(fraction: float) -> dict[str, Any]:
    tier = {"minCumulativeNotional": 0, "makerRate": fraction, "takerRate": fraction}
    return {"kind": "tiered_maker_taker", "tiers": [tier]}


def _time(given: Time | None) -> str | int | None:
    return None if given is None else time_text(given)


def time_text(given: Time) -> str | int:
    """A day, or a time with its zone. A time without a zone is refused: it could mean several."""
    if isinstance(given, dt.datetime):
        midnight = given.time() == dt.time(0)
        if given.tzinfo is None and midnight:
            return given.date().isoformat()
        if given.tzinfo is None:
            raise ValueError(
                f"{given!r} has no time zone. Write {given.isoformat()}Z as text for UTC, or give it a tzinfo, "
                "such as datetime.timezone.utc."
            )
        return given.isoformat()
    return given.isoformat() if isinstance(given, dt.date) else _plain(given)


def _given(**members: Any) -> dict[str, Any]:
    return {name: member for name, member in members.items() if member is not None}


def _plain(given: Any) -> Any:
    """A scalar of numpy as one of Python."""
    item = getattr(given, "item", None)
    return item() if callable(item) and getattr(given, "shape", None) == () else given
