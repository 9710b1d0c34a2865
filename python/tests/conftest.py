"""One service for all tests: started by `candlepool.local`, in a folder of its own, stopped at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import candlepool as cp

ENVIRONMENT = {"WARM_UP": "off", "WORKER_THREADS": "1", "DATABASE_URL": "", "PORT": "0"}


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("candlepool")


@pytest.fixture(scope="session")
def client(data_dir: Path) -> Iterator[cp.Client]:
    os.environ.update(ENVIRONMENT)
    # No service that happens to run on this machine is used: nothing listens there.
    os.environ["CANDLEPOOL_URL"] = "http://127.0.0.1:9"
    with cp.local(data_dir=data_dir) as made:
        yield made
    cp.stop_local()
