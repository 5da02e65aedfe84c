"""The parts of the README that are made from the code: ``python -m calculators.docs`` writes them anew."""

import re
from pathlib import Path
from typing import Final

from calculators.calibrate import report
from calculators.calibration import load_calibration
from calculators.numbers import plain
from calculators.scenario import GROUPS, SPECS, VERSION, FieldSpec

README: Final = Path(__file__).resolve().parent.parent / "README.md"


def _bounds(spec: FieldSpec) -> str:
    if spec.options:
        return ", ".join(spec.options)
    if spec.minimum is None and spec.maximum is None:
        return "text"
    low = "" if spec.minimum is None else f"{'> ' if spec.exclusive_minimum else ''}{plain(spec.minimum)}"
    high = "" if spec.maximum is None else f"{spec.maximum:,.12g}"
    return f"{low} to {high}" + (", or auto" if spec.name == "system_count" else "")


def _default(spec: FieldSpec) -> str:
    if spec.default is None:
        return f"empty ({spec.catalogue})" if spec.catalogue else "empty"
    if spec.default == "":
        return "empty"
    return spec.default if isinstance(spec.default, str) else plain(float(spec.default))


def fields_table() -> str:
    """Markdown table of all scenario fields, in the order of their groups."""
    rows = ["| field | unit | default | bounds | meaning |", "|---|---|---|---|---|"]
    for group in GROUPS:
        rows += [
            f"| `{s.name}` | {s.unit} | {_default(s)} | {_bounds(s)} | {s.help} |"
            for s in SPECS.values()
            if s.group == group
        ]
    return f"Version {VERSION}. Shares are fractions.\n\n" + "\n".join(rows)


def made(text: str) -> str:
    """The README's text with every made part put anew between its markers."""
    parts = {"fields": fields_table(), "accuracy": report(load_calibration())}
    for name, part in parts.items():
        pattern = re.compile(rf"(<!-- made: {name} -->\n).*?(\n<!-- end: {name} -->)", re.DOTALL)
        text = pattern.sub(lambda found, part=part: f"{found[1]}{part}{found[2]}", text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    README.write_text(made(README.read_text(encoding="utf-8")), encoding="utf-8")
