"""Expressions of the strategy language: values (a number per bar), conditions (true, false or unknown) and params."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from candlepool.printing import text_of

Json: TypeAlias = dict[str, Any]
"""A JSON object of the language."""


class Expression:
    """A node of the strategy language, and the declarations of the params that it uses. It never changes."""

    __slots__ = ("_node", "_params")

    def __init__(self, node: Json, params: Mapping[str, Json] | None = None) -> None:
        self._node = node
        self._params = dict(params or {})

    def to_json(self) -> Json:
        """The expression as JSON of docs/language.md."""
        return cast(Json, _copied(self._node))

    @property
    def params(self) -> dict[str, Json]:
        """Declarations of the params that the expression uses, by name."""
        return dict(self._params)

    def __repr__(self) -> str:
        return text_of(self._node)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value in Python, since it is decided on each bar. Write & for and, | for or, "
            "~ for not, with each comparison in parentheses: (rsi(14) < 30) & (close > sma(200)). "
            "Write x.between(low, high) for low <= x <= high."
        )

    __hash__ = object.__hash__


class Value(Expression):
    """A number per bar. Arithmetic and comparisons build new expressions."""

    __slots__ = ()

    # Arithmetic.
    def __add__(self, other: Operand) -> Value:
        return math("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return math("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return math("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return math("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return math("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return math("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return math("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return math("div", other, self)

    def __mod__(self, other: Operand) -> Value:
        return math("mod", self, other)

    def __rmod__(self, other: Operand) -> Value:
        return math("mod", other, self)

    def __pow__(self, other: Operand) -> Value:
        return math("pow", self, other)

    def __rpow__(self, other: Operand) -> Value:
        return math("pow", other, self)

    def __neg__(self) -> Value:
        return math("neg", self)

    def __abs__(self) -> Value:
        return math("abs", self)

    def round(self) -> Value:
        """To the nearest whole number, halves away from zero."""
        return math("round", self)

    def clamp(self, low: Operand, high: Operand) -> Value:
        """At least `low` and at most `high`."""
        return math("clamp", self, low, high)

    # Comparisons.
    def __gt__(self, other: Operand) -> Condition:
        return self.compare("gt", other)

    def __ge__(self, other: Operand) -> Condition:
        return self.compare("gte", other)

    def __lt__(self, other: Operand) -> Condition:
        return self.compare("lt", other)

    def __le__(self, other: Operand) -> Condition:
        return self.compare("lte", other)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return self.compare("eq", cast("Operand", other))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return self.compare("neq", cast("Operand", other))

    __hash__ = object.__hash__

    def compare(self, op: CompareOp, other: Operand, *, tolerance: Number | None = None) -> Condition:
        """A comparison by its name; `tolerance` is an absolute distance."""
        return condition("compare", op=op, left=self, right=as_value(other), tolerance=tolerance)

    def crosses_above(self, other: Operand, *, within: Number | None = None) -> Condition:
        """At or below `other` on the bar before, and above it now; `within` n: on any of the last n bars."""
        return condition("cross", op="cross_up", left=self, right=as_value(other), within=within)

    def crosses_below(self, other: Operand, *, within: Number | None = None) -> Condition:
        """At or above `other` on the bar before, and below it now; `within` n: on any of the last n bars."""
        return condition("cross", op="cross_down", left=self, right=as_value(other), within=within)

    def crosses(self, other: Operand, *, within: Number | None = None) -> Condition:
        """Crosses `other` in either direction."""
        return condition("cross", op="cross_any", left=self, right=as_value(other), within=within)

    def between(self, lower: Operand, upper: Operand) -> Condition:
        """From `lower` to `upper`, both included."""
        return condition("between", value=self, lower=as_value(lower), upper=as_value(upper))

    def near(self, other: Operand, tolerance: Number) -> Condition:
        """At most `tolerance` apart."""
        return condition("near", left=self, right=as_value(other), tolerance=tolerance)

    def rising(self, bars: Number) -> Condition:
        """Has strictly risen that many times in a row, on its own bars."""
        return condition("rising", source=self, bars=bars)

    def falling(self, bars: Number) -> Condition:
        """Has strictly fallen that many times in a row, on its own bars."""
        return condition("falling", source=self, bars=bars)

    # Other bars, other times.
    def shift(self, bars: Number = 1) -> Value:
        """The value that many base bars ago."""
        return value("shift", source=self, offset=bars)

    def pct_change(self, bars: Number = 1) -> Value:
        """The change against that many base bars ago, in percent."""
        return value("percent_change", source=self, bars=bars)

    def on(self, timeframe: str | None = None, *, symbol: str | None = None, offset: Number | None = None) -> Value:
        """The same on bars of another timeframe or instrument: `close.on("1d")`, `sma(50).on(symbol="SPX")`.

        `offset` counts bars of that timeframe.
        """
        if self._node["kind"] not in _PLACED:
            raise TypeError(
                f"{self!r} cannot be put on other bars as a whole. Put its parts on them: "
                'close.on("1d") - sma(50).on("1d").'
            )
        params = {**self._params, **(offset.params if isinstance(offset, Param) else {})}
        return Value({**self._node, **place(timeframe, symbol, offset)}, params)

    def rolling(self, period: Number) -> Rolling:
        """The last `period` values: `close.rolling(20).mean()`."""
        return Rolling(self, period)

    def value_when(self, when: Condition, *, occurrence: Number = 0) -> Value:
        """The value where `when` was true: occurrence 0 is the latest time."""
        return value("value_when", value=self, when=when, occurrence=occurrence)

    def capture(self, when: Condition) -> Value:
        """The value at the latest change of `when` from not true to true."""
        return value("capture", value=self, when=when)

    def cross_section(self, op: str, *, where: Condition | None = None, min_count: int | None = None) -> Value:
        """`rank percentile zscore mean median min max count` over all instruments of a portfolio."""
        return value("cross_section", op=op, source=self, where=where, minCount=min_count)


class Condition(Expression):
    """True, false or unknown per bar. Combine with `&`, `|` and `~`."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return _joined("all", self, other)

    def __or__(self, other: Condition) -> Condition:
        return _joined("any", self, other)

    def __invert__(self) -> Condition:
        return condition("not", item=self)

    def bars_since(self) -> Value:
        """0 on a true bar, 1 on the next; missing before the first."""
        return value("bars_since", when=self)

    def rolling(self, window: Number) -> RollingCondition:
        """The last `window` bars: `(close > high.shift()).rolling(5).any()`."""
        return RollingCondition(self, window)

    def share(self, *, where: Condition | None = None, min_count: int | None = None) -> Value:
        """Percent of the instruments of a portfolio on which it is true: the breadth of a market."""
        return value("cross_section", op="share", source=self, where=where, minCount=min_count)


