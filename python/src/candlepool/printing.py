"""Prints an expression of the strategy language as text, in the grammar of docs/expressions.md."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

Node: TypeAlias = Mapping[str, Any]

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "==", "neq": "!="}
_CROSSES = {"cross_up": "crosses above", "cross_down": "crosses below", "cross_any": "crosses"}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_EXTREMES = {"max": "highest", "min": "lowest"}
# Indicators whose names are functions of the grammar.
_MATH_FUNCTIONS = frozenset({"max", "min", "sqrt", "exp", "floor", "ceil"})
_PLAIN_NAME = re.compile(r"^[A-Za-z0-9_]+$")


def text_of(node: Node) -> str:
    """The text of an expression.

    What has no text in the grammar (sequences, schedules, tolerances …) is printed as `kind(member=...)`, for people.
    """
    form = _FORMS.get(str(node["kind"]))
    text = None if form is None else form(node)
    return _generic(node) if text is None else text


def _const(node: Node) -> str:
    return _scalar(node["value"])


def _param(node: Node) -> str:
    return f"${node['name']}"


def _field(node: Node) -> str | None:
    return None if _is_odd(node["field"], node) else f"{node['field']}{_place(node)}"


def _indicator(node: Node) -> str | None:
    args = dict(cast(Node, node.get("args") or {}))
    sources = [node["source"]] if "source" in node else list(node.get("sources", []))
    field = args.pop("source", None)
    parts = [text_of(source) for source in sources] or ([str(field)] if field is not None else [])
    parts += [_scalar(args.pop("length"))] if "length" in args else []
    parts += [f"{name}={_argument(arg)}" for name, arg in args.items()]
    output = f".{node['output']}" if "output" in node else ""
    is_odd = _is_odd("", node) or node["indicator"] in _MATH_FUNCTIONS
    return None if is_odd else f"{node['indicator']}({', '.join(parts)}){output}{_place(node)}"


def _math(node: Node) -> str | None:
    args = cast("list[Node]", node["args"])
    if node["op"] in ("max", "min") and [arg["kind"] for arg in args] == ["market", "const"]:
        # max(high, 20) is the highest of 20 bars elsewhere, so that the grammar has no such text.
        return None
    sign = _ARITHMETIC.get(node["op"])
    if sign is None or len(args) != 2:
        return f"{node['op']}({', '.join(text_of(arg) for arg in args)})"
    return f" {sign} ".join(f"({text_of(arg)})" if _is_infix(arg) else text_of(arg) for arg in args)


def _rolling(node: Node) -> str | None:
    if _is_odd("", node):
        return None
    name = _EXTREMES.get(node["op"], f"rolling_{node['op']}")
    quantile = f", {_scalar(node['quantile'])}" if "quantile" in node else ""
    return f"{name}({text_of(node['source'])}, {_scalar(node['period'])}{quantile}){_place(node)}"


def _shift(node: Node) -> str:
    return f"shift({text_of(node['source'])}, {_scalar(node['offset'])})"


def _percent_change(node: Node) -> str:
    return f"percent_change({text_of(node['source'])}, {_scalar(node['bars'])})"


def _if(node: Node) -> str:
    return f"if({text_of(node['cond'])}, {text_of(node['then'])}, {text_of(node['else'])})"


def _bars_since(node: Node) -> str:
    return f"bars_since({text_of(node['when'])})"


def _value_when(node: Node) -> str:
    return f"value_when({text_of(node['when'])}, {text_of(node['value'])}, {_scalar(node.get('occurrence', 0))})"


def _compare(node: Node) -> str | None:
    return None if "tolerance" in node else f"{text_of(node['left'])} {_SIGNS[node['op']]} {text_of(node['right'])}"


def _cross(node: Node) -> str | None:
    within = node.get("within")
    if isinstance(within, Mapping):
        return None
    bars = "" if within is None else f" within {_scalar(within)} bars"
    return f"{text_of(node['left'])} {_CROSSES[node['op']]} {text_of(node['right'])}{bars}"


def _between(node: Node) -> str:
    return f"{text_of(node['lower'])} <= {text_of(node['value'])} <= {text_of(node['upper'])}"


def _near(node: Node) -> str:
    return f"near({text_of(node['left'])}, {text_of(node['right'])}, {_scalar(node['tolerance'])})"


def _move(node: Node) -> str:
    if isinstance(node["bars"], Mapping):
        return f"{node['kind']}({text_of(node['source'])}, {_scalar(node['bars'])})"
    return f"{text_of(node['source'])} {node['kind']} for {_scalar(node['bars'])} bars"


def _join(node: Node) -> str | None:
    items = cast("list[Node]", node["items"])
    word = " and " if node["kind"] == "all" else " or "
    return None if len(items) < 2 else word.join(_in_parentheses(item, ("all", "any")) for item in items)


def _not(node: Node) -> str:
    return f"not ({text_of(node['item'])})"


def _rolling_window(node: Node) -> str | None:
    if node["mode"] not in ("any", "all"):
        return None
    return f"{node['mode']}_in_last({text_of(node['expr'])}, {_scalar(node['window'])})"


def _pattern(node: Node) -> str | None:
    if set(node) - {"kind", "name", "side"} or node.get("side") == "any":
        return None
    return f"{node['side']}_{node['name']}" if "side" in node else str(node["name"])


def _session(node: Node) -> str:
    return f'session("{node["name"]}")'


def _time_window(node: Node) -> str | None:
    if set(node) - {"kind", "weekdays", "between"}:
        return None
    days = " ".join(node.get("weekdays", []))
    hours = "{from}-{to}".format(**node["between"]) if "between" in node else ""
    return (
        f"time in {days} {hours}".strip().replace("  ", " ") if days else f"time between {hours.replace('-', ' and ')}"
    )


_FORMS: dict[str, Callable[[Node], str | None]] = {
    "const": _const,
    "param": _param,
    "market": _field,
    "state": _field,
    "time": _field,
    "indicator": _indicator,
    "math": _math,
    "rolling": _rolling,
    "shift": _shift,
    "percent_change": _percent_change,
    "if": _if,
    "bars_since": _bars_since,
    "value_when": _value_when,
    "compare": _compare,
    "cross": _cross,
    "between": _between,
    "near": _near,
    "rising": _move,
    "falling": _move,
    "all": _join,
    "any": _join,
    "not": _not,
    "rolling_window": _rolling_window,
    "pattern": _pattern,
    "session": _session,
    "time_window": _time_window,
}


def _is_infix(node: Node) -> bool:
    return node["kind"] == "math" and node["op"] in _ARITHMETIC and len(node["args"]) == 2


def _in_parentheses(node: Node, kinds: tuple[str, ...]) -> str:
    return f"({text_of(node)})" if node["kind"] in kinds else text_of(node)


def _is_odd(field: str, node: Node) -> bool:
    """Whether an offset is a param, which has no text."""
    return isinstance(node.get("offset"), Mapping) or not (field == "" or _PLAIN_NAME.match(field))


def _place(node: Node) -> str:
    """Other bars: `@SPX`, `@1d`, and `[n]` for n bars ago."""
    symbol = cast(Node, node.get("instrument") or {}).get("symbol")
    quoted = symbol if symbol is None or _PLAIN_NAME.match(symbol) else json.dumps(symbol)
    places = "".join(f"@{name}" for name in (quoted, node.get("timeframe")) if name is not None)
    return places + (f"[{_scalar(node['offset'])}]" if "offset" in node else "")


def _scalar(given: object) -> str:
    """A number, or the param that stands for it."""
    if isinstance(given, Mapping):
        return f"${cast(Node, given)['param']}"
    if isinstance(given, float) and given.is_integer() and abs(given) < 1e15:
        return str(int(given))
    return json.dumps(given)


def _argument(given: object) -> str:
    return json.dumps(given) if isinstance(given, str) else _scalar(given)


def _generic(node: Node) -> str:
    members = [f"{name}={_member(member)}" for name, member in node.items() if name != "kind"]
    return f"{node['kind']}({', '.join(members)})"


def _member(member: object) -> str:
    if isinstance(member, Mapping):
        entries = cast(Node, member)
        if "kind" in entries:
            return text_of(entries)
        return _scalar(entries) if set(entries) == {"param"} else _generic({"kind": "", **entries})
    if isinstance(member, list):
        return f"[{', '.join(_member(each) for each in cast('list[object]', member))}]"
    return _argument(member)
