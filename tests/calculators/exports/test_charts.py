import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.exports.charts import Chart, Line, _spread, short, shorten, svg, text_width, ticks


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (250_000, "250 k"), (-1_500_000, "−1.5 M"), (2e10, "20 B"), (3e12, "3 T"), (0.5, "0.5")],
)
def test_numbers_of_an_axis(value: float, shown: str) -> None:
    assert short(value) == shown


def test_ticks_are_round_and_cover_the_data() -> None:
    # span 4 M in at most 6 steps is 0.67 M each, so 1 M
    assert ticks(-630_000, 3_343_116) == [-1e6, 0, 1e6, 2e6, 3e6, 4e6]
    assert ticks(0, 48, 8, whole=True) == [0, 6, 12, 18, 24, 30, 36, 42, 48]


@given(st.floats(-1e12, -1e-3), st.floats(0, 1e12))
def test_ticks_cover_what_is_below_and_above_zero(low: float, high: float) -> None:
    # a chart always has zero on its axis
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert 0 in found
    # to a thousandth of what can be seen in a drawing of a few hundred points
    assert found[0] <= low + 1e-6 * (high - low)
    assert found[-1] >= high - 1e-6 * (high - low)


@given(st.lists(st.floats(0, 300), min_size=1, max_size=6))
def test_labels_do_not_overlap_and_stay_in_the_chart(places: list[float]) -> None:
    moved = _spread(places, 16.0, 0.0, 300.0)
    ordered = sorted(moved)
    assert all(b - a >= 16.0 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert min(ordered) >= -1e-9
    assert max(ordered) <= 300.0 + 1e-9


def test_long_labels_are_cut() -> None:
    assert shorten("abc", 100) == "abc"
    cut = shorten("a" * 100, 100)
    assert cut.endswith("…")
    assert text_width(cut) <= 100


def test_texts_are_escaped_and_lines_differ_by_dash() -> None:
    lines = [Line("api", "<b>", [0, 1], [0, 1]), Line("alternative", "&", [0, 1], [1, 0])]
    drawn = svg(Chart("c", "a < b", 'x "y"', "x", "y", lines))
    assert "<b>" not in drawn
    assert "a &lt; b" in drawn
    assert drawn.count("stroke-dasharray") == 2


def test_a_flat_line_at_zero_is_drawn() -> None:
    drawn = svg(Chart("c", "t", "d", "x", "y", [Line("own", "o", [0, 1], [0, 0])]))
    assert "nan" not in drawn
    assert 'class="line own"' in drawn
