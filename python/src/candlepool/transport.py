"""Requests to the public API: keys, retries and problems."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, cast

import httpx

from candlepool.errors import ApiError, ServiceUnavailable, api_error

# A request that waits for a run is answered within 60 seconds, a large artifact within 55.
TIMEOUT = httpx.Timeout(75.0, connect=10.0)
# How long a request is tried again while the service is busy: a minute of the rate limit, and one of reserve.
RETRY_SECONDS = 120.0
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0


class Transport:
    """A connection to one service with one key."""

    def __init__(
        self, url: str, key: str, *, retry_seconds: float = RETRY_SECONDS, wire: httpx.BaseTransport | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self.key = key
        self._retry_seconds = retry_seconds
        headers = {"x-api-key": key, "user-agent": "candlepool-python"}
        is_local = _is_local(url)
        self._http = httpx.Client(
            base_url=self.url, headers=headers, timeout=TIMEOUT, trust_env=not is_local, transport=wire
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of an answer."""
        return self._send("GET", path, params=params).json()

    def get_file(self, path: str, **params: Any) -> httpx.Response:
        """A file, such as an artifact."""
        return self._send("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, once: str | None = None, **params: Any) -> Any:
        """Sends JSON. `once` is an Idempotency-Key: the same key and body are answered as the first time."""
        return self._send("POST", path, params=params, body=body, once=once or str(uuid.uuid4())).json()

    def post_file(self, path: str, content: bytes, **params: Any) -> Any:
        """Sends a file."""
        return self._send("POST", path, params=params, content=content, once=str(uuid.uuid4())).json()

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._send("PATCH", path, body=body).json()

    def delete(self, path: str) -> Any:
        return self._send("DELETE", path).json()

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        once: str | None = None,
    ) -> httpx.Response:
        headers = {} if once is None else {"idempotency-key": once}
        if content is not None:
            headers["content-type"] = "application/octet-stream"
        given = {name: value for name, value in (params or {}).items() if value is not None}
        deadline = time.monotonic() + self._retry_seconds
        pause = _FIRST_PAUSE
        while True:
            wait = pause
            try:
                response = self._http.request(method, path, params=given, json=body, content=content, headers=headers)
            except httpx.TransportError as error:
                # A refused connection is final: nothing listens. Others may have been cut by a restart.
                if isinstance(error, httpx.ConnectError) or time.monotonic() + wait > deadline:
                    raise _unreachable(self.url, error) from error
            else:
                if response.is_success:
                    return response
                problem = _problem_of(response)
                error = api_error(problem, body)
                if not _is_worth_retrying(error):
                    raise error
                wait = min(_LONGEST_PAUSE * 6, float(error.retry_after or pause))
                if time.monotonic() + wait > deadline:
                    raise error
            time.sleep(wait)
            pause = min(_LONGEST_PAUSE, pause * 2)


def _is_worth_retrying(error: ApiError) -> bool:
    if not error.problem.get("retryable"):
        return False
    # REQUEST_STOPPED: computing the same answer again takes as long again.
    return error.status in (409, 429, 503) and error.code != "REQUEST_STOPPED"


def _problem_of(response: httpx.Response) -> Mapping[str, Any]:
    try:
        problem: object = response.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and "code" in problem:
        return cast("dict[str, Any]", problem)
    return {
        "status": response.status_code,
        "code": f"HTTP_{response.status_code}",
        "message": f"{response.request.url} answered {response.status_code}, and not as a Candlepool service does. "
        "Is the URL right?",
    }


def _unreachable(url: str, error: Exception) -> ServiceUnavailable:
    return ServiceUnavailable(
        f"No answer from {url}: {error}. Start the service with `candlepool serve`, give the right URL, or use "
        "candlepool.local(), which starts a service itself."
    )


def _is_local(url: str) -> bool:
    """Whether the address is of this machine, which no proxy of the environment may be asked for."""
    return httpx.URL(url).host in ("127.0.0.1", "localhost", "::1")
