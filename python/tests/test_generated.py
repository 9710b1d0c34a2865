"""The generated modules are those that this service would give, so that editors complete what it accepts."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import candlepool as cp

FOLDER = Path(__file__).parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "scripts" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--config", str(FOLDER / "pyproject.toml"), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def test_modules_are_current(client: cp.Client) -> None:
    made = generator()
    modules = {
        "indicators.py": made.indicators_module(client.transport.get("/public/v1/capabilities")),
        "summary.py": made.summary_module(client.transport.get("/public/v1/openapi.json")),
    }
    for name, text in modules.items():
        written = (FOLDER / "src" / "candlepool" / name).read_text(encoding="utf-8")
        assert written == formatted(text), f"{name} is outdated: run scripts/generate.py, then ruff format src"
