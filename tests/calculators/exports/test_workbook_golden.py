"""Every cell, formula and look of the workbook, as a person has read it: nothing changes unseen."""

from collections.abc import Callable

import pytest

from calculators.report import Report
from tests.golden.exports import WORKBOOKS, assert_same_lines, workbook_file

Make = Callable[..., Report]


@pytest.mark.parametrize("name", WORKBOOKS)
def test_the_workbook_is_as_it_was_read(make: Make, name: str) -> None:
    """If data/ or the workbook changed on purpose: python -m tests.golden.update, and say why in the commit."""
    file, lines = workbook_file(name, make(**WORKBOOKS[name]))
    assert_same_lines(lines, file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