class Param(Value):
    """A named number that a backtest may set and a sweep may vary. It stands for a number and for a value."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self._node["name"])

    @property
    def reference(self) -> Json:
        """The param in the place of a number."""
        return {"param": self.name}


Number: TypeAlias = int | float | Param
"""A number of the language, for which a param may stand."""
Operand: TypeAlias = Value | int | float
"""What a value is compared or calculated with."""
CompareOp: TypeAlias = Literal["gt", "gte", "lt", "lte", "eq", "neq"]

_PLACED = frozenset({"market", "indicator", "series", "pivot"})


class Rolling:
    """The last values of an expression."""

    def __init__(self, source: Value, period: Number) -> None:
        self._source = source
        self._period = period

    def _op(self, op: str, **members: Any) -> Value:
        return value("rolling", op=op, period=self._period, source=self._source, **members)

    def mean(self) -> Value:
        return self._op("avg")

    def sum(self) -> Value:
        return self._op("sum")

    def std(self) -> Value:
        """Of the population (divisor n), as in TA-Lib."""
        return self._op("std")

    def var(self) -> Value:
        """Of the population (divisor n), as in TA-Lib."""
        return self._op("var")

    def zscore(self) -> Value:
        return self._op("zscore")

    def max(self) -> Value:
        return self._op("max")

    def min(self) -> Value:
        return self._op("min")

    def argmax(self) -> Value:
        """How many bars ago the largest value was."""
        return self._op("argmax")

    def argmin(self) -> Value:
        """How many bars ago the smallest value was."""
        return self._op("argmin")

    def median(self) -> Value:
        return self._op("median")

    def quantile(self, quantile: Number) -> Value:
        """From 0 to 1."""
        return self._op("quantile", quantile=quantile)

    def percentile_rank(self) -> Value:
        """Percent of the values before this one that are below it."""
        return self._op("percentile_rank")

    def slope(self) -> Value:
        """Of the least-squares line, per bar."""
        return self._op("slope")


class RollingCondition:
    """The last bars of a condition."""

    def __init__(self, expression: Condition, window: Number) -> None:
        self._expression = expression
        self._window = window

    def _mode(self, mode: str, count: Number | None = None) -> Condition:
        return condition("rolling_window", window=self._window, mode=mode, expr=self._expression, value=count)

    def any(self) -> Condition:
        return self._mode("any")

    def all(self) -> Condition:
        return self._mode("all")

    def none(self) -> Condition:
        return self._mode("none")

    def more_than(self, count: Number) -> Condition:
        return self._mode("count_gt", count)

    def fewer_than(self, count: Number) -> Condition:
        return self._mode("count_lt", count)

    def exactly(self, count: Number) -> Condition:
        return self._mode("count_eq", count)

    def streak(self, count: Number) -> Condition:
        """True on at least `count` bars in a row, up to this bar."""
        return self._mode("streak", count)


def as_value(operand: Operand) -> Value:
    """A number becomes a constant. Raises TypeError for anything but a value or a number."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, Condition):
        raise TypeError(f"{operand!r} is a condition; a value is needed here. when(condition).then(1).otherwise(0)?")
    # Types, not instances: a float64 of numpy is a float, and prints as a number of numpy.
    return Value({"kind": "const", "value": operand if type(operand) in (int, float) else _numpy_number(operand)})


