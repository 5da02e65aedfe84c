"""Every heading, card, row of a table and line of a chart of the page, as a person has read it."""

from collections.abc import Callable

import pytest

from calculators.report import Report
from tests.golden.exports import PAGES, WORKBOOKS, assert_same_lines, page_file

Make = Callable[..., Report]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_as_it_was_read(make: Make, name: str) -> None:
    """If data/, a text or the page changed on purpose: python -m tests.golden.update, and say why in the commit."""
    file, lines = page_file(name, make(**WORKBOOKS[PAGES[name][0]]))
    assert_same_lines(lines, file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
