"""Strategies written in Python: sections of docs/language.md, made of expressions."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from candlepool.expressions import Condition, Expression, Json, Number, Operand, Param, Value, as_value, plain
from candlepool.printing import text_of

Section: TypeAlias = Mapping[str, Any]
"""A part of a strategy as in docs/language.md, in which expressions may stand."""


class Strategy:
    """A strategy: when to enter, how large, and when to leave.

    `entry` and `exit` are conditions, `entry(...)` and `exit(...)` rules, or lists of them. Percents are in points, as
    in the language: `stop_loss=5` is 5 % below the entry.

    >>> Strategy(entry=sma(50).crosses_above(sma(200)), exit=rsi(14) > 70, stop_loss=10)
    """

    def __init__(
        self,
        *,
        entry: Condition | Section | Sequence[Condition | Section] | None = None,
        exit: Condition | Section | Sequence[Condition | Section] | None = None,
        side: str = "long",
        sizing: Section | Number | None = None,
        order: Section | None = None,
        stop_loss: Section | Number | None = None,
        take_profit: Section | Number | Sequence[Section] | None = None,
        trailing_stop: Section | Number | None = None,
        breakeven: Section | Number | None = None,
        time_stop: Number | None = None,
        allocation: Section | None = None,
        name: str = "Strategy",
        description: str | None = None,
        warmup: int | None = None,
        max_positions: int | None = None,
        defaults: Section | None = None,
    ) -> None:
        declared: dict[str, Json] = {}
        made: Json = {"kind": "strategy"}
        if defaults is not None:
            made["defaults"] = plain(defaults, declared)
        if entry is not None:
            rules = [_entry_rule(each, side, sizing, order) for each in _list(entry)]
            sections = [plain(rule, declared) for rule in rules]
            made["entry"] = sections[0] if len(sections) == 1 else sections
        if exit is not None:
            made["exits"] = [plain(_rule(each, exit_rule), declared) for each in _list(exit)]
        if allocation is not None:
            made["allocation"] = plain({"kind": "allocation", **allocation}, declared)
        risk = {
            "stopLoss": _level(stop_loss, "percent"),
            "takeProfits": _targets(take_profit),
            "trailingStop": _named(trailing_stop, "distancePercent"),
            "breakeven": _named(breakeven, "activateAfterPercent"),
            "timeStop": _named(time_stop, "maxBars"),
        }
        given = {each: section for each, section in risk.items() if section is not None}
        if given:
            made["risk"] = plain(given, declared)
        if declared:
            made["params"] = list(declared.values())
        settings = {"warmupPeriod": warmup, "maxConcurrentPositions": max_positions}
        self._body: Json = {
            "name": name,
            **({} if description is None else {"description": description}),
            "settings": {each: value for each, value in settings.items() if value is not None},
            "strategyAst": {"protocol": "svc.strategy", "version": 1, "strategy": made},
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Strategy:
        """A strategy from a request body, a StrategyAst, a SignalGraph, or a row of the service."""
        made = cls.__new__(cls)
        made._body = request_body(body)
        return made

    @classmethod
    def from_file(cls, path: str | Path) -> Strategy:
        """A strategy from a JSON file, such as those that `candlepool validate` checks."""
        return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))

    def to_json(self) -> Json:
        """The body of `POST /public/v1/strategies`."""
        return copy.deepcopy(self._body)

    def save(self, path: str | Path) -> None:
        """Writes the strategy as a file for the command line."""
        Path(path).write_text(json.dumps(self._body, indent=2) + "\n", encoding="utf-8")

    @property
    def name(self) -> str:
        return str(self._body.get("name", "Strategy"))

    def __repr__(self) -> str:
        return f"<Strategy {self.name}: {_summary(self._body)}>"


def entry_rule(
    trigger: Condition,
    *,
    setup: Condition | None = None,
    filters: Sequence[Condition] | None = None,
    side: str = "long",
    sizing: Section | Number | None = None,
    order: Section | None = None,
    cooldown_bars: Number | None = None,
    conflict: str | None = None,
    rank: Value | None = None,
    id: str | None = None,
) -> Json:
    """An entry rule with its own side, size and order."""
    return {
        "kind": "entry",
        "id": id,
        "setup": setup,
        "trigger": trigger,
        "filters": None if filters is None else list(filters),
        "cooldownBars": cooldown_bars,
        "conflict": conflict,
        "rank": None if rank is None else as_value(rank).to_json() if isinstance(rank, Param) else rank,
        "action": {"side": side, "sizing": _size(sizing), "order": order},
    }


def exit_rule(
    when: Condition,
    *,
    applies_to: str | None = None,
    percent: Number | None = None,
    priority: int | None = None,
    reason: str | None = None,
    id: str | None = None,
) -> Json:
    """An exit rule; `percent` closes a part of the position."""
    action = None if percent is None else {"mode": "percent_position", "value": percent}
    members = {"id": id, "when": when, "appliesTo": applies_to, "priority": priority, "action": action}
    return {"kind": "exit", **members, "reason": reason}


def fixed_cash(amount: Number) -> Json:
    """A position of that much notional."""
    return {"mode": "fixed_cash", "value": amount}


def fixed_units(units: Number) -> Json:
    """A position of that many units."""
    return {"mode": "fixed", "value": units}


def percent_equity(percent: Number = 100) -> Json:
    """A position of that percentage of equity."""
    return {"mode": "percent_equity", "value": percent}


def percent_balance(percent: Number = 100) -> Json:
    """A position of that percentage of free cash."""
    return {"mode": "percent_balance", "value": percent}


def risk_percent(percent: Number) -> Json:
    """A stop that is hit without a gap loses that percentage of equity; needs a stop loss."""
    return {"mode": "risk_percent", "value": percent}


def volatility_target(percent: Number, *, atr_period: Number | None = None) -> Json:
    """The position's yearly volatility is that percentage."""
    return {"mode": "volatility_target", "value": percent, "atrPeriod": atr_period}


