"""How the functions of `indicators` make expressions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from candlepool.expressions import Expression, Operand, Param, Value, as_value, value

P = ParamSpec("P")
Result = TypeVar("Result", covariant=True)


class Sourced(Protocol[P, Result]):
    """A function whose source may also come first, as on other platforms: `sma(close, 50)`."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    @overload
    def __call__(self, source: Value, /, *args: P.args, **kwargs: P.kwargs) -> Result: ...


def sourced(function: Callable[P, Result]) -> Sourced[P, Result]:
    """Lets a value in the first place be the `source` of an indicator."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Result:
        if args and isinstance(args[0], Value) and not isinstance(args[0], Param):
            return function(*args[1:], source=args[0], **kwargs)  # pyright: ignore[reportCallIssue]
        return function(*args, **kwargs)

    return call


def indicator(
    name: str,
    args: Mapping[str, tuple[object, object]],
    *,
    sources: Operand | Sequence[Operand] | None = None,
) -> Value:
    """An indicator; `args` holds each argument with its default.

    The first argument is always written, since a reader looks for it; others where they differ from the default.
    """
    written: dict[str, Any] = {}
    for place, (arg, (given, default)) in enumerate(args.items()):
        if isinstance(given, Expression) and not isinstance(given, Param):
            raise TypeError(f"{arg}={given!r} of {name} is not a number or a param.")
        if place == 0 or isinstance(given, Param) or given != default:
            written[arg] = given
    if sources is None:
        return value("indicator", indicator=name, args=written)
    if isinstance(sources, Sequence):
        return value("indicator", indicator=name, args=written, sources=[as_value(each) for each in sources])
    source = as_value(sources).to_json()
    # A plain field of the bar is named among the arguments, and the close is what is read without a name.
    if source.keys() == {"kind", "field"} and source["kind"] == "market":
        field = {} if source["field"] == "close" else {"source": source["field"]}
        return value("indicator", indicator=name, args={**written, **field})
    return value("indicator", indicator=name, args=written, source=as_value(sources))


class Outputs:
    """The outputs of an indicator that has several: `bbands(20).upper`."""

    def __init__(self, call: Value) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Value:
        if name not in type(self).__annotations__:
            known = ", ".join(type(self).__annotations__)
            raise AttributeError(f"{self._call!r} has no output {name}; it has {known}.")
        return Value({**self._call.to_json(), "output": name}, self._call.params)

    def __repr__(self) -> str:
        return repr(self._call)

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has several outputs; choose one: {', '.join(type(self).__annotations__)}.")
