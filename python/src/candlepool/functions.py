"""Values and conditions that are not indicators: prices, params, choices, times, patterns and states."""

from __future__ import annotations

from typing import Any

from candlepool.expressions import (
    Condition,
    Expression,
    Json,
    Number,
    Operand,
    Param,
    Value,
    as_value,
    condition,
    place,
    plain,
    value,
)
from candlepool.expressions import math as _math
from candlepool.indicators import MarketField, PatternName, StateField, TimeField


def market(field: MarketField) -> Value:
    """A field of the bar."""
    return value("market", field=field)


open_ = market("open")
high = market("high")
low = market("low")
close = market("close")
volume = market("volume")
hl2 = market("hl2")
hlc3 = market("hlc3")
ohlc4 = market("ohlc4")


def param(
    name: str,
    default: int | float,
    *,
    min: int | float | None = None,
    max: int | float | None = None,
    step: int | float | None = None,
) -> Param:
    """A named number, whole if its default is, which `params=` sets and a sweep varies: `sma(param("fast", 20))`."""
    declared: Json = {"name": name, "type": "int" if isinstance(default, int) else "float", "default": default}
    bounds = {"min": min, "max": max, "step": step}
    declared.update({each: bound for each, bound in bounds.items() if bound is not None})
    return Param({"kind": "param", "name": name}, {name: declared})


def series(name: str) -> Value:
    """A column that was uploaded with the bars."""
    return value("series", name=name)


def state(field: StateField) -> Value:
    """A field of the position or the account, before this bar's orders."""
    return value("state", field=field)


def bar_time(field: TimeField) -> Value:
    """A part of the time at which the bar opens: `bar_time("hour") >= 14`."""
    return value("time", field=field)


def highest(period: Number, source: Operand | None = None) -> Value:
    """The highest high of the last `period` bars, this one included; or the highest of another source."""
    return as_value(high if source is None else source).rolling(period).max()


def lowest(period: Number, source: Operand | None = None) -> Value:
    """The lowest low of the last `period` bars, this one included; or the lowest of another source."""
    return as_value(low if source is None else source).rolling(period).min()


def pivot_high(left: Number, right: Number, *, occurrence: Number | None = None) -> Value:
    """The price of the latest swing high, known `right` bars later."""
    return value("pivot", pivotKind="high", left=left, right=right, occurrence=occurrence)


def pivot_low(left: Number, right: Number, *, occurrence: Number | None = None) -> Value:
    """The price of the latest swing low, known `right` bars later."""
    return value("pivot", pivotKind="low", left=left, right=right, occurrence=occurrence)


def minimum(*values: Operand) -> Value:
    """The smallest of the values on each bar."""
    return _math("min", *values)


def maximum(*values: Operand) -> Value:
    """The largest of the values on each bar."""
    return _math("max", *values)


class Then:
    """The middle of `when(...).then(...).otherwise(...)`."""

    def __init__(self, when: Condition, then: Value) -> None:
        self._when = when
        self._then = then

    def otherwise(self, given: Operand) -> Value:
        return value("if", **{"cond": self._when, "then": self._then, "else": as_value(given)})


class When:
    """The beginning of `when(...).then(...).otherwise(...)`."""

    def __init__(self, when: Condition) -> None:
        self._when = when

    def then(self, given: Operand) -> Then:
        return Then(self._when, as_value(given))


def when(given: Condition) -> When:
    """A choice per bar: `when(adx(14) > 25).then(ema(20)).otherwise(sma(50))`."""
    return When(given)


def all_of(*items: Condition) -> Condition:
    """True if all are true."""
    return condition("all", items=list(items))


def any_of(*items: Condition) -> Condition:
    """True if one is true."""
    return condition("any", items=list(items))


def pattern(
    name: PatternName,
    *,
    side: str | None = None,
    within: Number | None = None,
    timeframe: str | None = None,
    symbol: str | None = None,
    offset: Number | None = None,
    **args: Number,
) -> Condition:
    """A candlestick pattern; `within` n: on any of the last n bars."""
    members: dict[str, Any] = {"name": name, "side": side, "args": args or None, "within": within}
    return condition("pattern", **members, **place(timeframe, symbol, offset))


def time_window(
    start: str | None = None,
    end: str | None = None,
    *,
    timezone: str | None = None,
    weekdays: list[str] | None = None,
    first_day: str | None = None,
    last_day: str | None = None,
) -> Condition:
    """The bar opens from `start` to before `end`, such as "09:30" and "16:00", on these days."""
    between = {"from": start, "to": end} if start is not None or end is not None else None
    dates = {"from": first_day, "to": last_day} if first_day is not None or last_day is not None else None
    return condition("time_window", timezone=timezone, weekdays=weekdays, between=between, dates=dates)


def session(name: str) -> Condition:
    """tokyo, london, new_york or us_equities."""
    return condition("session", name=name)


def schedule(every: str, *, on: str | int | Param | None = None, at: str | None = None) -> Condition:
    """One bar of each day, week, month, quarter or year: `schedule("month", on="last")`."""
    return condition("schedule", every=every, on=on, at=at)


def every_bars(bars: Number) -> Condition:
    """Bars 0, n, 2n … of the data."""
    return condition("schedule", everyBars=bars)


def step(when: Condition, *, min_bars: Number | None = None, max_bars: Number | None = None) -> Expression:
    """A step of `sequence` with its distance from the step before."""
    params: dict[str, Json] = {}
    made: Json = {"expr": plain(when, params)}
    for name, bars in (("minBars", min_bars), ("maxBars", max_bars)):
        if bars is not None:
            made[name] = plain(bars, params)
    return Expression(made, params)


def sequence(*steps: Condition | Expression) -> Condition:
    """The steps were true one after the other, the last of them on this bar."""
    return condition("sequence", steps=[each if not isinstance(each, Condition) else step(each) for each in steps])


def state_machine(
    set: Condition,
    *,
    reset: Condition | None = None,
    ttl_bars: Number | None = None,
    conflict_policy: str | None = None,
) -> Condition:
    """On from the bar on which `set` is true until one on which `reset` is, or for `ttl_bars` bars."""
    members = {"set": set, "reset": reset, "ttlBars": ttl_bars, "conflictPolicy": conflict_policy}
    return condition("state_machine", **members)
