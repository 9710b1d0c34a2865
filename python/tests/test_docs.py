"""Runs the Python of README.md and of docs/python.md, block after block."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import candlepool as cp

FOLDER = Path(__file__).parent.parent
PAGES = [FOLDER / "README.md", FOLDER.parent / "docs" / "python.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, client: cp.Client, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", str(data_dir))
    assert client.url
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 2
    times = pd.date_range("2024-03-01 09:30", periods=60, freq="5min")
    names: dict[str, object] = {"frame": pd.DataFrame({"close": range(100, 160)}, index=times), "cp": cp}
    for block in blocks:
        if "candlepool.example" in block:
            continue
        exec(compile(block, str(page), "exec"), names)
