import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.exports.charts import Chart, Line, Mark, _spread, short, shorten, svg, text_width, ticks


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


def elements(drawn: str, tag: str) -> list[dict[str, str]]:
    """Attributes of each element of a tag, with its text."""
    found = re.findall(rf"<{tag} ([^>]*?)/?>(?:([^<]*)</{tag}>)?", drawn)
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', attrs)) | {"": text} for attrs, text in found]


def test_a_chart_by_hand() -> None:
    """Left 78, top 30, bottom 292; the names need 2 x 7.7 + 16 = 31.4, so the lines end at 728.6.

    x from 0 to 10: 65.06 a unit. y from -10 to 20 in steps of 5: 262 / 30 = 8.733 a unit, zero at 292 - 87.3 = 204.7.
    """
    chart = Chart(
        "c",
        "t",
        "d",
        "across",
        "up",
        [Line("own", "ab", [0, 10], [-10, 20]), Line("api", "cd", [0, 10], [-10, 20])],
        [Mark(2, 0, "here"), Mark(9.5, 0, "there")],
        beyond=(5, "too far"),
        upright=(9, "now"),
    )
    drawn = svg(chart)
    assert drawn.startswith('<svg class="chart" viewBox="0 0 760 340" preserveAspectRatio="xMinYMid" role="img" ')
    assert 'aria-labelledby="c-title c-desc"><title id="c-title">t</title><desc id="c-desc">d</desc>' in drawn
    own, api = elements(drawn, "polyline")
    assert own["points"] == api["points"] == "78.0,292.0 728.6,30.0"
    assert (own["class"], api["class"]) == ("line own", "line api")
    assert "stroke-dasharray" not in own
    assert api["stroke-dasharray"] == "8 4"
    (grey,) = elements(drawn, "rect")
    assert (grey["x"], grey["y"], grey["width"], grey["height"]) == ("403.3", "30", "325.3", "262")
    uprights = [x for x in elements(drawn, "line") if x["class"] == "upright"]
    assert [(x["x1"], x["x2"], x["y1"], x["y2"]) for x in uprights] == [("663.5", "663.5", "30", "292")]
    told = {x[""]: (x["class"], x["x"], x["y"], x["text-anchor"]) for x in elements(drawn, "text")}
    # names beside the ends of the lines, 16 apart, both inside the drawing
    assert told["ab"] == ("name own", "736.6", "34.0", "start")
    assert told["cd"] == ("name api", "736.6", "50.0", "start")
    assert told["too far"] == ("note", "724.6", "44.0", "end")
    assert told["now"] == ("note", "659.5", "44.0", "end")
    # a label stands right of its mark, and left of it where it would leave the drawing
    assert told["here"] == ("told", "218.1", "222.7", "start")
    assert told["there"] == ("told", "686.1", "222.7", "end")
    assert [(c["cx"], c["cy"], c["r"], c["class"]) for c in elements(drawn, "circle")] == [
        ("208.1", "204.7", "5.5", "mark"),
        ("696.1", "204.7", "5.5", "mark"),
    ]
    assert told["across"] == ("axis", "403.3", "332.0", "middle")
    assert told["up"] == ("axis", "4.0", "15.0", "start")
    # ticks: -10 ... 20 up, 0 ... 10 across, the line at zero stronger
    assert [told[t] for t in ("\u221210", "20")] == [("tick", "70.0", "296.0", "end"), ("tick", "70.0", "34.0", "end")]
    across = [x for x in elements(drawn, "text") if x["class"] == "tick" and x["text-anchor"] == "middle"]
    assert [(x[""], x["x"], x["y"]) for x in across][::5] == [("0", "78.0", "310.0"), ("10", "728.6", "310.0")]
    lines = elements(drawn, "line")
    assert [x["y1"] for x in lines if x["class"] == "zero"] == ["204.7"]
    assert len([x for x in lines if x["class"] == "grid" and x["x1"] == "78" and x["x2"] == "728.6"]) == 6
    assert [(x["y1"], x["y2"]) for x in lines if x["class"] == "grid" and x["x1"] == x["x2"]] == [("292", "296")] * 6


