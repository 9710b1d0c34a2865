"""Waits for runs: progress in terminals and notebooks, a bound on the time, and Ctrl-C that cancels on the server."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol, cast

from candlepool.errors import ApiError, RunFailed, WaitTimeout
from candlepool.transport import Transport

# Seconds of one request: the bar moves as often, and Ctrl-C acts within it.
_WAIT_SECONDS = 1
# A run that is over sooner shows no bar.
_BAR_AFTER_SECONDS = 0.5
_ENDED = frozenset({"completed", "failed", "cancelled"})


class Bar(Protocol):
    """What is used of a bar of tqdm."""

    n: float

    def update(self, n: float) -> object: ...
    def refresh(self) -> object: ...
    def close(self) -> object: ...


def wait_for(
    transport: Transport,
    path: str,
    *,
    kind: str,
    timeout: float | None,
    progress: bool,
    title: str,
) -> dict[str, Any]:
    """The run at `path` when it has completed.

    Raises RunFailed when it failed or was cancelled, WaitTimeout after `timeout` seconds, during which it goes on. A
    KeyboardInterrupt cancels it on the server.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    with cancelled_on_interrupt(transport, [path]), shown(progress, title, 100) as bar:
        while True:
            run = cast("dict[str, Any]", transport.get(path, wait=_seconds_left(deadline)))
            if run["status"] in _ENDED:
                if bar is not None:
                    bar.update(100 - bar.n)
                return require_completed(run, kind)
            if bar is not None:
                done = float(cast("Mapping[str, Any]", run.get("progress") or {}).get("pct") or 0)
                bar.update(max(0.0, round(100 * done, 1) - bar.n))
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeout(f"The {kind} {run['id']} is {run['status']} after {timeout:g} s. It goes on.")


def require_completed(run: dict[str, Any], kind: str) -> dict[str, Any]:
    """Raises RunFailed for a run that failed or was cancelled."""
    if run["status"] != "completed":
        raise RunFailed(kind, run["id"], run["status"], run.get("error"))
    return run


@contextlib.contextmanager
def cancelled_on_interrupt(transport: Transport, paths: Sequence[str]) -> Generator[None]:
    """Ctrl-C cancels the runs that have not ended, and is raised again."""
    try:
        yield
    except KeyboardInterrupt:
        for path in paths:
            with contextlib.suppress(ApiError):
                transport.post(f"{path}/cancel")
        raise


@contextlib.contextmanager
def shown(progress: bool, title: str, total: float) -> Generator[Bar | None]:
    """A bar for what takes longer than a moment; None without progress."""
    if not progress:
        yield None
        return
    # Only the first four parts: a percentage needs no rate.
    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    bar = _tqdm()(total=total, desc=title, leave=False, delay=_BAR_AFTER_SECONDS, bar_format=layout)
    try:
        yield bar
    finally:
        bar.close()


def _tqdm() -> Callable[..., Any]:
    with warnings.catch_warnings():
        # In a notebook without ipywidgets, tqdm shows a bar of text, and need not say so.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    return cast("Callable[..., Any]", tqdm)


def _seconds_left(deadline: float | None) -> int:
    if deadline is None:
        return _WAIT_SECONDS
    return max(0, min(_WAIT_SECONDS, round(deadline - time.monotonic())))
