"""Retries, problems and waiting, against a service made of a list of answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

import candlepool as cp
from candlepool.errors import patched
from candlepool.runs import wait_for
from candlepool.transport import Transport


def problem(status: int, code: str, **extras: Any) -> httpx.Response:
    body = {"status": status, "code": code, "message": f"it is {code}", "retryable": False, **extras}
    return httpx.Response(status, json=body)


class Answers:
    """Gives each request the next answer, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | BaseException) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def transport(answers: Answers, retry_seconds: float = 5) -> Transport:
    wire = httpx.MockTransport(answers)
    return Transport("http://127.0.0.1:1/", "svc_live_x", retry_seconds=retry_seconds, wire=wire)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    kept: list[float] = []
    monkeypatch.setattr("candlepool.transport.time.sleep", kept.append)
    return kept


def test_a_busy_service_is_asked_again_after_the_seconds_it_says(pauses: list[float]) -> None:
    full = problem(429, "QUEUE_FULL", retryable=True, retryAfterSeconds=3)
    answers = Answers(full, problem(503, "UNAVAILABLE", retryable=True), httpx.Response(201, json={"id": "b"}))
    assert transport(answers).post("/public/v1/backtests", {}) == {"id": "b"}
    assert pauses == [3.0, 0.4]
    # The same key: what an unanswered request made is not made twice.
    keys = {request.headers["idempotency-key"] for request in answers.requests}
    assert len(keys) == 1


def test_waiting_has_an_end(pauses: list[float]) -> None:
    answers = Answers(problem(429, "RATE_LIMITED", retryable=True, retryAfterSeconds=30))
    with pytest.raises(cp.RateLimited, match="it is RATE_LIMITED"):
        transport(answers).get("/public/v1/backtests")
    assert pauses == []


def test_other_problems_are_raised_at_once(pauses: list[float]) -> None:
    cases: list[tuple[int, str, type[cp.ApiError]]] = [
        (401, "API_KEY_REVOKED", cp.AuthenticationError),
        (403, "TIER_LIMIT_REACHED", cp.PermissionDenied),
        (404, "NOT_FOUND", cp.NotFound),
        (422, "STRATEGY_INVALID", cp.InvalidStrategy),
        (422, "MARKET_DATA_INVALID", cp.InvalidMarketData),
        (503, "REQUEST_STOPPED", cp.ApiError),
    ]
    for status, code, kind in cases:
        answers = Answers(problem(status, code, retryable=code == "REQUEST_STOPPED"))
        with pytest.raises(kind) as caught:
            transport(answers).get("/x")
        assert (caught.value.code, caught.value.status) == (code, status)
    assert pauses == []


def test_nothing_listens() -> None:
    with pytest.raises(cp.ServiceUnavailable, match="candlepool serve"):
        transport(Answers(httpx.ConnectError("refused"))).get("/x")


def test_another_server_is_recognized() -> None:
    with pytest.raises(cp.ApiError, match="Is the URL right"):
        transport(Answers(httpx.Response(404, text="<html>"))).get("/x")


def test_issues_are_printed_with_their_place() -> None:
    patch = [{"op": "replace", "path": "/a/b", "value": 2}]
    issue = {"path": "/a/b", "severity": "error", "message": "b is 1.", "suggestion": "Use 2.", "patch": patch}
    answers = Answers(problem(422, "STRATEGY_INVALID", issues=[issue]))
    with pytest.raises(cp.InvalidStrategy) as caught:
        transport(answers).post("/x", {"a": {"b": 1}})
    assert "error at /a/b: b is 1. Use 2. (has a patch)" in str(caught.value)
    assert caught.value.apply_patches() == {"a": {"b": 2}}
    with pytest.raises(ValueError, match="No issue of this error has a patch"):
        cp.ApiError({"status": 422, "code": "X"}, {}).apply_patches()


def test_a_patch_that_no_longer_fits_is_left_out() -> None:
    steps: list[dict[str, object]] = [
        {"op": "remove", "path": "/a"},
        {"op": "replace", "path": "/a/b", "value": 2},
        {"op": "move", "from": "/c", "path": "/d"},
    ]
    issues: list[cp.Issue] = [{"code": "X", "severity": "error", "message": "", "patch": [step]} for step in steps]
    assert patched({"a": {"b": 1}, "c": 3}, issues) == {"d": 3}


def run(status: str, **more: Any) -> httpx.Response:
    return httpx.Response(200, json={"id": "b", "status": status, **more})


def wait(answers: Answers, timeout: float | None = 10) -> dict[str, Any]:
    path = "/public/v1/backtests/b"
    return wait_for(transport(answers), path, kind="backtest", timeout=timeout, progress=False, title="t")


def test_a_run_is_asked_for_until_it_has_ended() -> None:
    assert (
        wait(Answers(run("queued"), run("running", progress={"pct": 0.5}), run("completed")))["status"] == "completed"
    )
    with pytest.raises(cp.RunFailed, match=r"b failed\. too many bars") as caught:
        wait(Answers(run("failed", error={"code": "RUN_TOO_LONG", "message": "too many bars"})))
    assert caught.value.code == "RUN_TOO_LONG"
    with pytest.raises(cp.WaitTimeout, match=r"is queued after 0 s\. It goes on"):
        wait(Answers(run("queued")), timeout=0)


def test_an_interrupt_cancels_the_run_on_the_server() -> None:
    answers = Answers(KeyboardInterrupt(), run("cancelled"))
    with pytest.raises(KeyboardInterrupt):
        wait(answers)
    assert [(each.method, each.url.path) for each in answers.requests][1:] == [
        ("POST", "/public/v1/backtests/b/cancel")
    ]