def test_what_lies_outside_is_not_drawn_and_a_label_turns_at_the_left_edge() -> None:
    line = Line("own", "o", [0, 10], [0, 1])
    for at, shown in ((10.0, 0), (9.99, 1)):
        assert len(elements(svg(Chart("c", "t", "d", "x", "y", [line], beyond=(at, "b"))), "rect")) == shown
    for at, shown in ((10.0, 1), (10.01, 0)):
        drawn = svg(Chart("c", "t", "d", "x", "y", [line], upright=(at, "u")))
        assert drawn.count('class="upright"') == shown
    # at 1 of 10 a label of 15 letters has no room at the left
    near = svg(Chart("c", "t", "d", "x", "y", [line], upright=(1.0, "u" * 15)))
    (told,) = [x for x in elements(near, "text") if x["class"] == "note"]
    assert told["text-anchor"] == "start"
    # a mark beyond the lines stretches the axes
    far = svg(Chart("c", "t", "d", "x", "y", [line], [Mark(20.0, 3.0, "m")]))
    assert elements(far, "polyline")[0]["points"].split()[-1].split(",")[0] != elements(far, "circle")[0]["cx"]
    assert float(elements(far, "circle")[0]["cy"]) >= 30


def test_names_take_the_room_that_they_need_up_to_a_third() -> None:
    long = Line("own", "n" * 100, [0, 1], [0, 1])
    drawn = svg(Chart("c", "t", "d", "x", "y", [long]))
    assert elements(drawn, "polyline")[0]["points"].endswith("496.0,30.0")
    (name,) = [x[""] for x in elements(drawn, "text") if x["class"] == "name own"]
    assert name.endswith("\u2026")
    assert text_width(name) <= 252


@pytest.mark.parametrize(
    ("low", "high", "most", "whole", "found"),
    [
        (0, 1, 6, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 6, 6, False, [0, 1, 2, 3, 4, 5, 6]),
        (0, 15, 6, False, [0, 2.5, 5, 7.5, 10, 12.5, 15]),
        (0, 30.1, 6, False, [0, 10, 20, 30, 40]),
        (-3, 0, 6, False, [-3, -2.5, -2, -1.5, -1, -0.5, 0]),
        (0, 60, 6, False, [0, 10, 20, 30, 40, 50, 60]),
        # nothing to span: one step of a sixth of the value, or of one
        (0, 0, 6, False, [0, 0.2]),
        (5, 5, 6, False, [5, 6]),
        # months: whole, in quarters and years
        (0, 5, 8, True, [0, 1, 2, 3, 4, 5]),
        (0, 20, 8, True, [0, 3, 6, 9, 12, 15, 18, 21]),
        (0, 90, 8, True, [0, 12, 24, 36, 48, 60, 72, 84, 96]),
        (0, 240, 8, True, [0, 48, 96, 144, 192, 240]),
        (0, 2000, 8, True, [120 * k for k in range(18)]),
        (0, 2, 8, True, [0, 1, 2]),
    ],
)
def test_ticks_by_hand(low: float, high: float, most: int, whole: bool, found: list[float]) -> None:
    assert ticks(low, high, most, whole=whole) == pytest.approx(found)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (999, "999"),
        (999.5, "999.5"),
        (999.99999, "1 k"),
        (1e3, "1 k"),
        (999_999.999, "1 M"),
        (1e9, "1 B"),
        (1e12, "1 T"),
        (-0.25, "\u22120.25"),
        (1.2345678, "1.23457"),
        (12_345_678, "12.3457 M"),
    ],
)
def test_numbers_of_an_axis_at_their_bounds(value: float, shown: str) -> None:
    assert short(value) == shown


def test_names_are_moved_apart_by_hand() -> None:
    assert _spread([], 16, 0, 100) == []
    assert _spread([50, 10], 16, 0, 100) == [50, 10]
    assert _spread([10, 12], 16, 0, 100) == [10, 26]
    assert _spread([12, 10], 16, 0, 100) == [26, 10]
    # at the lower edge they are pushed back up, at both edges kept inside
    assert _spread([95, 97, 99], 16, 0, 100) == [68, 84, 100]
    assert _spread([-5, 120], 16, 0, 100) == [0, 100]


def test_a_chinese_letter_is_wider() -> None:
    assert text_width("ab") == pytest.approx(15.4)
    assert text_width("\u4ef7") == pytest.approx(1.75 * 7.7)
    assert shorten("abcdef", 7.7 * 6) == "abcdef"
    # six letters of 7.7 do not fit in 46: four and the dots do
    assert shorten("abcdef", 46.0) == "abcd\u2026"
    assert shorten("abc", 1.0) == "\u2026"
