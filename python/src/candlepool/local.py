"""A service on this machine: one that runs is used, otherwise one is started and stopped again with Python."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from candlepool.client import DEFAULT_URL, Client
from candlepool.errors import ApiError, CandlepoolError, LocalServiceError
from candlepool.tables import Library

# The first start unpacks a database and imports the shipped series.
_READY_SECONDS = 120
_COMMAND_SECONDS = 60
# `serve` takes at most ten seconds to stop.
_STOP_SECONDS = 15
_WORKSPACE = "python"
_STATE = "python-client.json"
_LOG = "python-serve.log"

_started: dict[str, _Service] = {}


def local(
    *, home: str | Path | None = None, data_dir: str | Path | None = None, frames: Library | None = None
) -> Client:
    """A client of a service on this machine, with a key of its own workspace.

    Uses the service that runs already, else starts one, which ends with Python. `home` is the folder of the Candlepool
    repository; by default CANDLEPOOL_HOME, else the repository around the working folder or this package, else that of
    the command `candlepool`. `data_dir` is the folder of its data; by default DATA_DIR, else `.candlepool` in `home`.
    """
    command = _command(home)
    folder = Path(data_dir or os.environ.get("DATA_DIR") or command.root / ".candlepool").resolve()
    installation = _Installation(command, folder)
    state = installation.read_state()
    key = state.get("key")
    for url in dict.fromkeys([state.get("url"), os.environ.get("CANDLEPOOL_URL") or DEFAULT_URL]):
        if url is None:
            continue
        client = _client(url, key, frames)
        # A service that does not know our key may be another installation's: only the first time is a key made for it.
        if client is None and key is None and _answers(url):
            key = installation.make_key()
            client = _client(url, key, frames)
        if client is not None:
            installation.write_state(url, str(key))
            return client
    service = _Service(installation)
    url = service.start()
    client = _client(url, key, frames)
    if client is None:
        key = installation.make_key()
        client = _client(url, key, frames)
    if client is None:
        service.stop()
        raise LocalServiceError(f"The service at {url} does not know the key that `candlepool keys create` made.")
    installation.write_state(url, str(key))
    return client


def stop_local() -> None:
    """Stops the services that this process started; they stop at its exit in any case."""
    for service in list(_started.values()):
        service.stop()


class _Command:
    """The command line of a Candlepool repository."""

    def __init__(self, node: str, root: Path) -> None:
        self.root = root
        self.words = [node, str(root / "bin" / "candlepool")]


class _Installation:
    """A repository with a folder of data: its keys, and where its service answers."""

    def __init__(self, command: _Command, folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.environment = {**os.environ, "DATA_DIR": str(folder)}

    def read_state(self) -> dict[str, str]:
        try:
            return cast("dict[str, str]", json.loads((self.folder / _STATE).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def write_state(self, url: str, key: str) -> None:
        """Keeps address and key for the next process, readable by this user alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / _STATE
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"url": url, "key": key}, file)

    def make_key(self) -> str:
        """A key of the workspace for Python, which is made when there is none."""
        rows = self.run("workspace", "list")["data"]
        found = next((row["id"] for row in rows if row["name"] == _WORKSPACE), None)
        workspace = found or self.run("workspace", "create", "--name", _WORKSPACE, "--tier", "pro")["id"]
        scopes = "workspace_read,system_strategies_read,strategies_read,strategies_write"
        scopes += ",backtests_read,backtests_write,market_data_write"
        made = self.run("keys", "create", "--workspace", workspace, "--name", "python client", "--scopes", scopes)
        return str(made["apiKey"])

    def run(self, *arguments: str) -> Any:
        """A short command with its answer."""
        words = [*self.command.words, *arguments, "--json"]
        try:
            done = subprocess.run(
                words, env=self.environment, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LocalServiceError(f"`candlepool {' '.join(arguments)}` did not end: {error}") from error
        if done.returncode != 0:
            raise LocalServiceError(
                f"`candlepool {' '.join(arguments)}` failed: {(done.stderr or done.stdout).strip()}"
            )
        return json.loads(done.stdout)


class _Service:
    """`candlepool serve` as a child process."""

    def __init__(self, installation: _Installation) -> None:
        self._installation = installation
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Starts it and waits until it answers. @raises LocalServiceError with the end of its log."""
        folder = self._installation.folder
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / _LOG
        with open(log, "w", encoding="utf-8") as errors:
            # A session of its own: Ctrl-C is meant for Python, which cancels the run and keeps the service.
            self._process = subprocess.Popen(
                [*self._installation.command.words, "serve", "--port", "0", "--json"],
                env={"LOG_LEVEL": "warn", **self._installation.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        _started[str(folder)] = self
        atexit.register(self.stop)
        url = self._ready_url()
        if url is None:
            self.stop()
            tail = "\n".join(log.read_text(encoding="utf-8").splitlines()[-8:])
            raise LocalServiceError(f"`candlepool serve` did not start ({log}):\n{tail or 'it wrote nothing.'}")
        return url

    def stop(self) -> None:
        """Ends it, and waits for its end."""
        process, self._process = self._process, None
        _started.pop(str(self._installation.folder), None)
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        with contextlib.suppress(OSError):
            (process.stdout or sys.stdin).close()

    def _ready_url(self) -> str | None:
        """The address in the line that `serve --json` prints; None when it ends or takes too long."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        output = process.stdout
        late = threading.Timer(_READY_SECONDS, process.terminate)
        late.start()
        try:
            for line in output:
                with contextlib.suppress(ValueError):
                    event: object = json.loads(line)
                    if isinstance(event, dict) and cast("dict[str, Any]", event).get("event") == "ready":
                        return str(cast("dict[str, Any]", event)["url"])
            return None
        finally:
            late.cancel()


def _command(home: str | Path | None) -> _Command:
    node = shutil.which("node")
    if node is None:
        raise LocalServiceError("Node is not installed, or not on the PATH. Candlepool needs Node 20 or newer.")
    given = home or os.environ.get("CANDLEPOOL_HOME")
    if given is not None and not _is_repository(Path(given)):
        raise LocalServiceError(f"{given} is not the folder of a Candlepool repository: it has no bin/candlepool.")
    root = Path(given).resolve() if given is not None else _found_repository()
    if root is None:
        raise LocalServiceError(
            "The Candlepool repository was not found around the working folder. Set CANDLEPOOL_HOME to its folder, or "
            "connect to a service that runs: candlepool.Client(url, key)."
        )
    if not (root / "node_modules").is_dir():
        raise LocalServiceError(f"Candlepool is not installed in {root}. Run `npm ci` there once.")
    return _Command(node, root)


def _found_repository() -> Path | None:
    for start in (Path.cwd(), Path(__file__).resolve()):
        for folder in (start, *start.parents):
            if _is_repository(folder):
                return folder
    command = shutil.which("candlepool")
    root = None if command is None else Path(command).resolve().parent.parent
    return root if root is not None and _is_repository(root) else None


def _is_repository(folder: Path) -> bool:
    try:
        manifest: Mapping[str, Any] = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return manifest.get("name") == "candlepool" and (folder / "bin" / "candlepool").is_file()


def _client(url: str, key: str | None, frames: Library | None) -> Client | None:
    """A client whose key the service knows; None for no key, no service or another service."""
    if key is None:
        return None
    client = Client(url, key, frames=frames)
    try:
        client.transport.get("/public/v1/workspace")
    except (ApiError, CandlepoolError):
        client.close()
        return None
    return client


def _answers(url: str) -> bool:
    """Whether a Candlepool service answers there."""
    probe = Client(url, "none", retry_seconds=0)
    try:
        probe.transport.get("/public/v1/workspace")
    except ApiError as error:
        return error.code.startswith("API_KEY_")
    except CandlepoolError:
        return False
    finally:
        probe.close()
    return False
