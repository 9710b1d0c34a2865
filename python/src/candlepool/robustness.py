"""The result of a robustness check."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, cast

from candlepool.errors import Issue


class Robustness:
    """What is left of a backtest under other costs, starts, numbers and bars."""

    def __init__(self, detail: Mapping[str, Any]) -> None:
        self.raw = dict(detail)
        self.id = str(detail["id"])

    @property
    def verdict(self) -> str:
        """`robust`, `fragile`, `luck` and so on, as docs/robustness.md lists them."""
        return str(self.result["verdict"]["code"])

    @property
    def text(self) -> str:
        """The verdict in words."""
        return str(self.result["verdict"]["text"])

    @property
    def findings(self) -> list[Issue]:
        """Worst first."""
        return cast("list[Issue]", self.result["findings"])

    @property
    def result(self) -> dict[str, Any]:
        """Every analysis by its name."""
        return cast("dict[str, Any]", self.raw["result"])

    def __getitem__(self, analysis: str) -> Any:
        return self.result[analysis]

    def __repr__(self) -> str:
        lines = [f"<Robustness {self.verdict}>", f"  {self.text}"]
        lines += [f"  {each.get('severity')} {each.get('code')}: {each.get('message')}" for each in self.findings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(str(each.get('severity')))}</td><td>{escape(str(each.get('code')))}</td>"
            f'<td style="text-align:left">{escape(str(each.get("message")))}</td></tr>'
            for each in self.findings
        )
        return f"<div><b>{escape(self.verdict)}</b><p>{escape(self.text)}</p><table>{rows}</table></div>"
