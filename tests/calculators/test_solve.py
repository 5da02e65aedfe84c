"""First crossing of a target, on functions kind and unkind."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.solve import crossing


def test_straight_line_is_exact() -> None:
    # 3 x - 1 = 0 at x = 1/3
    assert crossing(lambda x: 3 * x - 1, 0, 10) == pytest.approx(1 / 3, rel=1e-14)


def test_curve_is_found_to_the_range_over_64_to_the_6th() -> None:
    # exp(x) = 5 at ln 5
    assert crossing(lambda x: np.exp(x) - 5, 0, 10) == pytest.approx(math.log(5), abs=10 / 64**6)


def test_first_of_several_crossings() -> None:
    # sin is zero at pi, 2 pi and 3 pi within (1, 10)
    assert crossing(np.sin, 1, 10) == pytest.approx(math.pi, abs=1e-9)
    # a hump: (x - 2)(5 - x) rises through 2 and falls through 5
    assert crossing(lambda x: (x - 2) * (5 - x), 0, 10) == pytest.approx(2, abs=1e-9)
    assert crossing(lambda x: (x - 2) * (5 - x), 3, 10) == pytest.approx(5, abs=1e-9)


def test_step_is_found_where_it_jumps() -> None:
    # whole servers: the gap jumps from -1 to +1 at 4.2
    found = crossing(lambda x: np.where(x < 4.2, -1.0, 1.0), 0, 10)
    assert found == pytest.approx(4.2, abs=1e-9)


def test_zero_at_an_end_counts() -> None:
    assert crossing(lambda x: x, 0, 1) == 0
    assert crossing(lambda x: x - 1, 0, 1) == 1


def test_nothing_to_find() -> None:
    assert crossing(lambda x: x + 1, 0, 10) is None
    assert crossing(lambda x: np.full(x.shape, np.nan), 0, 10) is None
    assert crossing(lambda x: np.full(x.shape, np.inf), 0, 10) is None


def test_infinite_on_one_side_and_unknown_at_first() -> None:
    # never (infinity) below 3, finite and falling above: the crossing of 1/(x-3) with 0.5 is at 5
    def gap(x: np.ndarray) -> np.ndarray:
        return np.divide(1.0, x - 3, out=np.full(x.shape, np.inf), where=x > 3) - 0.5

    assert crossing(gap, 0, 10) == pytest.approx(5, abs=1e-8)
    # NaN is no value: it is neither above nor below
    assert crossing(lambda x: np.where(x < 2, np.nan, x - 6), 0, 10) == pytest.approx(6, abs=1e-9)


def test_jump_from_minus_to_plus_infinity() -> None:
    assert crossing(lambda x: np.where(x < 7, -np.inf, np.inf), 0, 10) == pytest.approx(7, abs=1e-9)


@given(st.floats(-5, 5), st.floats(0.1, 3), st.sampled_from([1, 3, 5]))
def test_odd_powers(root: float, scale: float, power: int) -> None:
    found = crossing(lambda x: scale * (x - root) ** power, -10, 10)
    assert found == pytest.approx(root, abs=20 / 64**6 + 1e-12)


def test_range_of_no_length() -> None:
    assert crossing(lambda x: x - 1, 1, 1) == 1
    assert crossing(lambda x: x - 1, 2, 2) is None