def math(op: str, *args: Operand) -> Value:
    """An operation of the kind `math`, by its name in the language."""
    return value("math", op=op, args=[as_value(arg) for arg in args])


def value(kind: str, **members: Any) -> Value:
    """A value of any kind, with its members; None leaves a member out."""
    return Value(*_built(kind, members))


def condition(kind: str, **members: Any) -> Condition:
    """A condition of any kind, with its members; None leaves a member out."""
    return Condition(*_built(kind, members))


def plain(given: Any, params: dict[str, Json], *, is_number: bool = True) -> Any:
    """JSON of anything that holds expressions, whose params are added to `params`."""
    if isinstance(given, Expression):
        for name, declared in given.params.items():
            if params.setdefault(name, declared) != declared:
                raise ValueError(f'The param "{name}" is declared twice, with different members.')
        return given.reference if isinstance(given, Param) and is_number else given.to_json()
    if isinstance(given, Mapping):
        entries = cast(Mapping[str, Any], given)
        return {key: plain(each, params) for key, each in entries.items() if each is not None}
    if isinstance(given, (list, tuple)):
        items = cast("list[Any] | tuple[Any, ...]", given)
        return [plain(each, params, is_number=is_number) for each in items]
    if given is None or isinstance(given, (str, bool, int, float)):
        return given
    return _numpy_number(given)


def place(timeframe: str | None, symbol: str | None, offset: Number | None) -> Json:
    """The members that put a node on other bars."""
    members: Json = {"timeframe": timeframe, "instrument": symbol and {"symbol": symbol}}
    members["offset"] = offset.reference if isinstance(offset, Param) else offset
    return {name: member for name, member in members.items() if member is not None}


# Members of a node in which a param is an expression; everywhere else it stands for a number.
_EXPRESSION_MEMBERS = frozenset({"left", "right", "value", "lower", "upper", "source", "sources", "then", "else"})


def _built(kind: str, members: Mapping[str, Any]) -> tuple[Json, dict[str, Json]]:
    params: dict[str, Json] = {}
    node: Json = {"kind": kind}
    for name, given in members.items():
        if given is None:
            continue
        of_math = kind == "math" and name == "args"
        of_window = kind == "rolling_window" and name == "value"
        is_number = not (of_math or (name in _EXPRESSION_MEMBERS and not of_window))
        node[name.rstrip("_")] = plain(given, params, is_number=is_number)
    return node, params


def _joined(kind: str, left: Condition, right: object) -> Condition:
    if not isinstance(right, Condition):
        raise TypeError(
            f"{right!r} is not a condition. & and | bind more tightly than comparisons: write each comparison in "
            "parentheses, as in (rsi(14) < 30) & (close > sma(200))."
        )
    items: list[Condition] = []
    for side in (left, right):
        node = side.to_json()
        is_same = node["kind"] == kind and set(node) == {"kind", "items"}
        items += [Condition(item, side.params) for item in node["items"]] if is_same else [side]
    return condition(kind, items=items)


def _numpy_number(given: Any) -> int | float:
    """A number of numpy as one of Python."""
    item = getattr(given, "item", None)
    number: object = item() if callable(item) and getattr(given, "shape", None) == () else None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return number
    raise TypeError(f"{given!r} is not a number or an expression.")


def _copied(node: object) -> object:
    if isinstance(node, dict):
        return {key: _copied(each) for key, each in cast(Json, node).items()}
    return [_copied(each) for each in cast("list[object]", node)] if isinstance(node, list) else node
