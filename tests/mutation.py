"""Mutants of calculators/, drawn at random: ``python -m tests.mutation --sample 300 --minutes 40`` prints the table.

mutmut makes the mutants (one changed operator, number, text or argument each); all of calculators/ has far more than
can be run, so a sample is drawn over all modules, the same for the same seed. A mutant is killed when a test of its own
module fails or hangs, or, where those pass, one of the tests of the whole (golden figures, report, edges), or, where
those pass too, one of the pages'. ``--only usage_import`` draws from the modules whose path begins so.
"""

import argparse
import difflib
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mutmut.mutation.file_mutation import create_mutations

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("calculators", "data", "tests", "app_pages", ".streamlit", "app.py", "README.md", "pyproject.toml")
NOT_MUTATED = ("__main__.py", "docs.py", "compare_aiconfigurator.py")
"""Command lines and a development tool whose library is not installed for the tests."""

TESTS_OF = {
    "calibration": ("calibrate", "sizing"),
    "evaluate": ("evaluate_prices", "evaluate"),
    "measurements": ("measurements", "validate", "calibrate", "sizing"),
    # the quick ones first: the fit of all points and LibreOffice take minutes
    "calibrate": ("calibrate_parts", "calibrate_report", "calibrate"),
    "exports/workbook": ("exports/test_workbook_golden.py", "exports/test_workbook.py"),
    "exports/html_page": ("exports/test_html_page_golden.py", "exports/test_html_page.py"),
    "exports/charts": ("exports/test_charts.py", "exports/test_html_page_golden.py"),
    "exports/months": ("exports/test_csv_file.py", "exports/test_workbook.py"),
    "exports/__init__": ("exports/test_csv_file.py",),
    "texts": ("texts", "texts_said"),
}
WHOLE = ("tests/golden", "tests/calculators/test_report.py", "tests/calculators/test_edges.py")
PAGES = ("tests/test_app.py", "tests/test_money_pages.py", "tests/test_risk_pages.py", "tests/test_usage_page.py")
SECONDS = 400.0


@dataclass(frozen=True)
class Mutant:
    """One change: module (path below calculators/ without its ending), which of its mutants, and what killed it."""

    module: str
    number: int
    by: str = ""


def tests_of(module: str) -> tuple[str, ...]:
    """The test files of a module."""
    folder = ROOT / "tests" / "calculators"
    if module in TESTS_OF:
        names = [n if n.endswith(".py") else f"test_{n}.py" for n in TESTS_OF[module]]
        return tuple(f"tests/calculators/{name}" for name in names)
    own = folder / Path(module).parent / f"test_{Path(module).name}.py"
    if own.exists():
        return (str(own.relative_to(ROOT)),)
    parent = Path(module).parent
    return (f"tests/calculators/{parent}",) if parent.name else WHOLE


def copy_to(place: Path) -> None:
    """The project's files that the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place / name)


@lru_cache(maxsize=4)
def mutations(module: str) -> tuple[Any, list[Any]]:
    """The parsed module and all of its mutations, in the order of the code."""
    file = ROOT / "calculators" / f"{module}.py"
    parsed, found, _, _ = create_mutations(str(file), file.read_text(encoding="utf-8"))
    return parsed, [m for m in found if m.contained_by_top_level_function is not None]


def all_mutants() -> list[Mutant]:
    """Every mutant of every module."""
    folder = ROOT / "calculators"
    found = []
    for file in sorted(folder.rglob("*.py")):
        if file.name not in NOT_MUTATED:
            module = str(file.relative_to(folder).with_suffix(""))
            found += [Mutant(module, number) for number in range(len(mutations(module)[1]))]
    return found


@contextmanager
def applied(place: Path, mutant: Mutant) -> Iterator[str]:
    """Put one mutant into the copy; gives the lines that it changes, and takes it out afterwards."""
    file = place / "calculators" / f"{mutant.module}.py"
    before = file.read_text(encoding="utf-8")
    parsed, found = mutations(mutant.module)
    change = found[mutant.number]
    after = parsed.deep_replace(change.original_node, change.mutated_node).code
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    _write(file, after)
    try:
        yield "\n".join(line for line in lines if not line.startswith(("---", "+++")))
    finally:
        _write(file, before)


def _write(file: Path, code: str) -> None:
    """Python takes compiled code for fresh by the second and the size of its source: it goes as well."""
    file.write_text(code, encoding="utf-8")
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def run(place: Path, tests: tuple[str, ...]) -> str:
    """'' when all pass, else what failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    command += ["-m", "not e2e", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env=os.environ | {"PYTHONPATH": str(place)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "time-out"
    if done.returncode in (0, 5):
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"exit code {done.returncode}: {done.stdout[-200:]}"


def judge(place: Path, mutant: Mutant) -> tuple[Mutant, str]:
    """Own tests first, then those of the whole, then the pages'; with the change in words."""
    with applied(place, mutant) as change:
        by = run(place, tests_of(mutant.module)) or run(place, WHOLE) or run(place, PAGES)
        return replace(mutant, by=by), change


def table(judged: list[Mutant], total: Counter[str]) -> str:
    """Markdown: modules, and all together with the 95 % range of a share found in a sample (Wilson)."""
    by: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in judged:
        by[mutant.module].append(mutant)
    lines = ["| module | mutants | drawn | killed | killed share |", "|---|---|---|---|---|"]
    for module, rows in sorted(by.items()):
        killed = sum(bool(m.by) for m in rows)
        lines.append(f"| {module} | {total[module]:,} | {len(rows)} | {killed} | {killed / len(rows):.0%} |")
    n, killed = len(judged), sum(bool(m.by) for m in judged)
    share, z = killed / n, 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    lines.append(
        f"| together | {total.total():,} | {n} | {killed} | {share:.1%} ({middle - half:.0%} to {middle + half:.0%}) |"
    )
    return "\n".join(lines)


def main() -> None:
    """Draw, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[""], help="begin of the modules' paths, e.g. exports validate")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop before the sample ends after this long")
    asked = parser.parse_args()
    until = time.monotonic() + 60.0 * asked.minutes
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        copy_to(place)
        mutants = [m for m in all_mutants() if m.module.startswith(tuple(asked.only))]
        total = Counter(m.module for m in mutants)
        drawn = random.Random(asked.seed).sample(mutants, min(asked.sample, len(mutants)))
        judged: list[Mutant] = []
        trusted: set[tuple[str, ...]] = set()
        for mutant in drawn:
            if time.monotonic() > until:
                break
            for tests in (tests_of(mutant.module), WHOLE, PAGES):
                if tests not in trusted and (broken := run(place, tests)):
                    raise SystemExit(f"{tests} fail without a mutant: {broken}")
                trusted.add(tests)
            told, change = judge(place, mutant)
            judged.append(told)
            print(f"{'killed' if told.by else 'SURVIVED'} {told.module} #{told.number} {told.by}", flush=True)
            if not told.by:
                print(change, flush=True)
        print()
        print(table(judged, total))


if __name__ == "__main__":
    main()