def equal_slots() -> Json:
    """An equal part of equity for each slot of the run."""
    return {"mode": "equal_slots"}


def limit_order(price: Operand, *, expire_bars: Number) -> Json:
    """Filled at `price` or better on one of the next bars."""
    return {"type": "limit", "price": as_value(price).to_json(), "expireBars": expire_bars}


def stop_order(price: Operand, *, expire_bars: Number) -> Json:
    """Filled when the price reaches `price`, at that price or worse."""
    return {"type": "stop", "price": as_value(price).to_json(), "expireBars": expire_bars}


def atr_stop(multiplier: Number, period: Number = 14) -> Json:
    """A stop loss at a multiple of the ATR."""
    return {"mode": "atr", "period": period, "multiplier": multiplier}


def price_stop(price: Operand, *, update: str = "entry") -> Json:
    """A stop loss at a price, read at the entry, or at each close (`update="bar"`)."""
    return {"mode": "price", "value": as_value(price).to_json(), "update": update}


def request_body(given: Mapping[str, Any]) -> Json:
    """The body of a strategy request, of any form in which a strategy is written."""
    body: Json = copy.deepcopy(dict(given))
    if body.get("protocol") == "svc.strategy":
        return {"name": "Strategy", "settings": {}, "strategyAst": body}
    if body.get("protocol") == "svc.signal-graph":
        return {"name": "Strategy", "settings": {}, "signalGraph": body}
    members = ("name", "description", "settings", "strategyAst", "signalGraph")
    kept = {name: body[name] for name in members if body.get(name) is not None}
    if not {"strategyAst", "signalGraph"} & kept.keys():
        raise ValueError(
            "The strategy has neither strategyAst nor signalGraph. Give a Strategy, the JSON of docs/language.md, the "
            "path of a file, or the key of a template."
        )
    kept.setdefault("name", "Strategy")
    kept.setdefault("settings", {})
    return kept


def _entry_rule(
    given: Condition | Section, side: str, sizing: Section | Number | None, order: Section | None
) -> Section:
    return entry_rule(given, side=side, sizing=sizing, order=order) if isinstance(given, Condition) else given


def _rule(given: Condition | Section, make: Any) -> Section:
    return make(given) if isinstance(given, Condition) else given


def _list(given: Any) -> list[Any]:
    if isinstance(given, (list, tuple)):
        return list(cast("Sequence[Any]", given))
    if isinstance(given, Expression) and not isinstance(given, Condition):
        raise TypeError(f"{given!r} is a value; a rule needs a condition, such as {given!r} > 0.")
    return [given]


def _size(given: Section | Number | None) -> Section:
    if given is None:
        return percent_equity(100)
    return given if isinstance(given, Mapping) else percent_equity(given)


def _level(given: Section | Number | None, mode: str) -> Section | None:
    return {"mode": mode, "value": given} if isinstance(given, (int, float, Param)) else given


def _named(given: Section | Number | None, member: str) -> Section | None:
    return {member: given} if isinstance(given, (int, float, Param)) else given


def _targets(given: Section | Number | Sequence[Section] | None) -> Sequence[Section] | None:
    if given is None:
        return None
    if isinstance(given, (int, float, Param)):
        return [{"triggerPercent": given, "closePercent": 100}]
    return [given] if isinstance(given, Mapping) else list(given)


def _summary(body: Mapping[str, Any]) -> str:
    strategy = cast("Mapping[str, Any]", body.get("strategyAst") or {}).get("strategy") or {}
    rules = strategy.get("entry")
    first: Any = rules[0] if isinstance(rules, list) else rules
    trigger: Any = cast("Mapping[str, Any]", first or {}).get("trigger")
    return text_of(trigger) if isinstance(trigger, dict) and "kind" in trigger else "allocation or graph"
