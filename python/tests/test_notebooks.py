"""The notebooks run from top to bottom, and show a picture by their third cell of code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient

import candlepool as cp

FOLDER = Path(__file__).parent.parent / "notebooks"


def pictures(cell: Any) -> list[str]:
    outputs = cast("list[Any]", cell.get("outputs", []))
    data = [cast("dict[str, str]", output.get("data", {})) for output in outputs]
    return [each for one in data for each in (one.get("text/html", ""), one.get("image/svg+xml", "")) if "<svg" in each]


@pytest.mark.parametrize("name", [path.name for path in sorted(FOLDER.glob("*.ipynb"))])
def test_notebook_runs(name: str, client: cp.Client, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel finds the service of the tests, by its folder of data.
    monkeypatch.setenv("DATA_DIR", str(data_dir))
    client.transport.get("/public/v1/workspace")
    notebook = nbformat.read(FOLDER / name, as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(FOLDER)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(pictures(cell) for cell in code)
    if name == "start.ipynb":
        assert pictures(code[2])
