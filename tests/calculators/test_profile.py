"""Hours of the week: what own machines can take of an uneven demand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.profile import FLAT, decode_weights, encode_weights, used_share

# half of the hours twice the mean, the other half nothing
HALF = (2.0,) * 84 + (0.0,) * 84


# a day of 24 weights, repeated for the week; the smallest level of a profile above 0 is 1/63 of its peak
DAY = st.lists(st.just(0.0) | st.floats(0.01, 10), min_size=24, max_size=24).filter(any).map(lambda day: day * 7)


def by_hand(weights: tuple[float, ...], rented: float, load: float) -> float:
    """The definition, hour by hour: the hours with the most demand are rented first."""
    total = 0.0
    for rank, weight in enumerate(sorted(weights, reverse=True)):
        there = min(max(rented * 168 - rank, 0.0), 1.0)
        total += there * min(load * weight, 1.0)
    return total / 168


def test_flat_week_uses_the_lesser_of_demand_and_capacity() -> None:
    assert used_share(FLAT, 1.0, [0.0, 0.4, 1.0, 1.7, np.inf]).tolist() == [0, 0.4, 1, 1, 1]


def test_peaky_week_spills_its_peak() -> None:
    # load 0.4: 84 h need 0.8, 84 h nothing: mean 0.4, all of it served. Load 0.8: 84 h need 1.6 but get 1: mean 0.5
    assert used_share(HALF, 1.0, 0.4) == pytest.approx(0.4)
    assert used_share(HALF, 1.0, 0.8) == pytest.approx(0.5)


def test_rented_hours_are_the_busy_ones_first() -> None:
    # half of the week rented and half of the week busy: the same demand is served as if rented all week
    assert used_share(HALF, 0.5, 0.4) == pytest.approx(0.4)
    # a quarter of the week: half of the busy hours, 42 h x 0.8 / 168 = 0.2
    assert used_share(HALF, 0.25, 0.4) == pytest.approx(0.2)
    # as much as they can take, when they are there: all rented hours, busy or not
    assert used_share(HALF, 0.25, np.inf) == pytest.approx(0.25)


@given(
    DAY,
    st.floats(0, 1),
    st.floats(0, 100),
)
def test_equals_the_definition(raw: list[float], rented: float, load: float) -> None:
    weights = tuple(float(w) for w in np.asarray(raw) / np.mean(raw))
    found = float(used_share(weights, rented, load))
    assert found == pytest.approx(by_hand(weights, rented, load), rel=1e-9, abs=1e-12)
    assert 0 <= found <= rented + 1e-12
    assert found <= load + 1e-12


def test_arrays_of_both_broadcast() -> None:
    rented = np.array([0.25, 0.5, 1.0])[:, None]
    load = np.array([0.1, 0.9, np.inf, 0.0])[None, :]
    found = used_share(HALF, rented, load)
    assert found.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert found[i, j] == used_share(HALF, rented[i, 0], load[0, j])


@pytest.mark.parametrize("name", sorted(load_catalog().profiles))
def test_profiles_of_the_catalogue_have_mean_one(name: str) -> None:
    weights = load_catalog().profiles[name].weights
    assert len(weights) == 168
    assert np.mean(weights) == pytest.approx(1, rel=1e-9)
    # any demand far below capacity is served in full
    assert used_share(weights, 1.0, 0.01) == pytest.approx(0.01, rel=1e-9)


@given(DAY)
def test_link_characters_keep_the_shape_to_a_128th_of_the_peak(raw: list[float]) -> None:
    text = encode_weights(raw)
    assert len(text) == 168
    again = np.asarray(decode_weights(text))
    assert again.mean() == pytest.approx(1)
    # 64 levels of the peak: the error of a level is half a step, 1 / 126 of the peak
    levels = again / again.max()
    assert np.max(np.abs(levels - np.asarray(raw) / max(raw))) <= 0.5 / 63 + 1e-9


def test_week_without_any_demand_reads_as_flat() -> None:
    assert decode_weights("A" * 168) == FLAT


@pytest.mark.parametrize("bad", [[1.0] * 167, [0.0] * 168, [-1.0] + [1.0] * 167, [float("nan")] * 168, []])
def test_no_week_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="168 weights"):
        encode_weights(bad)
