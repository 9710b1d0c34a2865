"""Everything that Candlepool raises."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

import jsonpatch  # pyright: ignore[reportMissingTypeStubs]


class Issue(TypedDict):
    """A finding about a strategy, a config or a file: where it is, what is wrong, and how it is repaired."""

    code: str
    path: NotRequired[str]
    field: NotRequired[str]
    severity: str
    message: str
    suggestion: NotRequired[str]
    patch: NotRequired[list[dict[str, Any]]]


class CandlepoolError(Exception):
    """Base of all errors of this package."""


class ServiceUnavailable(CandlepoolError, ConnectionError):
    """The service cannot be reached."""


class WaitTimeout(CandlepoolError, TimeoutError):
    """A run had not ended when the time was up. It goes on; `client.wait(id)` waits again."""


class LocalServiceError(CandlepoolError):
    """`candlepool.local()` could not start a service or make a key."""


class RunFailed(CandlepoolError):
    """A backtest, sweep or robustness check failed or was cancelled."""

    def __init__(self, kind: str, run_id: str, status: str, error: Mapping[str, Any] | None) -> None:
        self.run_id = run_id
        self.status = status
        self.code = str((error or {}).get("code", status.upper()))
        super().__init__(f"The {kind} {run_id} {status}. {(error or {}).get('message', '')}".rstrip())


class ApiError(CandlepoolError):
    """An answer of the service that is a problem (docs/problems.md): `code` says which."""

    def __init__(self, problem: Mapping[str, Any], sent: Mapping[str, Any] | None = None) -> None:
        self.problem = dict(problem)
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", "UNKNOWN"))
        self.message = str(problem.get("message") or problem.get("detail") or problem.get("title") or "")
        self.issues: list[Issue] = list(problem.get("issues") or [])
        self.retry_after: float | None = problem.get("retryAfterSeconds")
        self.request_id: str | None = problem.get("requestId")
        self.sent = sent
        """The body of the request, for `apply_patches`."""
        super().__init__(f"{self.code}: {self.message}{issue_lines(self.issues)}")

    def apply_patches(self) -> dict[str, Any]:
        """The body that was sent, with the patches of all issues. Raises ValueError if no issue has one."""
        if self.sent is None or not any(issue.get("patch") for issue in self.issues):
            raise ValueError("No issue of this error has a patch; read the suggestions and repair it by hand.")
        return patched(self.sent, self.issues)


class AuthenticationError(ApiError):
    """The API key is missing, unknown, expired or revoked."""


class PermissionDenied(ApiError):
    """The scopes, the role or the tier of the key do not allow it."""


class NotFound(ApiError):
    """There is no such thing in this workspace."""


class RateLimited(ApiError):
    """Too many requests, or the queue is full, for longer than the client waits."""


class InvalidRequest(ApiError):
    """The request does not have the documented shape."""


class InvalidStrategy(ApiError):
    """The strategy has blocking issues; `apply_patches()` gives it repaired where the repair is certain."""


class InvalidConfig(ApiError):
    """The config of a backtest or the space of a sweep cannot be run."""


class InvalidMarketData(ApiError):
    """The bars cannot be imported."""


_BY_CODE: dict[str, type[ApiError]] = {
    "STRATEGY_INVALID": InvalidStrategy,
    "WARNINGS_REQUIRE_CONFIRMATION": InvalidStrategy,
    "BACKTEST_CONFIG_INVALID": InvalidConfig,
    "SWEEP_INVALID": InvalidConfig,
    "RANGE_NO_DATA": InvalidConfig,
    "MARKET_DATA_INVALID": InvalidMarketData,
}
_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    422: InvalidRequest,
    429: RateLimited,
}


def api_error(problem: Mapping[str, Any], sent: Mapping[str, Any] | None = None) -> ApiError:
    """The exception of a problem, of the most precise class."""
    by_status = _BY_STATUS.get(int(problem.get("status", 0)), ApiError)
    return _BY_CODE.get(str(problem.get("code")), by_status)(problem, sent)


def issue_lines(issues: Sequence[Issue]) -> str:
    """A line per issue: its place in the JSON, its message, the way out, and whether there is a patch."""
    lines: list[str] = []
    for issue in issues:
        where = issue.get("path") or "/"
        line = f"\n  {issue.get('severity', 'error')} at {where}: {issue.get('message', '')}"
        suggestion = issue.get("suggestion")
        line += f" {suggestion}" if suggestion else ""
        lines.append(line + (" (has a patch)" if issue.get("patch") else ""))
    return "".join(lines)


def patched(body: Mapping[str, Any], issues: Sequence[Issue]) -> dict[str, Any]:
    """A copy of the body with the patch of each issue. A patch whose place an earlier one removed is left out."""
    result = copy.deepcopy(dict(body))
    for issue in issues:
        patch = issue.get("patch")
        if not patch:
            continue
        try:
            applied: object = jsonpatch.apply_patch(result, patch)  # pyright: ignore[reportUnknownMemberType]
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
            continue
        result = cast("dict[str, Any]", applied)
    return result
